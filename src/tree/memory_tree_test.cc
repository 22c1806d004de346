#include "tree/memory_tree.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

TEST(MemoryTree, ListsSortedAndReads) {
  auto tree = make_memory_tree({{"b/x.py", "x = 1\n"}, {"a.py", ""}, {"b.py", "b"}});
  ASSERT_EQ(tree->entries().size(), 3u);
  EXPECT_EQ(tree->entries()[0].path, "a.py");
  EXPECT_EQ(tree->entries()[1].path, "b.py");
  EXPECT_EQ(tree->entries()[2].path, "b/x.py");
  EXPECT_EQ(tree->identity().kind, "memory");
  const TreeEntry* entry = tree->find("b/x.py");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->size, 6u);
  EXPECT_EQ(tree->read(*entry)->view(), "x = 1\n");
  EXPECT_EQ(tree->find("b"), nullptr);
  EXPECT_EQ(tree->find("b/x.pyi"), nullptr);
}

TEST(MemoryTree, ReadOfWhatIsNotThere) {
  auto tree = make_memory_tree({});
  EXPECT_EQ(tree->read({"gone.py", 0, ""}).error().message, "gone.py: no such file in this tree");
}

}  // namespace
}  // namespace assay
