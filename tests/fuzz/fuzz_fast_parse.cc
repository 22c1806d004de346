// Any bytes as a Python file: what the fast parser reads has no errors for tree-sitter, and the same nodes.
#include <cstdint>
#include <cstring>
#include <string>

#include "base/error.h"
#include "python/fast_parse.h"
#include "python/syntax.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace assay;
  std::string text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("\xEF\xBB\xBF")) return 0;
  std::vector<RawNode> nodes;
  std::vector<Comment> comments;
  if (!fast_parse(text, nodes, comments)) return 0;
  SyntaxTree tree = SyntaxTree::parse_with_tree_sitter(Blob(std::move(text)));
  ASSAY_CHECK(tree.errors().empty(), "text that tree-sitter rejects");
  ASSAY_CHECK(nodes.size() == tree.nodes().size(), "as many nodes");
  ASSAY_CHECK(std::memcmp(nodes.data(), tree.nodes().data(), nodes.size() * sizeof(RawNode)) == 0,
              "equal nodes");
  ASSAY_CHECK(comments.size() == tree.comments().size(), "as many comments");
  for (size_t i = 0; i < comments.size(); ++i) {
    const Comment& theirs = tree.comments()[i];
    ASSAY_CHECK(comments[i].start == theirs.start && comments[i].end == theirs.end, "equal comments");
  }
  return 0;
}
