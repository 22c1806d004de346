// Which commit of the target broke what: by reading a few of the commits in between, running nothing.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "git/history.h"
#include "model/report.h"

namespace assay {

// The groups (Finding::group) that are broken at a commit.
using GroupsAt = std::function<Expected<std::set<std::string>>(const std::string& commit)>;

// `commits`, oldest first, lead to the state that `report` is about; none of its introduced groups is broken before the
// first of them. Each introduced finding's attribution names the commit at which its group begins to be broken. A group
// that comes and goes is attributed to one of the commits at which it comes. Looks at about groups × log2(commits) commits,
// each once.
Expected<void> attribute_to_commits(Report& report, const std::vector<HistoryCommit>& commits, const GroupsAt& groups_at);

// The repository and the two revisions, where both specs are revisions of one repository: PATH@BASE and PATH@TARGET.
struct RevisionRange {
  std::string path, older, newer;
};
bool revision_range(const std::string& base, const std::string& target, RevisionRange& out);

}  // namespace assay
