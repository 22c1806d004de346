#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "python/syntax_check.h"
#include "run_python.h"
#include "tree/directory_tree.h"

namespace assay {
namespace {

// Why assay takes the text for no Python; empty when it finds nothing wrong.
std::string fault(const Blob& source) {
  SyntaxTree tree = SyntaxTree::parse(source);
  if (!tree.errors().empty()) return fmt::format("{}: {}", tree.errors()[0].line, tree.errors()[0].message);
  std::vector<SyntaxError> errors = check_syntax(tree, ModuleScopes(tree));
  return errors.empty() ? "" : fmt::format("{}: {}", errors[0].line, errors[0].message);
}

std::string unescaped(const std::string& line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    bool newline = line.compare(i, 2, "\\n") == 0;
    bool tab = line.compare(i, 2, "\\t") == 0;
    if (newline || tab) {
      out += newline ? '\n' : '\t';
      ++i;
    } else {
      out += line[i];
    }
  }
  return out + "\n";
}

const char* const kCompileLines = R"(
import sys
for line in open(sys.argv[1], encoding='utf-8', newline='\n'):
    source = line[:-1].replace('\\n', '\n').replace('\\t', '\t') + '\n'
    try:
        compile(source, 'x', 'exec', dont_inherit=True)
        print()
    except (SyntaxError, ValueError) as e:
        print(e)
)";

const char* const kCompileFiles = R"(
import sys
for path in open(sys.argv[1], encoding='utf-8', newline='\n'):
    try:
        compile(open(path[:-1], 'rb').read(), 'x', 'exec', dont_inherit=True)
        print()
    except (SyntaxError, ValueError) as e:
        print(str(e).replace('\n', ' '))
)";

// tests/property/snippets.txt: a program a line, `\n` and `\t` for newline and tab. A line may start with
// what exempts it: `new ` is Python of 3.11 or later (assay must accept it), `gap ` is an error that assay
// does not find yet.
TEST(SyntaxProperty, SnippetsAreErrorsWhereTheyAreForPython) {
  std::ifstream file(ASSAY_SNIPPETS);
  std::vector<std::string> snippets, exemptions;
  for (std::string line; std::getline(file, line);) {
    bool exempt = line.starts_with("new ") || line.starts_with("gap ");
    exemptions.push_back(exempt ? line.substr(0, 3) : "");
    snippets.push_back(exempt ? line.substr(4) : line);
  }
  ASSERT_GT(snippets.size(), 700u);
  std::vector<std::string> python = run_python(kCompileLines, snippets);
  ASSERT_EQ(python.size(), snippets.size());
  int errors = 0;
  for (size_t i = 0; i < snippets.size(); ++i) {
    std::string ours = fault(Blob(unescaped(snippets[i])));
    if (exemptions[i] == "new") {
      EXPECT_EQ(ours, "") << snippets[i];
    } else if (exemptions[i] == "gap") {
      EXPECT_EQ(ours, "") << snippets[i] << ": found now, take the mark away";
    } else {
      EXPECT_EQ(ours.empty(), python[i].empty())
          << snippets[i] << "\n  assay:  " << ours << "\n  python: " << python[i];
      errors += !python[i].empty();
    }
  }
  EXPECT_GT(errors, 400);
}

// The parser gives up on one test of CPython, and encodings that do not exist are not looked at.
bool is_known_gap(const std::string& path) {
  return path.ends_with("/test/test_compile.py") ||
         path.find("/tokenizedata/bad_coding") != std::string::npos;
}

// ASSAY_TEST_TREE=DIR: every Python file there; without it, the standard library of the python3 at hand.
TEST(SyntaxProperty, WholeTreesAreErrorsWhereTheyAreForPython) {
  std::string dir;
  if (const char* given = std::getenv("ASSAY_TEST_TREE")) {
    dir = given;
  } else {
    std::vector<std::string> lines = run_python("import os; print(os.path.dirname(os.__file__))", {""});
    ASSERT_EQ(lines.size(), 1u);
    dir = lines[0];
  }
  auto tree = open_directory(dir);
  ASSERT_TRUE(tree) << tree.error().message;
  std::vector<std::string> paths, ours;
  for (const TreeEntry& entry : (*tree)->entries()) {
    bool foreign = !std::getenv("ASSAY_TEST_TREE") && entry.path.find("site-packages/") != std::string::npos;
    if (!entry.path.ends_with(".py") || entry.size > 4000000 || foreign) continue;
    auto blob = (*tree)->read(entry);
    if (!blob) continue;
    paths.push_back(dir + "/" + entry.path);
    ours.push_back(fault(*blob));
  }
  ASSERT_GT(paths.size(), 20u);
  std::vector<std::string> python = run_python(kCompileFiles, paths);
  ASSERT_EQ(python.size(), paths.size());
  for (size_t i = 0; i < paths.size(); ++i) {
    if (is_known_gap(paths[i])) continue;
    EXPECT_EQ(ours[i].empty(), python[i].empty())
        << paths[i] << "\n  assay:  " << ours[i] << "\n  python: " << python[i];
  }
  std::printf("%zu files compared\n", paths.size());
}

}  // namespace
}  // namespace assay
