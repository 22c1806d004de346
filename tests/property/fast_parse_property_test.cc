#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "python/fast_parse.h"
#include "python/syntax.h"
#include "run_python.h"
#include "tree/directory_tree.h"

namespace assay {
namespace {

struct Counts {
  size_t files = 0, fast = 0, different = 0;
};

bool equal(const std::vector<RawNode>& nodes, const std::vector<Comment>& comments, const SyntaxTree& tree) {
  static_assert(sizeof(RawNode) == 20 && sizeof(Comment) == 8, "no padding to compare");
  return tree.errors().empty() && nodes.size() == tree.nodes().size() &&
         comments.size() == tree.comments().size() &&
         std::memcmp(nodes.data(), tree.nodes().data(), nodes.size() * sizeof(RawNode)) == 0 &&
         (comments.empty() ||
          std::memcmp(comments.data(), tree.comments().data(), comments.size() * sizeof(Comment)) == 0);
}

// The place of the first difference in nodes, for the message.
uint32_t different_line(const std::vector<RawNode>& nodes, const SyntaxTree& tree) {
  if (!tree.errors().empty()) return tree.errors()[0].line;
  size_t i = 0;
  while (i < std::min(nodes.size(), tree.nodes().size()) &&
         std::memcmp(&nodes[i], &tree.nodes()[i], sizeof(RawNode)) == 0) {
    ++i;
  }
  return i < tree.nodes().size() ? tree.line_of(tree.nodes()[i].start) : 0;
}

void compare_file(const std::string& path, const Blob& blob, Counts& counts) {
  std::string_view text = blob.view();
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  std::vector<RawNode> nodes;
  std::vector<Comment> comments;
  ++counts.files;
  if (!fast_parse(text, nodes, comments)) return;
  ++counts.fast;
  SyntaxTree tree = SyntaxTree::parse_with_tree_sitter(Blob(std::string(text)));
  if (equal(nodes, comments, tree)) return;
  ++counts.different;
  ADD_FAILURE() << path << ": the trees differ at line " << different_line(nodes, tree);
}

// About `most` of the Python files below the folder, evenly.
void compare_folder(const std::string& dir, size_t most, Counts& counts) {
  auto tree = open_directory(dir);
  ASSERT_TRUE(tree) << tree.error().message;
  std::vector<const TreeEntry*> files;
  for (const TreeEntry& entry : (*tree)->entries()) {
    if (entry.path.ends_with(".py") && entry.size < 4000000) files.push_back(&entry);
  }
  size_t step = files.size() / most + 1;
  for (size_t i = 0; i < files.size(); i += step) {
    auto blob = (*tree)->read(*files[i]);
    if (blob) compare_file(dir + "/" + files[i]->path, *blob, counts);
  }
}

// ASSAY_TREES=DIR:DIR…: every Python file there. Without it, the standard library of the python3 at hand:
// some files of it, or all if ASSAY_ALL_FILES is set.
TEST(FastParseProperty, FilesHaveTheNodesOfTreeSitter) {
  size_t most = std::getenv("ASSAY_ALL_FILES") ? 1000000 : 200;
  std::vector<std::string> dirs;
  if (const char* given = std::getenv("ASSAY_TREES")) {
    most = 1000000;
    std::string_view rest = given;
    while (!rest.empty()) {
      size_t end = std::min(rest.find(':'), rest.size());
      dirs.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  } else {
    dirs = run_python("import os; print(os.path.dirname(os.__file__))", {""});
    ASSERT_EQ(dirs.size(), 1u);
  }
  Counts counts;
  for (const std::string& dir : dirs) compare_folder(dir, most, counts);
  fmt::print("{} files, {} read by the fast parser, {} different\n", counts.files, counts.fast,
             counts.different);
  EXPECT_GT(counts.files, 20u);
  EXPECT_GT(counts.fast * 100, counts.files * 90);
}

}  // namespace
}  // namespace assay
