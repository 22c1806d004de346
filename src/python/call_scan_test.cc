#include "python/call_scan.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <set>

#include "tree/directory_tree.h"

namespace assay {
namespace {

std::vector<ScannedCall> scan(const std::string& name, std::string_view text) {
  return CallScanner({name}).scan(text);
}

// `line receiver.f positional [*] [**] keywords [?]`
std::string show(const ScannedCall& c) {
  std::string out = fmt::format("{}:{}{} {}", c.line, c.receiver, c.has_receiver ? "." : "", c.positional);
  if (c.star_args) out += " *";
  if (c.star_kwargs) out += " **";
  for (std::string_view k : c.keywords) out += fmt::format(" {}", k);
  if (c.ambiguous) out += " ?";
  return out;
}

std::string scan_f(std::string_view text) {
  std::string out;
  for (const ScannedCall& c : scan("f", text)) {
    if (!out.empty()) out += "; ";
    out += show(c);
  }
  return out;
}

TEST(CallScan, Arguments) {
  EXPECT_EQ(scan_f("f()"), "1: 0");
  EXPECT_EQ(scan_f("f(1, 'a,b', [1, 2], (3, 4), k=5, **d)"), "1: 4 ** k");
  EXPECT_EQ(scan_f("f(*a, b, c=d == e, g=h <= i)"), "1: 1 * c g");
  EXPECT_EQ(scan_f("f(x for x, y in z)"), "1: 1");
  EXPECT_EQ(scan_f("f(lambda a, b=1, *c: (a, b), 2)"), "1: 2");
  EXPECT_EQ(scan_f("f(lambda a, g=lambda h, i: h: a, 2)"), "1: 2");
  EXPECT_EQ(scan_f("f(a := 1, b != c, d)"), "1: 3");
  EXPECT_EQ(scan_f("f(\n  a,  # one, (two\n  k  # k\n  = 1,\n)\n"), "1: 1 k");
  EXPECT_EQ(scan_f("f(f(1), f)"), "1: 2; 1: 1");
  EXPECT_EQ(scan_f("f('(' \"'\" ''', )''', rb'\\')', 2)"), "1: 3");
  EXPECT_EQ(scan_f("f(a if b else c, {1: 2}, x[1:2])"), "1: 3");
  EXPECT_EQ(scan_f("f(forward, lambdas)"), "1: 2");
}

TEST(CallScan, OnlyCode) {
  EXPECT_EQ(scan_f("# f(1)\n'f(1)'\n'''\nf(1)\n'''\nf (1)\n"), "6: 1");
  EXPECT_EQ(scan_f("def f(a): pass\nclass f(a): pass\nasync  def  f(a): pass\n"), "");
  EXPECT_EQ(scan_f("gf(1)\nf_(1)\nf2(1)\n@f(1)\ndef g(): pass\n"), "4: 1");
  EXPECT_EQ(scan_f("x = '\\'f(1)'; f(2, 3)"), "1: 2");
  EXPECT_EQ(scan_f("x = r'\\\\'; f(2, 3); y = r'\\'f(1)'"), "1: 2");
  EXPECT_EQ(scan_f("'it''s' # don't\nf(1)"), "2: 1");
}

TEST(CallScan, FormattedStrings) {
  EXPECT_EQ(scan_f("f'{f(1)} f(2) {{f(3)}} {x:{f(4, 5)}f(6)}'"), "1: 1; 1: 2");
  EXPECT_EQ(scan_f("f'''{ 'f(1)' + f(\n2, k=3) } ' f(4)'''\nf(5)"), "1: 1 k; 3: 1");
  EXPECT_EQ(scan_f("f\"{f(\"a\", 'b')}\""), "1: 2");
  EXPECT_EQ(scan_f("f'\\N{DASH} {f(1)} \\{f(2)}'"), "1: 1; 1: 1");
  EXPECT_EQ(scan_f("rf'\\{f(1)}'"), "1: 1");
  EXPECT_EQ(scan_f("'{f(1)}'"), "");
}

TEST(CallScan, Receivers) {
  EXPECT_EQ(scan_f("self.attn_backend.f(1)"), "1:self.attn_backend. 1");
  EXPECT_EQ(scan_f("super().f(1)"), "1:super(). 1");
  EXPECT_EQ(scan_f("return a[0](1, 2).b.f(1)"), "1:a[0](1, 2).b. 1");
  EXPECT_EQ(scan_f("x = (a or b).f()"), "1:(a or b). 0");
  EXPECT_EQ(scan_f("not(a).f()"), "1:(a). 0");
  EXPECT_EQ(scan_f("re.match(a).f()"), "1:re.match(a). 0");
  EXPECT_EQ(scan_f("' '.f(1)"), "1:. 1");
  EXPECT_EQ(scan_f("d['f(1)'].f(1)"), "1:. 1");
  EXPECT_EQ(scan_f("(a  # the frame\n .f(1))"), "2:. 1");
  EXPECT_EQ(scan_f("a = 1.\nf(1)"), "2: 1");
  EXPECT_EQ(scan_f("'#'. \\\n f(1)"), "2:. 1");
  EXPECT_EQ(scan_f("a.read (1).f(1)"), "1:. 1");
  EXPECT_EQ(scan_f("1.5e9.f(1)"), "1:. 1");
  EXPECT_EQ(scan_f("# ends here.\nf(1)\n# of a class\nf(2)"), "2: 1; 4: 1");
  EXPECT_EQ(scan_f("(a\n .b() .f(1))"), "2:a\n .b(). 1");
}

TEST(CallScan, WhatItCannotReadIsAmbiguous) {
  EXPECT_EQ(scan_f("f(*[1, 2])"), "1: 0 ?");
  EXPECT_EQ(scan_f("f(1, 'a': 2)"), "1: 1 ?");
  EXPECT_EQ(scan_f("f(1, [2)"), "1: 1 ?");
  EXPECT_EQ(scan_f("f(1,"), "1: 1 ?");
  EXPECT_EQ(scan_f("x = f\n(1)"), "1: 1 ?");
  EXPECT_EQ(scan_f("match x:\n  case f(a=1): pass\n"), "2: 0 a ?");
  EXPECT_EQ(scan_f("x = 'open\nf(1)\n"), "2: 1 ?");
}

TEST(CallScan, SeveralNamesAndBindShape) {
  CallScanner scanner({"get", "build", "get"});
  std::vector<ScannedCall> calls = scanner.scan(
      "\xEF\xBB\xBF"
      "a.get(1)\nbuild(k=2, *x)\nget_x(1)\n");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_EQ(calls[0].name, 0u);
  EXPECT_EQ(calls[0].offset, 2u);
  EXPECT_EQ(calls[1].name, 1u);
  EXPECT_EQ(calls[1].end, 23u);
  CallShape shape = shape_of(calls[1]);
  EXPECT_TRUE(shape.star_args);
  EXPECT_EQ(shape.keywords, (std::vector<std::string_view>{"k"}));
}

TEST(CallScan, DeepNestingStaysLinear) {
  std::string deep;
  for (int i = 0; i < 20000; ++i) deep += "f(";
  std::vector<ScannedCall> calls = scan("f", deep);
  EXPECT_EQ(calls.size(), 20000u);
  EXPECT_TRUE(calls[0].ambiguous);
  std::string line;
  for (int i = 0; i < 20000; ++i) line += "f();";
  EXPECT_EQ(scan("f", line).size(), 20000u);
}

// Every call in `text`, read by the scanner and by the parser, must agree. Returns the number of calls
// compared.
struct Comparison {
  size_t calls = 0, ambiguous = 0;
};

std::string called_name(Node call) {
  Node function = call.child(Field::k_function);
  if (function.is(Kind::k_attribute)) return std::string(function.child(Field::k_attribute).text());
  return function.is(Kind::k_identifier) ? std::string(function.text()) : std::string();
}

void compare_call(Node call, const ScannedCall& scanned, const std::string& path) {
  Node function = call.child(Field::k_function);
  CallShape shape = call_shape(call);
  std::string where =
      path + ":" + std::to_string(scanned.line) + " " + std::string(call.text().substr(0, 100));
  EXPECT_EQ(shape.positional, scanned.positional) << where;
  EXPECT_EQ(shape.positional_before_star, scanned.positional_before_star) << where;
  EXPECT_EQ(shape.keywords, scanned.keywords) << where;
  EXPECT_EQ(shape.star_args, scanned.star_args) << where;
  EXPECT_EQ(shape.star_kwargs, scanned.star_kwargs) << where;
  EXPECT_EQ(call.end(), scanned.end) << where;
  EXPECT_EQ(call.tree()->line_of(scanned.offset), scanned.line) << where;
  EXPECT_EQ(function.is(Kind::k_attribute), scanned.has_receiver) << where;
  if (!scanned.receiver.empty()) {
    std::string_view object = function.child(Field::k_object).text();
    if (object.starts_with('*')) object.remove_prefix(1);  // `[*a.f()]`: the grammar gives the star to `a`
    EXPECT_EQ(object, scanned.receiver) << where;
  }
}

Comparison compare(const Blob& source, const std::string& path) {
  Comparison result;
  SyntaxTree tree = SyntaxTree::parse(source);
  if (!tree.errors().empty()) return result;
  std::map<uint32_t, Node> calls;  // by the offset of the name
  std::set<std::string> names;
  std::vector<Node> patterns;  // several lines of `case` are beyond the scanner
  for (Node n : tree.root().descendants()) {
    if (n.is(Kind::k_class_pattern)) patterns.push_back(n);
    if (!n.is(Kind::k_call) || called_name(n).empty()) continue;
    Node function = n.child(Field::k_function);
    calls[function.is(Kind::k_attribute) ? function.child(Field::k_attribute).start() : function.start()] = n;
    names.insert(called_name(n));
  }
  CallScanner scanner(std::vector<std::string>(names.begin(), names.end()));
  for (const ScannedCall& scanned : scanner.scan(source.view())) {
    auto it = calls.find(scanned.offset);
    result.ambiguous += scanned.ambiguous;
    if (it == calls.end()) {  // the grammar takes `type(x).y = z` for a type alias
      bool excused = scanned.ambiguous || source.view().substr(scanned.offset, 5) == "type(";
      for (Node p : patterns) excused |= p.start() <= scanned.offset && scanned.offset < p.end();
      EXPECT_TRUE(excused) << path << ":" << scanned.line << " is no call";
      continue;
    }
    ++result.calls;
    if (!scanned.ambiguous) compare_call(it->second, scanned, path);
    calls.erase(it);
  }
  for (const auto& [offset, call] : calls)
    ADD_FAILURE() << path << ":" << call.line() << " missed " << call.text().substr(0, 100);
  return result;
}

TEST(CallScan, AgreesWithTheParserOnMadeUpText) {
  Comparison c = compare(Blob(std::string(R"(
@decorator.f(1)(2)
class A(metaclass=M(1), k=2):
    x = field(default_factory=lambda: [1, 2], init=False)
    def m(self, a=g(1), *b: h(2), **c) -> i(3):
        return super().m(*a, b, key = 1 , **c).n(f"{j(1, 2)!r:>{k(3)}} {l({'a': m(1)}['a'])}", end='')[0].o()
if (n := p(x for x in q(1))): r(yield_, not s(1), t(1) if u(2) else v(*w))
with a(1) as b, c(2)(3): [d(e) for e in f(1, )]
print(*x, sep="", file=sys . stderr . buf (1))
x = {k(1): v(2), **w(3)}; y = lambda a=b(1): c(a, lambda: d(a))
)")),
                         "made up");
  EXPECT_GE(c.calls, 28u);
  EXPECT_EQ(c.ambiguous, 0u);
}

// ASSAY_TEST_TREE=DIR: every call of every Python file there.
TEST(CallScan, AgreesWithTheParserOnARealTree) {
  const char* dir = std::getenv("ASSAY_TEST_TREE");
  if (!dir) GTEST_SKIP() << "set ASSAY_TEST_TREE to a folder of Python files";
  auto tree = open_directory(dir);
  ASSERT_TRUE(tree) << tree.error().message;
  Comparison sum;
  for (const TreeEntry& entry : (*tree)->entries()) {
    if (!entry.path.ends_with(".py") || entry.size > 4000000) continue;
    auto blob = (*tree)->read(entry);
    if (!blob) continue;
    Comparison c = compare(*blob, entry.path);
    sum.calls += c.calls;
    sum.ambiguous += c.ambiguous;
  }
  std::printf("%zu calls compared, %zu ambiguous\n", sum.calls, sum.ambiguous);
  EXPECT_LE(sum.ambiguous * 100, sum.calls);
}

}  // namespace
}  // namespace assay
