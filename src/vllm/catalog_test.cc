#include "vllm/catalog.h"

#include <gtest/gtest.h>

#include "tree/memory_tree.h"
#include "vllm/catalog_reader.h"

namespace assay {
namespace {

TEST(Catalog, LoadsWhatTheProgramCarries) {
  auto catalog = load_catalog({});
  ASSERT_TRUE(catalog) << catalog.error().message;
  EXPECT_TRUE(catalog->externals.builtins.count("ExceptionGroup"));
  EXPECT_TRUE(catalog->externals.builtins.count("__file__"));
  EXPECT_TRUE(catalog->externals.class_members.at("torch.nn.Module").count("register_buffer"));
  EXPECT_EQ(catalog->externals.class_bases.at("torch.nn.parameter.Parameter").at(0), "torch.nn.Parameter");
  EXPECT_TRUE(catalog->externals.transparent_decorators.count("no_grad"));
  EXPECT_FALSE(catalog->externals.transparent_decorators.count("support_torch_compile"));
  EXPECT_GT(catalog->extension_points.size(), 30u);
  EXPECT_EQ(catalog->entry_point_group("vllm.platform_plugins")->when, "startup");
  EXPECT_TRUE(catalog->base_class("attention-backend"));
  EXPECT_EQ(catalog->component_of("flash_attn.cute.interface")->name, "flash_attn");
  EXPECT_EQ(catalog->component_of("vllm.x"), nullptr);
}

// Every base that a class names has a row: a method resolution order never ends in the unknown for want of
// data.
TEST(Catalog, BasesOfExternalClassesAreListed) {
  auto catalog = load_catalog({});
  ASSERT_TRUE(catalog);
  for (const auto& [name, bases] : catalog->externals.class_bases) {
    for (const std::string& base : bases) {
      EXPECT_TRUE(catalog->externals.class_members.count(base)) << name << " derives from " << base;
    }
  }
}

TEST(Catalog, PlatformsBuildOnEachOther) {
  auto catalog = load_catalog({});
  ASSERT_TRUE(catalog);
  const PlatformFacts* metax = catalog->platform("metax");
  ASSERT_TRUE(metax);
  EXPECT_FALSE(metax->truth.at("is_cuda"));
  EXPECT_TRUE(metax->truth.at("is_cuda_alike"));
  EXPECT_TRUE(metax->truth.at("is_out_of_tree"));
  Environment environment;
  apply_platform(*catalog, *metax, environment);
  EXPECT_TRUE(environment.platform_variables.count("vllm.platforms.current_platform"));
  EXPECT_FALSE(environment.platform_truth.at("is_rocm"));
}

// `if current_platform.<call>: …` with the facts of the metax platform, and an override of a hook whose callers have one value left.
TEST(Catalog, AnswersForCapabilitiesAndSettledArguments) {
  auto catalog = load_catalog({});
  ASSERT_TRUE(catalog);
  catalog->settled_arguments = {{"vllm.platforms.Platform.pick(use_new)", true, "vllm.old_engine"}, {"vllm.platforms.Platform.pick(other)", true, "vllm.platforms"}};
  Project project;
  project.add_tree({"target", make_memory_tree({{"vllm/__init__.py", ""}, {"vllm/platforms/__init__.py", "class Platform:\n  def pick(self, use_new, other): pass\ncurrent_platform: Platform = Platform()\n"}}), "1.0", {"vllm"}});
  project.add_tree({"plugin", make_memory_tree({{"p/__init__.py", "from vllm.platforms import Platform, current_platform as there\nclass Mine(Platform):\n  def pick(self, use_new, other):\n    if use_new: pass\n    if other: pass\n"
    "if there.is_device_capability(80): pass\nif there.is_device_capability((9, 0)): pass\nif there.has_device_capability(75): pass\nif there.is_device_capability_family(100): pass\nif there.is_device_capability(x): pass\n"}}), "1.0", {"p"}});
  Environment environment;
  apply_platform(*catalog, *catalog->platform("metax"), environment);
  apply_settled(*catalog, project, environment);
  environment.platform_variables.insert("there");
  PatchTable none;
  Semantics semantics(project, catalog->externals, environment, none);
  const Module& p = *project.find_loaded("p");
  std::vector<Truth> truths;
  for (Node n : p.root().descendants()) {
    if (n.is(Kind::k_if_statement)) truths.push_back(semantics.condition(p, n.child(Field::k_condition)));
  }
  constexpr Truth kY = Truth::kYes, kN = Truth::kNo, kU = Truth::kUnknown;
  EXPECT_EQ(truths, (std::vector<Truth>{kY, kU, kY, kN, kY, kN, kU}));
}

TEST(Catalog, UnknownPlatformSuggestsAName) {
  auto catalog = load_catalog({});
  ASSERT_TRUE(catalog);
  EXPECT_EQ(load_platform(*catalog, "metx").error().message,
            "unknown platform 'metx'; did you mean 'metax'?");
  EXPECT_EQ(load_platform(*catalog, "no/such.toml").error().message,
            "cannot read the catalog file 'no/such.toml'");
}

std::string error_of(std::string_view text) {
  Catalog catalog;
  auto read = read_catalog_file(text, "mine.toml", catalog);
  return read ? "fine" : read.error().message;
}

TEST(CatalogReader, ErrorsNameFileAndLine) {
  EXPECT_EQ(error_of("\n[[extenson]]\nkind = 'x'\n"),
            "mine.toml:2: unknown key 'extenson'; did you mean 'extension'?");
  EXPECT_EQ(error_of("[[extension]]\nkind = 'x'\ncall = 'm.f'\nkey = 'strng name@0'\n"),
            "mine.toml:4: unknown key rule 'strng'; did you mean 'string'?");
  EXPECT_EQ(error_of("[[extension]]\nkind = 'x'\ncall = 'm.f'\nkey = 'string name'\n"),
            "mine.toml:4: 'name' is not PARAMETER@POSITION");
  EXPECT_EQ(error_of("[platform.x]\nis_cuda = 1\n"), "mine.toml:2: 'is_cuda' takes true or false");
  EXPECT_EQ(error_of("[platform.x]\nbase = 'y'\n"), "mine.toml:2: unknown platform 'y'");
  EXPECT_EQ(error_of("[externals.classes]\n'a.B' = 'x'\n"),
            "mine.toml:2: a class is written as \"BASES|MEMBERS\"");
  EXPECT_EQ(error_of("x = [[[").substr(0, 11), "mine.toml:1");
}

TEST(CatalogReader, ReadsAnExtensionPoint) {
  Catalog catalog;
  ASSERT_TRUE(read_catalog_file(
      "[[extension]]\nkind = 'k'\ncall = ['a.f', 'b.f']\nkey = 'class-type cls@0 kind@2=mp'\n"
      "value = 'module@1 name@2'\n",
      "mine.toml", catalog));
  const ExtensionPoint& point = catalog.extension_points.at(0);
  EXPECT_EQ(point.key_rule, KeyRule::kClassType);
  ASSERT_EQ(point.key.size(), 2u);
  EXPECT_EQ(point.key[1].fallback, "mp");
  EXPECT_EQ(point.key[1].position, 2);
  EXPECT_EQ(point.value[1].name, "name");
  EXPECT_EQ(point.line, 1u);
}

TEST(CatalogReader, ReadsAPlatformFile) {
  auto catalog = load_catalog({});
  ASSERT_TRUE(catalog);
  auto bare = read_platform_file("base = 'oot'\nis_cuda_alike = true\n", "mine.toml", *catalog);
  ASSERT_TRUE(bare) << bare.error().message;
  EXPECT_TRUE(bare->truth.at("is_cuda_alike"));
  EXPECT_FALSE(bare->truth.at("is_cuda"));
  auto named = read_platform_file("[platform.box]\nis_cuda = true\n", "mine.toml", *catalog);
  ASSERT_TRUE(named);
  EXPECT_EQ(named->name, "box");
}

}  // namespace
}  // namespace assay
