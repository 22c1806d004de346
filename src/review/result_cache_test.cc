#include "review/result_cache.h"

#include <gtest/gtest.h>


#include "tree/memory_tree.h"
#include "tree/temp_folder.h"

namespace assay {
namespace {

Report sample() {
  Report r;
  Finding f;
  f.rule = "missing-module";
  f.symbol = "vllm.gone";
  f.message = "the target has no module vllm.gone";
  r.findings.push_back(f);
  return r;
}

std::string key_of(std::map<std::string, std::string> files) {
  ResultKey key;
  auto tree = make_memory_tree(std::move(files), "t");
  key.add(*tree, 2);
  return key.hex();
}

TEST(ResultKey, ChangesWithTheContentAndWithTheNames) {
  std::string key = key_of({{"a.py", "x = 1\n"}});
  EXPECT_EQ(key, key_of({{"a.py", "x = 1\n"}}));
  EXPECT_NE(key, key_of({{"a.py", "x = 2\n"}}));
  EXPECT_NE(key, key_of({{"b.py", "x = 1\n"}}));
}

TEST(ResultCache, GivesBackWhatWasStored) {
  TempFolder folder;
  {
    ResultCache cache(folder.path().string());
    EXPECT_FALSE(cache.find("k"));
    cache.store("k", sample());
  }
  ResultCache cache(folder.path().string());
  auto report = cache.find("k");
  ASSERT_TRUE(report);
  ASSERT_EQ(report->findings.size(), 1u);
  EXPECT_EQ(report->findings[0].symbol, "vllm.gone");
}

TEST(ResultCache, ADamagedFileIsMadeAnew) {
  TempFolder folder;
  folder.write("facts-results.sqlite", "this is no database, by far no database");
  ResultCache cache(folder.path().string());
  cache.store("k", sample());
  EXPECT_TRUE(cache.find("k"));
}

TEST(ResultCache, DoesWithoutAFolderThatCannotBeMade) {
  ResultCache cache("/proc/no/such/place");
  cache.store("k", sample());
  EXPECT_FALSE(cache.find("k"));
}

}  // namespace
}  // namespace assay
