#include "cases/case_line.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "cases/family.h"

namespace assay::num {
namespace {

const Schema& demo() {
  static const Schema schema = {"demo.one",
                                {{"dtype", KeyKind::kWord, "bf16", 0, 0, {"bf16", "f16"}, ""},
                                 {"heads", KeyKind::kPair, "8/2", 1, 512, {}, ""},
                                 {"lens", KeyKind::kList, "-", 0, 1e6, {}, ""},
                                 {"cap", KeyKind::kReal, "0", 0, 1000, {}, ""},
                                 seed_key()}};
  return schema;
}

std::string error_of(std::string_view line) {
  const auto c = parse_case(line, {&demo()});
  return c ? "accepted" : c.error().message;
}

TEST(CaseLine, ReadsAndPrintsCanonically) {
  const auto c = parse_case("  demo.one  seed=7 lens=4,4,4,1 heads=6 cap=30.5 ", {&demo()});
  ASSERT_TRUE(c);
  EXPECT_EQ(c->print(), "demo.one heads=6 lens=4*3,1 cap=30.5 seed=7");
  EXPECT_EQ(c->second("heads"), 6);
  EXPECT_EQ(c->word("dtype"), "bf16");
  EXPECT_EQ(Case(demo()).print(), "demo.one");
}

TEST(CaseLine, ErrorsNameTheField) {
  EXPECT_EQ(error_of(""), "an empty case line");
  EXPECT_EQ(error_of("demo.oen"), "demo.oen: no such family; did you mean demo.one?");
  EXPECT_EQ(error_of("demo.one lems=1"), "lems: no key of demo.one; did you mean lens?");
  EXPECT_EQ(error_of("demo.one lens"), "lens: key=value is needed");
  EXPECT_EQ(error_of("demo.one =3"), "=3: key=value is needed");
  EXPECT_EQ(error_of("demo.one seed=1 seed=2"), "seed: given twice");
  EXPECT_EQ(error_of("demo.one seed=x"), "seed=x: a whole number is needed");
  EXPECT_EQ(error_of("demo.one seed="), "seed=: a whole number is needed");
  EXPECT_EQ(error_of("demo.one seed=99999999999999999999"),
            "seed=99999999999999999999: a whole number is needed");
  EXPECT_EQ(error_of("demo.one heads=0/2"), "heads=0/2: a number from 1 to 512 is needed");
  EXPECT_EQ(error_of("demo.one heads=1/2/3"), "heads=1/2/3: one number, or two as a/b is needed");
  EXPECT_EQ(error_of("demo.one lens=1,,2"), "lens=1,,2: a whole number is needed");
  EXPECT_EQ(error_of("demo.one lens=1*0"), "lens=1*0: a positive count after '*' is needed");
  EXPECT_EQ(error_of("demo.one lens=1*99999999"),
            "lens=1*99999999: a list of at most 1048576 entries is needed");
  EXPECT_EQ(error_of("demo.one lens=1*18446744073709551615,1*2"),
            "lens=1*18446744073709551615,1*2: a list of at most 1048576 entries is needed");
  EXPECT_EQ(error_of("demo.one cap=nan"), "cap=nan: a number is needed");
  EXPECT_EQ(error_of("demo.one cap=-1"), "cap=-1: a number from 0 to 1000 is needed");
  EXPECT_EQ(error_of("demo.one dtype=f32"), "dtype=f32: one of bf16, f16 is needed");
  EXPECT_EQ(error_of("demo.one \x1b[2J=1"), "\\x1b[2J: no key of demo.one");
}

TEST(CaseLine, EveryCaseSurvivesPrintingAndReading) {
  rc::check([] {
    Case c(demo());
    c.set_list("lens", *rc::gen::container<std::vector<std::int64_t>>(rc::gen::inRange<std::int64_t>(0, 4)));
    c.set_integer("seed", *rc::gen::inRange<std::int64_t>(0, 1000000));
    RC_ASSERT(c.set("cap", std::to_string(*rc::gen::inRange(0, 1000) / 8.0)).has_value());
    const auto again = parse_case(c.print(), {&demo()});
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == c);
    RC_ASSERT(again->print() == c.print());
  });
}

TEST(CaseLine, ArbitraryBytesNeverCrash) {
  rc::check([](const std::string& text) {
    const auto c = parse_case("demo.one " + text, {&demo()});
    RC_ASSERT(c.has_value() || !c.error().message.empty());
  });
}

TEST(CaseLine, EveryFamilysLinesRoundTrip) {
  for (const Family& f : families()) {
    for (const auto* lines : {&f.smoke, &f.plain})
      for (const std::string& line : *lines) {
        const auto c = parse_case(line);
        ASSERT_TRUE(c) << line << ": " << c.error().message;
        const auto again = parse_case(c->print());
        ASSERT_TRUE(again && *again == *c) << line;
      }
    for (std::uint64_t seed = 0; seed < 50; ++seed) {
      Draw draw(seed, 77);
      const Case c = f.random(f.schema, draw, 4096);
      const auto again = parse_case(c.print());
      ASSERT_TRUE(again) << c.print() << ": " << again.error().message;
      EXPECT_EQ(again->print(), c.print());
    }
  }
}

}  // namespace
}  // namespace assay::num
