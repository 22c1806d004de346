#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "python/bind.h"
#include "run_python.h"

namespace assay {
namespace {

constexpr int kCases = 12000;

// A case is `parameters \t bound arguments \t arguments`: the function is called with the arguments, through
// functools.partial with the bound ones when there are any. With `*x` or `**y` in it, Python tries many
// values and says whether any call succeeds.
const char* const kScript = R"(
import functools, inspect, itertools, re, sys

def attempt(parameters, bound, arguments, x=(), y={}):
    env = {'x': x, 'y': y, 'functools': functools, 'inspect': inspect}
    exec(f'def f({parameters}): return locals()', env)
    if bound:
        exec(f'f = functools.partial(f, {bound})', env)
    try:
        got = eval(f'f({arguments})', env)
    except TypeError as e:
        return classify(str(e))
    if not bound and not inspect_agrees(env, arguments):
        return 'inspect disagrees'
    return 'ok ' + ' '.join(f'{k}={v}' for k, v in got.items() if k not in ('args', 'kwargs') and v is not None)

def inspect_agrees(env, arguments):
    try:
        eval(f'inspect.signature(f).bind({arguments})', env)
        return True
    except TypeError as e:  # before 3.13, inspect did not let **kwargs take the name of a positional-only parameter
        return 'positional' in str(e) or any(
            p.kind is p.POSITIONAL_ONLY for p in inspect.signature(env['f']).parameters.values())

def classify(m):
    names = ' '.join(re.findall(r"'(\w+)'", re.sub(r'Did you mean.*', '', m)))
    if 'positional-only arguments passed' in m: return 'posonly ' + m.split(": '")[1].strip("'").replace(',', '')
    if 'missing' in m: return 'missing ' + names
    if 'unexpected keyword' in m: return 'unexpected ' + names
    if 'multiple values' in m: return 'multiple ' + names
    n = re.match(r'\S+ takes (?:from \d+ to )?(\d+) positional arguments? but (\d+)', m)
    return f'toomany {n[1]} {n[2]}' if n else 'other ' + m

def possible(parameters, arguments):
    names = 'abcdefz'
    lengths = range(8) if '*x' in arguments else [0]
    subsets = [s for n in range(len(names) + 1) for s in itertools.combinations(names, n)] if '**y' in arguments else [()]
    env = {}
    exec(f'def f({parameters}): pass\ndef call(x, y): f({arguments})', env)
    for n in lengths:
        for s in subsets:
            try:
                env['call']((0,) * n, dict.fromkeys(s, 0))
                return 'possible'
            except TypeError:
                pass
    return 'impossible'

for line in open(sys.argv[1]):
    parameters, bound, arguments = line.rstrip('\n').split('\t')
    star = '*x' in arguments or '**y' in arguments
    print(possible(parameters, arguments) if star else attempt(parameters, bound, arguments))
)";

class CaseMaker {
 public:
  explicit CaseMaker(uint32_t seed) : random_(seed) {}

  std::string parameters() {
    std::vector<std::string> out;
    uint32_t names = pick(7), positional = pick(names + 1),
             positional_only = pick(3) == 0 ? pick(positional + 1) : 0;
    bool defaults = false;
    for (uint32_t i = 0; i < names; ++i) {
      if (i == positional) out.push_back(pick(2) ? "*" : "*args");
      defaults = i < positional ? defaults || pick(3) == 0 : pick(2) == 0;
      out.push_back(std::string(1, static_cast<char>('a' + i)) + (defaults ? "=None" : ""));
      if (i + 1 == positional_only) out.push_back("/");
    }
    if (positional == names && pick(4) == 0) out.push_back("*args");
    if (pick(3) == 0) out.push_back("**kwargs");
    return join(out);
  }

  // Positional arguments, then keywords; `stars`: with *x and **y among them.
  std::string arguments(bool stars) {
    std::vector<std::string> out;
    bool star = stars && pick(2), double_star = stars && (!star || pick(2));
    uint32_t positional = pick(5), star_at = pick(positional + 1);
    for (uint32_t i = 0; i <= positional; ++i) {
      if (star && i == star_at) out.push_back("*x");
      if (i < positional) out.push_back(next_value());
    }
    std::string names = "abcdefz";
    std::shuffle(names.begin(), names.end(), random_);
    uint32_t keywords = pick(4);
    for (uint32_t i = 0; i < keywords; ++i) {
      out.push_back(names.substr(i, 1) + "=" + next_value());
    }
    if (keywords > 0 && pick(8) == 0)
      out.push_back("**{'" + names.substr(pick(keywords + 1), 1) + "': " + next_value() + "}");
    if (double_star) out.push_back("**y");
    return join(out);
  }

  uint32_t pick(uint32_t n) { return random_() % n; }

