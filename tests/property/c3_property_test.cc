#include <gtest/gtest.h>

#include <random>

#include "python/c3.h"
#include "run_python.h"

namespace assay {
namespace {

constexpr int kHierarchies = 3000;

// One line: the bases of each class in turn, as `0,1;2`; Python answers with the orders of all classes that
// it could make.
const char* const kScript = R"(
import sys
for line in open(sys.argv[1]):
    classes, out = [], []
    for bases in line.rstrip('\n').split(';')[:-1]:
        bases = [classes[int(b)] for b in bases.split(',') if b]
        try:
            if None in bases: raise TypeError
            classes.append(type(str(len(classes)), tuple(bases), {}))
            out.append(','.join(c.__name__ for c in classes[-1].__mro__[:-1]))
        except TypeError:
            classes.append(None)
            out.append('none')
    print(';'.join(out))
)";

std::string join(const std::vector<int>& ids) {
  std::string out;
  for (int id : ids) {
    if (!out.empty()) out += ',';
    out += std::to_string(id);
  }
  return out;
}

struct Hierarchy {
  std::string question, answer;
  int impossible = 0;
};

Hierarchy random_hierarchy(std::mt19937& random) {
  Hierarchy h;
  std::vector<std::optional<std::vector<int>>> orders;
  int classes = 3 + static_cast<int>(random() % 10);
  for (int c = 0; c < classes; ++c) {
    std::vector<int> bases;
    std::vector<std::vector<int>> base_orders;
    bool possible = true;
    for (uint32_t n = random() % 4; n > 0 && c > 0; --n) {
      int base = static_cast<int>(random() % static_cast<uint32_t>(c));
      bases.push_back(base);
      possible = possible && orders[static_cast<size_t>(base)].has_value();
      if (possible) base_orders.push_back(*orders[static_cast<size_t>(base)]);
    }
    orders.push_back(possible ? c3_linearize(c, bases, base_orders) : std::nullopt);
    h.question += join(bases) + ";";
    if (c > 0) h.answer += ";";
    h.answer += orders.back() ? join(*orders.back()) : "none";
    h.impossible += !orders.back();
  }
  return h;
}

TEST(C3Property, OrdersAreThoseOfPython) {
  std::mt19937 random(1);
  std::vector<std::string> questions, answers;
  int impossible = 0;
  for (int i = 0; i < kHierarchies; ++i) {
    Hierarchy h = random_hierarchy(random);
    questions.push_back(h.question);
    answers.push_back(h.answer);
    impossible += h.impossible;
  }
  std::vector<std::string> python = run_python(kScript, questions);
  ASSERT_EQ(python.size(), answers.size());
  for (size_t i = 0; i < python.size(); ++i) ASSERT_EQ(answers[i], python[i]) << questions[i];
  EXPECT_GT(impossible, 1000);  // the failures were tried as well
}

}  // namespace
}  // namespace assay
