#include "vllm/compare_bodies.h"

#include <gtest/gtest.h>

namespace assay {
namespace {

SyntaxTree parse(std::string text) { return SyntaxTree::parse(Blob(std::move(text))); }

Node first_definition(const SyntaxTree& tree) {
  for (Node n : tree.root().descendants()) {
    if (n.is_any(Kind::k_function_definition, Kind::k_class_definition)) return n;
  }
  return {};
}

Difference compared(const std::string& ours, const std::string& theirs) {
  SyntaxTree a = parse(ours), b = parse(theirs);
  return compare_bodies(first_definition(a), first_definition(b));
}

TEST(CompareBodies, LayoutCommentsAndDocstringsDoNotCount) {
  EXPECT_EQ(
      compared(
          "def f(a, b):\n    '''Says.'''\n    return g(a, b)  # now\n",
          "@deco\ndef other(\n    a,\n    b,\n):\n    # why\n    return g(\n        a,\n        b,\n    )\n"),
      Difference::kIdentical);
}

TEST(CompareBodies, StringsCount) {
  EXPECT_EQ(compared("def f():\n    return g('a b', x, y, z)\n", "def f():\n    return g('a  b', x, y, z)\n"),
            Difference::kChanged);
}

TEST(CompareBodies, NothingInCommonIsUnrelated) {
  EXPECT_EQ(compared("def f():\n    return lambda: None\n",
                     "def f(x):\n    import a\n    for i in x:\n        yield a.b(i)\n"),
            Difference::kUnrelated);
}

TEST(CompareBodies, ClassesAreRelatedByAMethod) {
  std::string long_body, filler;
  for (char c = 'a'; c < 'z'; ++c)
    filler += std::string("    ") + c + " = {'" + c + "': [" + c + c + " + 1]}\n";
  std::string method = "    def run(self, x):\n        y = self.left(x)\n        return self.right(y, x)\n";
  EXPECT_EQ(compared("class A:\n" + method, "class B:\n" + filler + method), Difference::kChanged);
}

}  // namespace
}  // namespace assay