 private:
  std::string next_value() { return std::to_string(++value_); }
  static std::string join(const std::vector<std::string>& parts) {
    std::string out;
    for (const std::string& p : parts) {
      if (!out.empty()) out += ", ";
      out += p;
    }
    return out;
  }
  std::mt19937 random_;
  uint32_t value_ = 0;
};

std::string spaced(const std::vector<std::string_view>& names) {
  return fmt::format("{}", fmt::join(names, " "));
}

// What Python would print, as far as it is determined: see matches().
std::string render(const Signature& signature, const BindResult& r) {
  switch (r.outcome) {
    case BindOutcome::kUnknown:
      return "possible";
    case BindOutcome::kMissing:
      return "missing " + spaced(r.missing);
    case BindOutcome::kUnexpectedKeyword:
      return "unexpected " + spaced(r.unexpected);
    case BindOutcome::kMultipleValues:
      return "multiple " + spaced(r.multiple);
    case BindOutcome::kPositionalOnlyAsKeyword:
      return "posonly " + spaced(r.positional_only);
    case BindOutcome::kTooManyPositional:
      return fmt::format("toomany {} {}", r.allowed, r.given);
    case BindOutcome::kOk:
      break;
  }
  std::string out = "ok ";
  const char* space = "";
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    if (!r.arguments[i].value) continue;
    out += fmt::format("{}{}={}", space, signature.parameters[i].name, r.arguments[i].value.text());
    space = " ";
  }
  return out;
}

// Python names one faulty argument, or the missing ones of one kind; assay lists all, those that Python names
// first.
bool matches(const std::string& ours, const std::string& python) {
  if (python.starts_with("posonly ")) {
    if (!ours.starts_with("posonly ")) return false;
    std::string a = ours.substr(8), b = python.substr(8);
    std::sort(a.begin(), a.end());
    std::sort(b.begin(), b.end());
    return a == b;
  }
  if (python.starts_with("missing ") || python.starts_with("unexpected ") ||
      python.starts_with("multiple ")) {
    return ours == python || ours.starts_with(python + " ");
  }
  return ours == python;
}

struct Case {
  std::string parameters, bound, arguments;
  bool star = false;
};

std::string answer(const Case& c) {
  SyntaxTree tree = SyntaxTree::parse(
      Blob(fmt::format("def f({}): pass\nf({})\nf({})\n", c.parameters, c.bound, c.arguments)));
  Node function = tree.root().child_at(0);
  Signature signature = signature_of(function);
  CallShape bound = call_shape(tree.root().child_at(1).first_child());
  CallShape call = call_shape(tree.root().child_at(2).first_child());
  BindResult result = bind(signature, partial_call(bound, call));
  if (c.star) return result.certainly_fails() ? "impossible" : "possible";
  return render(signature, result);
}

TEST(BindProperty, OutcomesAreThoseOfPython) {
  CaseMaker make(7);
  std::vector<Case> cases;
  std::vector<std::string> lines;
  for (int i = 0; i < kCases; ++i) {
    Case c;
    c.star = i % 4 == 0;
    c.parameters = make.parameters();
    c.arguments = make.arguments(c.star);
    if (!c.star && make.pick(4) == 0) c.bound = make.arguments(false);
    if (c.bound.find("**") != std::string::npos) c.bound.clear();
    lines.push_back(c.parameters + '\t' + c.bound + '\t' + c.arguments);
    cases.push_back(std::move(c));
  }
  std::vector<std::string> python = run_python(kScript, lines);
  ASSERT_EQ(python.size(), cases.size());
  std::map<std::string, int> kinds;
  for (size_t i = 0; i < cases.size(); ++i) {
    std::string ours = answer(cases[i]);
    ASSERT_TRUE(matches(ours, python[i]))
        << lines[i] << "\n  assay:  " << ours << "\n  python: " << python[i];
    ++kinds[python[i].substr(0, python[i].find(' '))];
  }
  for (const char* kind :
       {"ok", "missing", "unexpected", "multiple", "toomany", "posonly", "possible", "impossible"}) {
    EXPECT_GT(kinds[kind], 50) << kind;  // every outcome was tried
  }
}

// A method called through an instance: assay's prepended argument against the signature without its first
// parameter.
TEST(BindProperty, BoundMethods) {
  CaseMaker make(11);
  int compared = 0;
  for (int i = 0; i < 3000; ++i) {
    Case c{make.parameters(), "", make.arguments(false), false};
    SyntaxTree tree =
        SyntaxTree::parse(Blob(fmt::format("def f({}): pass\nf({})\n", c.parameters, c.arguments)));
    Signature signature = signature_of(tree.root().child_at(0));
    CallShape call = call_shape(tree.root().child_at(1).first_child());
    if (signature.parameters.empty()) continue;
    const Parameter& first = signature.parameters.front();
    if (!first.is_positional() && first.kind != ParameterKind::kVarPositional) continue;
    if (std::find(call.keywords.begin(), call.keywords.end(), first.name) != call.keywords.end()) continue;
    ++compared;
    ASSERT_EQ(bind(signature, with_leading(call)).certainly_fails(),
              bind(signature.without_first(), call).certainly_fails())
        << c.parameters << " | " << c.arguments;
  }
  EXPECT_GT(compared, 1000);
}

}  // namespace
}  // namespace assay
