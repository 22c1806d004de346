// Any bytes as a Python file: the tree must be sound, and everything that reads it must end.
#include <cstdint>
#include <string>

#include "base/error.h"
#include "python/bind.h"
#include "python/scope.h"
#include "python/signature.h"
#include "python/syntax.h"
#include "python/syntax_check.h"

namespace {

using namespace assay;

void check_sound(const SyntaxTree& tree) {
  const auto& nodes = tree.nodes();
  for (NodeId i = 0; i < nodes.size(); ++i) {
    const RawNode& n = nodes[i];
    ASSAY_CHECK(n.start <= n.end && n.end <= tree.source().size(), "a node outside of the source");
    ASSAY_CHECK(n.subtree_end > i && n.subtree_end <= nodes.size(), "a subtree outside of the tree");
    if (i == 0) continue;
    ASSAY_CHECK(n.parent < i, "a parent behind its child");
    ASSAY_CHECK(n.subtree_end <= nodes[n.parent].subtree_end, "a subtree outside of its parent's");
  }
  for (const SyntaxError& e : tree.errors()) {
    ASSAY_CHECK(e.line >= 1 && e.line <= tree.line_count() && e.column >= 1,
                "an error outside of the source");
  }
}

void read_all(const SyntaxTree& tree) {
  std::vector<Signature> signatures(1);
  std::vector<CallShape> calls(1);
  std::string text;
  for (Node node : tree.root().descendants()) {
    string_value(node, text);
    if (node.is_any(Kind::k_function_definition, Kind::k_lambda, Kind::k_decorated_definition)) {
      signatures.push_back(signature_of(node));
      to_string(signatures.back().without_first());
    }
    if (node.is_any(Kind::k_call, Kind::k_argument_list)) calls.push_back(call_shape(node));
    if (node.is(Kind::k_attribute) && node.id() < 2000) dotted_text(node);
  }
  size_t pairs = 0;
  for (const Signature& s : signatures) {
    for (const CallShape& c : calls) {
      if (++pairs > 2000) return;
      BindResult r = bind(s, with_leading(c));
      ASSAY_CHECK(r.arguments.size() == s.parameters.size(), "an argument for each parameter");
      ASSAY_CHECK(describe(r).empty() == !r.certainly_fails(), "a message for each failure");
      bind(s, partial_call(c, without_leading(c, 1)));
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  SyntaxTree tree = SyntaxTree::parse(Blob(std::string(reinterpret_cast<const char*>(data), size)));
  check_sound(tree);
  read_all(tree);
  ModuleScopes scopes(tree);
  check_syntax(tree, scopes);
  return 0;
}
