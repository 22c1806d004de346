#include "python/fast_parse.h"

#include <limits>

#include "python/fast_parser.h"

namespace assay {
namespace {

// The last node of the postorder is the root; before each node stands its last child's subtree.
void to_preorder(const std::vector<PostNode>& postorder, std::vector<RawNode>& out) {
  struct Open {
    NodeId id;
    NodeId end;  // of the part that is not filled yet
  };
  out.resize(postorder.size());
  std::vector<Open> open = {{kNoNode, static_cast<NodeId>(postorder.size())}};
  for (size_t i = postorder.size(); i-- > 0;) {
    const PostNode& node = postorder[i];
    Open& parent = open.back();
    NodeId id = parent.end - node.size;
    out[id] = {node.start, node.end, parent.end, parent.id, node.kind, node.field, 0};
    parent.end = id;
    if (node.size > 1) {
      open.push_back({id, id + node.size});
    } else {
      while (open.size() > 1 && open.back().end == open.back().id + 1) open.pop_back();
    }
  }
}

}  // namespace

bool fast_parse(std::string_view text, std::vector<RawNode>& nodes, std::vector<Comment>& comments) {
  if (text.size() >= std::numeric_limits<uint32_t>::max() || !is_plain_text(text)) return false;
  try {
    FastParser parser(text, comments);
    parser.parse_module();
    to_preorder(parser.postorder(), nodes);
  } catch (const Unsure&) {
    nodes.clear();
    comments.clear();
    return false;
  }
  return true;
}

}  // namespace assay
