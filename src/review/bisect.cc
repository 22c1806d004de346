#include "review/bisect.h"

#include <map>

namespace assay {
namespace {

// Commits already looked at.
class Seen {
 public:
  Seen(const std::vector<HistoryCommit>& commits, const GroupsAt& groups_at) : commits_(commits), groups_at_(groups_at) {}

  Expected<bool> broken(size_t index, const std::string& group) {
    auto it = groups_.find(index);
    if (it == groups_.end()) {
      auto groups = groups_at_(commits_[index].id);
      if (!groups) return tl::make_unexpected(groups.error());
      it = groups_.emplace(index, std::move(*groups)).first;
    }
    return it->second.count(group) > 0;
  }

 private:
  const std::vector<HistoryCommit>& commits_;
  const GroupsAt& groups_at_;
  std::map<size_t, std::set<std::string>> groups_;
};

Expected<size_t> first_broken(Seen& seen, size_t count, const std::string& group) {
  size_t good = 0, bad = count - 1;  // commits before `good` are whole, the one at `bad` is broken
  while (good < bad) {
    size_t middle = good + (bad - good) / 2;
    auto broken = seen.broken(middle, group);
    if (!broken) return tl::make_unexpected(broken.error());
    if (*broken) bad = middle;
    else good = middle + 1;
  }
  return bad;
}

}  // namespace

Expected<void> attribute_to_commits(Report& report, const std::vector<HistoryCommit>& commits, const GroupsAt& groups_at) {
  if (commits.empty()) return {};
  Seen seen(commits, groups_at);
  std::map<std::string, size_t> first;
  for (Finding& f : report.findings) {
    if (f.state != FindingState::kIntroduced || f.group.empty() || f.level == Level::kNote) continue;
    auto it = first.find(f.group);
    if (it == first.end()) {
      auto index = first_broken(seen, commits.size(), f.group);
      if (!index) return tl::make_unexpected(index.error());
      it = first.emplace(f.group, *index).first;
    }
    const HistoryCommit& commit = commits[it->second];
    f.attribution = {"regression", "first broken by the target's commit " + commit.id.substr(0, 12) + " (" + commit.summary + ")"};
  }
  return {};
}

bool revision_range(const std::string& base, const std::string& target, RevisionRange& out) {
  size_t b = base.rfind('@'), t = target.rfind('@');
  if (b == std::string::npos || t == std::string::npos || base.substr(0, b) != target.substr(0, t)) return false;
  out = {base.substr(0, b), base.substr(b + 1), target.substr(t + 1)};
  return !out.older.empty() && !out.newer.empty() && out.older[0] != ':' && out.newer[0] != ':';
}

}  // namespace assay
