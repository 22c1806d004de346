// Fixtures of tests/golden/: one construct each, a small plugin and a small vLLM, looked at by every rule.
// Files named wrong… (and files in such folders) hold the faults; every other file is right, and neither
// errors nor warnings may stand there.
//
// A fixture is a text file: what it is about, then sections `== path`, then `== expected`, which
// UPDATE_GOLDEN=1 writes anew. Paths under vllm are the target's, all others the plugin's; `== path * 1000`
// repeats the text. common.inc holds what every fixture starts from. Packages get their __init__.py, and the
// plugin's registers by importing each module, and takes all that is in it (nothing there is code that nobody calls).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "report/parts.h"
#include "review/group.h"
#include "review/run.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSection = "== ";
constexpr std::string_view kKnownGap = "# known gap";

std::string read(const fs::path& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void write(const fs::path& path, std::string_view text) {
  fs::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

struct Fixture {
  std::string head;  // what stands above the first section
  std::vector<std::pair<std::string, std::string>> sections;
};

Fixture parse(const std::string& text) {
  Fixture out;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kSection)) {
      out.sections.emplace_back(line.substr(kSection.size()), "");
    } else {
      (out.sections.empty() ? out.head : out.sections.back().second) += line + "\n";
    }
  }
  return out;
}

std::string repeated(const std::string& text, size_t times) {
  std::string out;
  out.reserve(text.size() * times);
  while (times-- > 0) out += text;
  return out;
}

using FilesByPath = std::map<std::string, std::string>;

void take_files(const Fixture& fixture, FilesByPath& files) {
  for (const auto& [title, text] : fixture.sections) {
    size_t star = title.find(" * ");
    if (title == "expected") continue;
    if (star == std::string::npos)
      files[title] = text;
    else
      files[title.substr(0, star)] = repeated(text, std::stoul(title.substr(star + 3)));
  }
}

// The parts that every fixture would write down in the same way.
void complete(FilesByPath& files) {
  std::set<std::string> packages;
  std::string imports;
  for (const auto& [path, text] : files) {
    if (!path.ends_with(".py")) continue;
    fs::path folder = fs::path(path).parent_path();
    if (folder == "demo" && path != "demo/__init__.py")
      imports += "    import demo." + fs::path(path).stem().string() + "\n    vars(demo." + fs::path(path).stem().string() + ")\n";
    for (; !folder.empty(); folder = folder.parent_path()) packages.insert(folder.string());
  }
  files.try_emplace("demo/__init__.py", "def register():\n" + imports);
  for (const std::string& package : packages) files.try_emplace(package + "/__init__.py", "");
}

bool is_wrong(const std::string& file) {
  const fs::path path = file;
  return std::any_of(path.begin(), path.end(),
                     [](const fs::path& part) { return part.string().starts_with("wrong"); });
}

std::string line_of(const Finding& f) {
  std::string out = place(f.location) + ": " + to_string(f.level) + "[" + f.rule + "] " + f.message;
  for (const Site& site : f.sites) out += "\n  also " + place(site.location);
  return out + "\n";
}

std::string shown(const Report& report) {
  std::string out;
  for (const Finding& f : report.findings) out += line_of(f);
  for (const Unknown& u : report.unknown)
    // A small vLLM has few of the extension points that the catalog knows.
    if (u.location.line == 0 && !u.reason.starts_with("a way to register")) out += "not analysed: " + u.what + ": " + u.reason + "\n";
  return out;
}

class Golden : public testing::TestWithParam<std::string> {
 protected:
  Golden()
      : folder_(fs::temp_directory_path() /
                ("assay-golden-" + std::to_string(::getpid()) + "-" + GetParam())) {
    fs::remove_all(folder_);
  }
  ~Golden() override { fs::remove_all(folder_); }

  Report check(const FilesByPath& files) {
    for (const auto& [path, text] : files)
      write(folder_ / (path.starts_with("vllm") ? "target" : "plugin") / path, text);
    RunOptions options;
    options.plugin = (folder_ / "plugin").string();
    options.target = (folder_ / "target").string();
    options.use_cache = false;
    options.jobs = 1;
    auto report = run_check(options);
    if (!report) {
      ADD_FAILURE() << report.error().message;
      return {};
    }
    finish_report(*report);
    return std::move(*report);
  }

  fs::path folder_;
};

TEST_P(Golden, Check) {
  const fs::path path = fs::path(ASSAY_GOLDEN) / (GetParam() + ".txt");
  Fixture fixture = parse(read(path));
  FilesByPath files;
  take_files(parse(read(fs::path(ASSAY_GOLDEN) / "common.inc")), files);
  take_files(fixture, files);
  complete(files);
  Report report = check(files);

  std::string text = shown(report);
  if (std::getenv("UPDATE_GOLDEN") != nullptr) {
    std::string whole = fixture.head;
    for (const auto& [title, body] : fixture.sections)
      if (title != "expected") whole += std::string(kSection) + title + "\n" + body;
    write(path, whole + std::string(kSection) + "expected\n" + text);
  } else {
    ASSERT_FALSE(fixture.sections.empty());
    ASSERT_EQ(fixture.sections.back().first, "expected");
    EXPECT_EQ(text, fixture.sections.back().second);
  }

  // What no renewing may hide: a false finding, or a fault that is not found.
  if (fixture.head.starts_with(kKnownGap)) return;
  std::set<std::string> silent;
  for (const auto& [name, body] : files)
    if (is_wrong(name)) silent.insert(name);
  const bool has_wrong = !silent.empty();
  for (const Finding& f : report.findings) {
    silent.erase(f.location.file);
    // The entry point that imports what is wrong raises with it.
    bool follows = has_wrong && f.location.file == "pyproject.toml" && f.rule == "entry-point-broken";
    bool loud = f.level != Level::kNote;
    EXPECT_FALSE(loud && !follows && !is_wrong(f.location.file)) << "a false finding: " << line_of(f);
  }
  for (const std::string& file : silent) ADD_FAILURE() << "nothing is found in " << file;
}

std::vector<std::string> fixtures() {
  std::vector<std::string> out;
  for (const auto& entry : fs::directory_iterator(ASSAY_GOLDEN))
    if (entry.path().extension() == ".txt") out.push_back(entry.path().stem().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::string test_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Constructs, Golden, testing::ValuesIn(fixtures()), test_name);

}  // namespace
}  // namespace assay
