#include "git/pypi.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "base/process.h"
#include "base/text.h"
#include "tree/archive_tree.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

bool only(std::string_view text, std::string_view more) {
  return !text.empty() && std::isalnum(static_cast<unsigned char>(text[0])) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           return std::isalnum(static_cast<unsigned char>(c)) || more.find(c) != std::string_view::npos;
         });
}

// Names compare without case and with '-', '_' and '.' alike.
std::string normalised(std::string_view name) {
  std::string out;
  for (char c : name) {
    out += c == '_' || c == '.' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return out;
}

// The archive in a folder that pip has filled; empty if there is none.
std::string archive_in(const fs::path& folder) {
  std::string found;
  std::error_code error;
  for (const auto& item : fs::directory_iterator(folder, error)) {
    const std::string path = item.path().string();
    if (!is_archive_name(path)) continue;
    if (found.empty() || (path.ends_with(".whl") && !found.ends_with(".whl"))) found = path;
  }
  return found;
}

// What pip is asked for, one after the other. Each try takes a second or more.
std::vector<std::vector<std::string>> attempts(const std::string& package) {
  utsname machine{};
  ::uname(&machine);
  const bool arm = std::string_view(machine.machine) == "aarch64";
  const std::string ours = arm ? "_aarch64" : "_x86_64", theirs = arm ? "_x86_64" : "_aarch64";
  const std::pair<std::string, std::string> kinds[] = {
      {"3.12", ours}, {"3.11", ours}, {"3.10", ours}, {"3.13", ours}, {"3.12", theirs}};

  std::vector<std::vector<std::string>> all = {{"--only-binary=:all:"}};
  for (const auto& [version, cpu] : kinds) {
    std::vector<std::string>& options = all.emplace_back();
    options = {"--only-binary=:all:",
               "--implementation",
               "cp",
               "--python-version",
               version,
               "--abi",
               "abi3",
               "--abi",
               "none",
               "--abi",
               "cp3" + version.substr(2)};
    // pip takes these by their letters; that a newer one includes the older it doesn't know here.
    for (const char* libc :
         {"linux", "manylinux1", "manylinux2010", "manylinux2014", "manylinux_2_17", "manylinux_2_24",
          "manylinux_2_26", "manylinux_2_27", "manylinux_2_28", "manylinux_2_31", "manylinux_2_34",
          "manylinux_2_35", "manylinux_2_38", "manylinux_2_39"}) {
      options.insert(options.end(), {"--platform", libc + cpu});
    }
  }
  all.push_back({"--no-binary", package});
  return all;
}

// pip's last line about an error, without whatever stands before an '@' in a URL.
std::string complaint_of(const std::string& output) {
  std::string_view last, last_error;
  for (std::string_view line : split(output, '\n')) {
    line = trim(line);
    if (line.empty() || line.starts_with("[notice]")) continue;
    last = line;
    if (line.starts_with("ERROR:")) last_error = line;
  }
  return printable(without_credentials(last_error.empty() ? last : trim(last_error.substr(6))));
}

// Another machine or another Python might find one; a network that doesn't answer won't be better the next
// time.
bool worth_another_try(const std::string& output, const std::string& complaint) {
  return output.find("Retrying (Retry(") == std::string::npos &&
         (complaint.find("No matching distribution") != std::string::npos ||
          complaint.find("Could not find a version") != std::string::npos);
}

}  // namespace

Expected<std::string> fetch_release(const std::string& requirement, const std::string& python,
                                    const std::string& cache_dir, const std::string& spec) {
  const std::string shown = printable(without_credentials(spec));
  const size_t equals = requirement.find("==");
  const std::string name = requirement.substr(0, equals);
  const std::string version = equals == std::string::npos ? "" : requirement.substr(equals + 2);
  // Nothing else may reach pip's command line: no option, no URL, no path.
  if (!only(name, "._-") || !only(version, ".!+_-")) return fail(shown + ": wants pypi:NAME==VERSION");

  const fs::path release = fs::path(cache_dir) / "pypi" / (normalised(name) + "-" + version);
  if (std::string found = archive_in(release); !found.empty()) return found;

  // pip fills a folder of our own, which then takes its place in one step: two runs at once don't meet.
  std::error_code error;
  fs::create_directories(release.parent_path(), error);
  std::string pattern = release.string() + ".XXXXXX";
  if (error || !::mkdtemp(pattern.data())) {
    return fail(ErrorKind::kIncomplete,
                shown + ": the cache folder cannot be written: " + printable(cache_dir));
  }
  const fs::path folder = pattern;
  std::string complaint;
  for (const std::vector<std::string>& options : attempts(name)) {
    Command command;
    command.argv = {python,
                    "-m",
                    "pip",
                    "download",
                    "--no-deps",
                    "--no-input",
                    "--disable-pip-version-check",
                    "--progress-bar",
                    "off",
                    "--dest",
                    folder.string()};
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    command.argv.push_back(name + "==" + version);
    command.timeout = std::chrono::minutes(30);
    auto result = run_process(command);
    if (!result) {
      fs::remove_all(folder, error);
      return fail(result.error().kind, shown + ": " + result.error().message);
    }
    if (result->exit_status == 0 && !archive_in(folder).empty()) break;
    complaint = result->timed_out ? "no answer within 30 minutes" : complaint_of(result->err);
    if (!worth_another_try(result->err, complaint)) break;
  }
  if (archive_in(folder).empty()) {
    fs::remove_all(folder, error);
    return fail(shown + ": pip could not fetch it: " + complaint);
  }
  fs::rename(folder, release, error);
  if (error) fs::remove_all(folder, error);  // another run was first
  if (std::string found = archive_in(release); !found.empty()) return found;
  return fail(ErrorKind::kIncomplete,
              shown + ": the cache folder cannot be written: " + printable(cache_dir));
}

}  // namespace assay
