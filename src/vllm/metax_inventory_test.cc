// The inventory of a whole plugin against a list of its adaptations that was read by hand:
// tests/inventory/README.md. Skipped unless ASSAY_METAX_TREE names vLLM-MetaX at 3aadf08 and ASSAY_VLLM_TREE
// the unpacked wheel of vLLM 0.26.0.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <tuple>

#include "base/text.h"
#include "tree/directory_tree.h"
#include "vllm/inventory.h"

namespace assay {
namespace {

struct Listed {
  std::string kind, key, file;
  uint32_t line = 0;
  std::string text() const { return fmt::format("{} {} {}:{}", kind, key, file, line); }
  bool near(const Listed& other) const {
    uint32_t apart = line > other.line ? line - other.line : other.line - line;
    return std::tie(kind, key, file) == std::tie(other.kind, other.key, other.file) && apart <= 1;
  }
};

std::vector<Listed> read_list(const std::string& name) {
  std::vector<Listed> out;
  std::ifstream in(std::string(ASSAY_SOURCE_DIR) + "/tests/inventory/" + name);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("#")) line.erase(0, 1);
    std::vector<std::string_view> cells = split(line, '\t');
    if (cells.size() < 4 || cells[0] == "kind") continue;
    out.push_back({std::string(cells[0]), std::string(cells[1]), std::string(cells[2]),
                   static_cast<uint32_t>(std::atoi(std::string(cells[3]).c_str()))});
  }
  return out;
}

class Inputs {
 public:
  Inputs(const char* plugin, const char* target) : catalog_(*load_catalog({})), project_(options(catalog_)) {
    std::shared_ptr<const Tree> tree = std::move(*open_directory(plugin)),
                                vllm = std::move(*open_directory(target));
    entry_points_ = entry_points(*tree);
    std::string package = entry_points_.at(0).value.substr(0, entry_points_.at(0).value.find_first_of(".:"));
    plugin_ = &project_.add_tree({"plugin", tree, "", {package}});
    project_.add_tree({"target", vllm, distribution_of(*vllm).version, {"vllm"}});
    apply_platform(catalog_, *catalog_.platform("metax"), environment_);
    semantics_ = std::make_unique<Semantics>(project_, catalog_.externals, environment_, patches_);
    for (const Module* m : project_.modules_of(*plugin_)) {
      if (m->name == package || m->name.starts_with(package + ".")) modules_.push_back(&project_.load(*m));
    }
  }

  Inventory take() {
    Reachability reach = Reachability::everything(project_, *plugin_);
    Patches found = find_patches(*semantics_, *plugin_, modules_);
    InventoryInput input{*semantics_, catalog_, *plugin_, modules_, reach, entry_points_, found, nullptr};
    return take_inventory(input, [](std::string_view) { return true; });
  }

 private:
  static ProjectOptions options(const Catalog& catalog) {
    ProjectOptions out;
    out.generated_modules = catalog.generated_modules;
    return out;
  }

  Catalog catalog_;
  Environment environment_;
  PatchTable patches_;
  Project project_;
  const SourceTree* plugin_ = nullptr;
  std::unique_ptr<Semantics> semantics_;
  std::vector<const Module*> modules_;
  std::vector<EntryPoint> entry_points_;
};

TEST(MetaxInventory, AgreesWithTheListReadByHand) {
  const char* plugin = std::getenv("ASSAY_METAX_TREE");
  const char* target = std::getenv("ASSAY_VLLM_TREE");
  if (!plugin || !target) GTEST_SKIP() << "ASSAY_METAX_TREE and ASSAY_VLLM_TREE are not set";
  std::vector<Listed> expected = read_list("metax.tsv"), unclear = read_list("metax-ambiguous.tsv"), found;
  ASSERT_GT(expected.size(), 100u);
  for (const InventoryRow& r : Inputs(plugin, target).take().rows) {
    Listed row{r.kind, r.key, r.location.file, r.location.line};
    bool counts = std::ranges::none_of(unclear, [&](const Listed& u) { return u.near(row); });
    if (counts) found.push_back(row);
  }
  size_t hits = 0, reported = found.size();
  for (const Listed& row : expected) {
    auto it = std::ranges::find_if(found, [&](const Listed& f) { return f.near(row); });
    if (it == found.end()) {
      std::printf("not found: %s\n", row.text().c_str());
      continue;
    }
    ++hits;
    found.erase(it);
  }
  for (const Listed& row : found) std::printf("not listed: %s\n", row.text().c_str());
  EXPECT_GE(static_cast<double>(hits), 0.98 * static_cast<double>(expected.size()));
  EXPECT_GE(static_cast<double>(hits), 0.98 * static_cast<double>(reported));
}

}  // namespace
}  // namespace assay
