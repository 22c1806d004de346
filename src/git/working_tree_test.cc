#include "git/working_tree.h"

#include "git/temp_repository.h"

namespace assay {
namespace {

TEST(WorkingTree, CountsWhatIsNotCommitted) {
  TempRepository repository;
  repository.write("a.py", "a\n");
  repository.write("sub/b.py", "b\n");
  const std::string commit = repository.commit("first");
  auto state = [&](const std::string& path) { return working_tree_state(path).value_or(WorkingTreeState{}); };
  EXPECT_EQ(state(repository.path().string()).commit, commit);
  EXPECT_EQ(state(repository.path().string()).changed, 0u);
  repository.write("a.py", "changed\n");
  repository.write("sub/new.py", "new\n");
  repository.write("sub/staged.py", "staged\n");
  repository.git({"add", "sub/staged.py"});
  const std::string before = repository.snapshot();
  WorkingTreeState all = state(repository.path().string()), below = state(repository / "sub");
  EXPECT_EQ(repository.snapshot(), before) << "the index is not even refreshed";
  EXPECT_EQ(all.changed, 1u);
  EXPECT_EQ(all.staged, 1u);
  EXPECT_EQ(all.untracked, 1u);
  EXPECT_EQ(below.changed, 0u);
  EXPECT_EQ(below.staged, 1u);
  TempFolder none;
  EXPECT_FALSE(working_tree_state(none.path().string()));
}

}  // namespace
}  // namespace assay
