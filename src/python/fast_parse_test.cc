// The fast parser against tree-sitter: equal node for node, or it gives up.
#include "python/fast_parse.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "python/syntax.h"

namespace assay {
namespace {

std::string text_of(const RawNode& n, std::string_view source) {
  return fmt::format("kind {} field {} [{}, {}) subtree_end {} parent {}: {}", static_cast<int>(n.kind),
                     static_cast<int>(n.field), n.start, n.end, n.subtree_end, n.parent,
                     source.substr(n.start, std::min<uint32_t>(n.end - n.start, 60)));
}

// What differs first; empty if nothing does.
std::string difference(std::string_view source, const std::vector<RawNode>& nodes,
                       const std::vector<Comment>& comments) {
  SyntaxTree tree = SyntaxTree::parse_with_tree_sitter(Blob(std::string(source)));
  if (!tree.errors().empty())
    return fmt::format("tree-sitter has an error in line {}", tree.errors()[0].line);
  for (size_t i = 0; i < std::min(nodes.size(), tree.nodes().size()); ++i) {
    const RawNode& theirs = tree.nodes()[i];
    if (std::memcmp(&nodes[i], &theirs, sizeof(RawNode)) == 0) continue;
    return fmt::format("node {}, line {}\n  fast:        {}\n  tree-sitter: {}", i,
                       tree.line_of(theirs.start), text_of(nodes[i], source), text_of(theirs, source));
  }
  if (nodes.size() != tree.nodes().size()) return "another number of nodes";
  if (comments.size() != tree.comments().size()) return "another number of comments";
  for (size_t i = 0; i < comments.size(); ++i) {
    const Comment& theirs = tree.comments()[i];
    if (comments[i].start != theirs.start || comments[i].end != theirs.end) {
      return fmt::format("comment in line {}", tree.line_of(theirs.start));
    }
  }
  return {};
}

enum class Outcome { kGaveUp, kEqual };

Outcome compare(const std::string& source) {
  std::vector<RawNode> nodes;
  std::vector<Comment> comments;
  if (!fast_parse(source, nodes, comments)) return Outcome::kGaveUp;
  std::string found = difference(source, nodes, comments);
  if (!found.empty()) ADD_FAILURE() << found << "\n" << source;
  return Outcome::kEqual;
}

const char* const kRead[] = {
    "",
    "\n",
    "# c\n",
    "  \n",
    "\n  # c\n\n# d\nx",
    "x = a, b\nx = *a, *b\nx = a,\nx, = y\nx = y = z, w\n",
    "(a, b) = c = [d, e]\n(a) = 1\na, (b, [c, d]) = e\n[*a] = c\n*a, b = c\na.b, c[d] = e\n",
    "a += b, c\na, b **= c\na = yield b\nx = y = yield\n",
    "x: int | None = 3\nx: None | L[int]\nx: L[int] | D[a, b] | None\nx: L[int] | a | b\nx: a.b.C\nx: "
    "a.L[int]\n",
    "x: 'F' | None = None\nx: C[[int], str, ...]\nx: T[()] = ()\nx: O[L[a.b[c]]]\nx: A[b | None, c[d] | e]\n",
    "x: A['b':c, d:e:f]\nx: a if b else c\nx: type[a]\nx: lambda: 1\na.b: int = 3\na[b]: int\nx: A[*b, c]\n",
    "return a, *(b)\nreturn a, *((b,) * 30), c  # d\nreturn a, *[b].c(d)[e], *{f}\nreturn a, *(b) | c, *d,\n",
    "def f():\n    yield a, *(b)\n    for x in a, *(b): pass\n    return a, *[c for c in d]\n",
    "def f(a: int, *args: int, b=1, c: int = 2, *, d, **kw: A) -> L[int]: pass\ndef f(a, /, *, b,): pass\n",
    "def f[T: int, *Ts, **P](x): pass\nclass A[T](B, c=d): 'doc'\nclass A(): pass\nclass A: pass\n",
    "type X = int\ntype X[T] = L[T]\ntype = 3\ntype: int = 3\ntype(x)\nmatch = 3\nmatch(x)\nmatch.a\n",
    "lambda x, *a, y=1, **k: 1\nlambda *args: 1\nlambda: x if y else z\nlambda *, a: 1\nlambda a, /: "
    "(yield)\n",
    "with a as b, c.d() as e: pass\nwith (a as b, c as d,): pass\nwith (a): pass\nwith (a, b): pass\n",
    "with (a, b) as c: pass\nwith (a as b): pass\nwith (a).b() as c: pass\nwith (a as b,): pass\nwith (yield "
    "x): pass\n",
    "with f(x) as (a, *b), c as a.b[c]: pass\nwith (a, b), c: pass\nwith (a, b)[0]: pass\nwith ((a, b), c): "
    "pass\n",
    "try:\n    a\nexcept A as e:\n    b\nexcept (A, B): pass\nexcept: c\nelse: d\nfinally: e\n",
    "(n := a if b else c)\nf(n := a or b)\n[x for x in a if b if c]\n{a: b for a, b in c if d}\nf(x for x in "
    "y)\n",
    "await a.b(c)\nawait (a)\nawait a ** b\nx = await (a(b))\n-a ** -b\na & b ^ c | d\na // b ** c @ d\n",
    "not a in b\na not in b is not c < d\nnot not a\na or b and not c\na if b else c if d else e\na < b << "
    "c\n",
    "print(x) % y\nprint(x), y\nprint (x).y\nexec(a, b)\nf(print, exec, type=match, match=type)\n",
    "async def f():\n    async with a as b: pass\n    async for x in y: pass\n    return [x async for x in "
    "y]\n",
    "@a.b(c) # comment\n# c2\n@d\nasync def f(): pass\n\n@x\nclass A: pass\n",
    "from __future__ import a, b as c\nfrom .a.b import (c, d as e,)\nfrom ... import x\nfrom a import *\n",
    "import a.b as c, d\nraise A from B\nraise\ndel a, (b, c)\nassert a, b\nglobal a, b\nreturn *a, b\n",
    "f(x=1, *a, **b)\nx[a:b, ::c, d]\nx[:]\nx[*a, b]\n{**a, 'b': c}\n{*a, b}\n[*a.b(c), *d]\nf(*a if b else "
    "c)\n",
    "f(*(a), *[b])\n(*a, b)\nf(a)(b)[c].d\nf(a,)\n()\n[]\n{}\n{a}\n{a: b, c: d,}\n[a for b in c for d in e "
    "if f]\n",
    "a; b;\nif x: y; z # c\nelif v: w\nelse: u\nwhile x: pass\nelse: y\nfor a, in b, c: pass\nelse: d\n",
    "x = 0xFF + 1_000 + 1e5 + 1j + .5 + 1. + 1.5e-3J\nx = ...\nx = None, True, False\n",
    "f\"{a}{b!r:>{w}.{p}}\"\nf'{a:#x}'\nf'{a: }'\nf'{a = !r:x}'\nf'{a, b}'\nf'{{{a}}}'\nf'{a!r}' 'x' "
    "rf'\\{c}'\n",
    "f'{a['b']}'\nf'\\N{DASH} {x}'\nf'{a if b else c:>3}'\nf'{d[1:2]}'\nf'''{\na\n}'''\nf'{ {1: 2}[1] }'\n",
    "'a' \"b\" r'\\'' b'''\n''' '\\\n' u'' Rb'\\\\'\n",
    "x = a \\\n  + b\nx = \\\n  'abc'\nx = ('a' # foo\n  'b' \\\n  'c')\nf(a, # c\n  b)\n",
    "if x:  # trailing\n    # c1\n    a\n    # c2\n  # c3\n# c4\nb\n",
    "if x:\n    a\n    # c1\nelse:\n    b\n# c2\n\ntry:\n  a\n# c3\nexcept:\n  b\n  # c4\n",
    "def f():\n    if x:\n        a  # c0\n        # c1\n    # c2\nb\n",
    "class A:\n\tdef f(self):\n\t\tpass\n\n\t# c\n\tx = 1\n# d",
    "match x:  # foo\n    # c\n    case 1:\n        pass\n    # d\n    case A.b | C(a, x=1) if z: pass\n    "
    "# e\n",
    "match x, y:\n    case [a, *b, _]: pass\n    case {'a': 1, **r}: pass\n    case -1: pass\n    case (a, "
    "b) as c: pass\n",
    "match x:\n    case _: pass\n    case [*_]: pass\n    case C(B(), (a), x=D()): pass\n    case 'a' 'b' | "
    "None: pass\n",
};

// Right or wrong, these are for tree-sitter.
const char* const kGivenUp[] = {
    "print x\n",
    "exec 'x'\n",
    "x = 1\n    y = 2\n",
    "if x:\n        a\n    b\n",
    "a,\nb = c\n",
    "type(a).b = c\n",
    "x\r\n",
    "x\f\n",
    "\xC3\xA4 = 1\n",
    "x = '\xFF'\n",
    "x = '\x01'\n",
    "if x:\n",
    "f(a b)\n",
    "x = \\\n\ny\n",
    "a, lambda: b\n",
    "x = a, f(b)\n[c] = d\n",
    "b'\\u'\n",
    "def f():\n    x = (a +\nb)\n",
    "x = a, *(b)\n",
    "return *(a), b\n",
    "f'{a:=5}'\n",
    "f'{a # c\n}'\n",
    "1if x else y\n",
    "match (x):\n    case 1: pass\n",
    "x = `a`\n",
    "a <> b\n",
    "except_ = 1\nexcept: pass\n",
    "def f(a, (b, c)): pass\n",
    "try: a\nexcept* A: b\n",
    "[x for x in a, b]\n",
    "'a\n",
    "'''a\n",
    "f'{a'\n",
    "x = )\n",
    "(x\n",
    "x = 1__0\n",
    "lambda\n",
    "@a\n# c\nx\n",
};

TEST(FastParse, EachConstructHasTheSameNodes) {
  for (const char* source : kRead) EXPECT_EQ(compare(source), Outcome::kEqual) << source;
}

TEST(FastParse, GivesUpOnTheUnusual) {
  for (const char* source : kGivenUp) EXPECT_EQ(compare(source), Outcome::kGaveUp) << source;
}

TEST(FastParse, NestingIsBounded) {
  for (const char* open : {"(", "[", "{", "f(", "x[", "not ", "-", "lambda: ", "f'{", "a if b else ",
                           "a = ", "x**", "if x:\n ", "{a:", "*(", "x: A["}) {
    std::string source;
    for (int i = 0; i < 20000; ++i) source += open;
    EXPECT_EQ(compare(source), Outcome::kGaveUp) << open;
  }
  std::string chain = "x = a";
  for (int i = 0; i < 5000; ++i) chain += " + a.b(c)[d]";  // to the left it may be as deep as it likes
  EXPECT_EQ(compare(chain + "\n"), Outcome::kEqual);
}

// Each snippet with a few bytes deleted, doubled or put elsewhere.
TEST(FastParse, BrokenTextIsEqualOrGivenUp) {
  static const char* const kPieces[] = {
      " ",  "\n",  "(",    ")",    "[",  "]",    "{",       "}",      ",",     ":",
      "=",  "*",   "**",   "not ", "if", "for ", "lambda ", "\\\n",   "#",     "'",
      "f'", "{x}", " as ", "1",    "x",  "_",    "print ",  "match ", "type ", ";",
      ":=", "...", "    ", "\t",   "!r", "'''",  "\n# c\n", "(x)",    "x, ",   ".5"};
  std::mt19937 random(1);
  auto below = [&random](size_t n) { return static_cast<size_t>(random() % n); };
  int equal = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = kRead[below(std::size(kRead))];
    for (size_t edits = 1 + below(3); edits > 0 && !text.empty(); --edits) {
      size_t at = below(text.size());
      switch (below(3)) {
        case 0:
          text.erase(at, 1 + below(4));
          break;
        case 1:
          text.insert(at, kPieces[below(std::size(kPieces))]);
          break;
        default:
          text.insert(at, text.substr(below(text.size()), 1 + below(12)));
      }
    }
    equal += compare(text) == Outcome::kEqual;
    if (testing::Test::HasFailure()) break;
  }
  EXPECT_GT(equal, 500);
}

}  // namespace
}  // namespace assay
