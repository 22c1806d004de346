// Why a library cannot be loaded, said with what its file shows.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/hash.h"
#include "base/text.h"
#include "runtime/library.h"
#include "runtime/preflight.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostLibraries = 24;  // of one distribution
constexpr size_t kMostSymbols = 8;     // listed of one library
constexpr size_t kHashedBytes = size_t{1} << 30;

std::string hash_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  Hasher hasher;
  std::string buffer(1 << 20, '\0');
  size_t total = 0;
  while (file && total < kHashedBytes) {
    file.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    hasher.add(std::string_view(buffer).substr(0, static_cast<size_t>(file.gcount())));
    total += static_cast<size_t>(file.gcount());
  }
  return total == 0 ? "" : hasher.hex();
}

}  // namespace

LibraryRow examine_library(const std::string& path, const std::vector<std::string>& present) {
  LibraryRow row;
  row.path = path;
  row.hash = hash_of(path);
  auto check = check_library(path, present);
  if (!check) {
    row.fault = check.error().message;
    return row;
  }
  row.needed = check->needed;
  row.not_found = check->not_found;
  for (const std::string& symbol : check->missing) {
    if (row.missing.size() == kMostSymbols) {
      row.missing.push_back(fmt::format("and {} more", check->missing.size() - kMostSymbols));
      break;
    }
    row.missing.push_back(demangled(symbol));
  }
  return row;
}

namespace {

bool torch_names(const LibraryRow& row) {
  return std::any_of(row.needed.begin(), row.needed.end(), [](const std::string& name) {
    return name.starts_with("libtorch") || name.starts_with("libc10");
  });
}

// "torch==2.11.0" asks for another one than 2.13.0+cpu.
bool asks_for_another(const std::string& requirement, const std::string& torch) {
  std::string_view text = requirement;
  if (!text.starts_with("torch") || text.find("==") == std::string_view::npos || torch.empty()) return false;
  std::string_view wanted = trim(text.substr(text.find("==") + 2));
  wanted = wanted.substr(0, wanted.find_first_of(",;) "));
  if (wanted.ends_with(".*")) return !torch.starts_with(wanted.substr(0, wanted.size() - 1));
  return torch.substr(0, torch.find('+')) != wanted.substr(0, wanted.find('+'));
}

std::string about(const LibraryRow& row) {
  const std::string name = fs::path(row.path).filename().string();
  if (!row.fault.empty()) return row.fault;
  if (!row.not_found.empty()) return fmt::format("{} needs {}, which is nowhere to be found", name, fmt::join(row.not_found, ", "));
  if (!row.missing.empty()) return fmt::format("{} needs the symbol {}, which nothing defines that it is loaded with", name, fmt::join(row.missing, "; "));
  return "";
}

}  // namespace

std::string explain_import(const ImportFault& fault, const std::vector<std::string>& present, const std::string& torch,
                           std::vector<LibraryRow>& examined) {
  std::vector<std::string> files = fault.libraries;
  // The loader's message begins with the library's path.
  const std::string named = fault.message.substr(0, fault.message.find(": "));
  std::error_code error;
  if (named.starts_with('/') && fs::is_regular_file(named, error)) {
    std::erase(files, named);
    files.insert(files.begin(), named);
  }
  if (files.size() > kMostLibraries) files.resize(kMostLibraries);
  std::vector<std::string> known = present;
  known.insert(known.end(), fault.libraries.begin(), fault.libraries.end());
  std::string out;
  bool for_torch = false;
  for (const std::string& file : files) {
    LibraryRow row = examine_library(file, known);
    const std::string said = about(row);
    if (!said.empty()) out += (out.empty() ? "" : "; ") + said;
    for_torch |= torch_names(row);
    examined.push_back(std::move(row));
  }
  for (const std::string& requirement : fault.requires_) {
    if (!asks_for_another(requirement, torch)) continue;
    out += fmt::format("{}built for another torch: its distribution asks for {}, installed is {}", out.empty() ? "" : "; ", requirement, torch);
    for_torch = false;
  }
  if (for_torch && !out.empty() && !torch.empty()) out += fmt::format("; it is linked against torch, installed is {}", torch);
  return out;
}

}  // namespace assay
