#include "runtime/library.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <set>
#include <string_view>

#include "base/text.h"

namespace assay {
namespace {

namespace fs = std::filesystem;

// A file mapped for reading; every access is checked against its size, since the file may be anything.
class Image {
 public:
  ~Image() {
    if (bytes_ != nullptr) ::munmap(const_cast<char*>(bytes_), size_);
  }
  Image() = default;
  Image(const Image&) = delete;
  Image& operator=(const Image&) = delete;

  Expected<void> open(const std::string& path) {
    const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    struct stat info {};
    if (fd < 0 || ::fstat(fd, &info) != 0) {
      const int error = errno;
      if (fd >= 0) ::close(fd);
      return fail(printable(path) + ": cannot be read: " + std::strerror(error));
    }
    size_ = static_cast<size_t>(info.st_size);
    void* mapped = size_ > 0 && S_ISREG(info.st_mode) ? ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    ::close(fd);
    if (mapped == MAP_FAILED) return fail(printable(path) + ": not a shared library");
    bytes_ = static_cast<const char*>(mapped);
    return {};
  }
  // The object at `offset`, or false.
  template <class T>
  bool get(uint64_t offset, T& out) const {
    if (offset > size_ || size_ - offset < sizeof out) return false;
    std::memcpy(&out, bytes_ + offset, sizeof out);
    return true;
  }
  // The text that begins at `offset` and ends with a zero.
  std::string_view text(uint64_t offset) const {
    if (offset >= size_) return {};
    const void* end = std::memchr(bytes_ + offset, 0, size_ - offset);
    return end ? std::string_view(bytes_ + offset, static_cast<size_t>(static_cast<const char*>(end) - (bytes_ + offset))) : std::string_view();
  }

 private:
  const char* bytes_ = nullptr;
  size_t size_ = 0;
};

std::string machine_name(uint16_t machine) {
  if (machine == EM_X86_64) return "x86-64";
  return machine == EM_AARCH64 ? "aarch64" : fmt::format("machine {}", machine);
}

std::string with_origin(std::string_view entry, const std::string& path) {
  std::string out(entry);
  const std::string origin = fs::path(path).parent_path().string();
  for (std::string_view word : {"${ORIGIN}", "$ORIGIN"}) {
    for (size_t at; (at = out.find(word)) != std::string::npos;) out.replace(at, word.size(), origin);
  }
  return out;
}

void read_dynamic(const Image& image, const Elf64_Shdr& section, const Elf64_Shdr& names, const std::string& path, SharedLibrary& out) {
  for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size; at += sizeof(Elf64_Dyn)) {
    Elf64_Dyn entry;
    if (!image.get(section.sh_offset + at, entry) || entry.d_tag == DT_NULL) return;
    std::string_view text = image.text(names.sh_offset + entry.d_un.d_val);
    if (entry.d_tag == DT_NEEDED) out.needed.emplace_back(text);
    if (entry.d_tag == DT_SONAME) out.soname = text;
    if (entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH) {
      for (std::string_view part : split(text, ':')) out.search.push_back(with_origin(part, path));
    }
  }
}

void read_symbols(const Image& image, const Elf64_Shdr& section, const Elf64_Shdr& names, SharedLibrary& out) {
  for (uint64_t at = sizeof(Elf64_Sym); at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    if (!image.get(section.sh_offset + at, symbol)) return;
    std::string_view name = image.text(names.sh_offset + symbol.st_name);
    if (name.empty()) continue;
    if (symbol.st_shndx != SHN_UNDEF) {
      out.defined.emplace(name);
    } else if (ELF64_ST_BIND(symbol.st_info) == STB_GLOBAL) {  // a weak one may stay undefined
      out.undefined.emplace_back(name);
    }
  }
}

// The process's own folders for libraries; the loader's cache is not read, its folders are these on Debian and the like.
const std::vector<std::string>& system_folders() {
  static const std::vector<std::string> folders = {
      "/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib/aarch64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/lib64",
      "/usr/lib64", "/lib", "/usr/lib", "/usr/local/lib", "/usr/local/cuda/lib64", "/opt/maca/lib"};
  return folders;
}

bool is_file(const std::string& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

// Where the loader would find `name` for a library with this search path; empty: nowhere.
std::string find_library(const std::string& name, const std::vector<std::string>& search, const std::map<std::string, std::string>& present) {
  if (name.find('/') != std::string::npos) return is_file(name) ? name : "";
  for (const std::string& folder : search) {
    if (std::string path = folder + '/' + name; is_file(path)) return path;
  }
  if (auto it = present.find(name); it != present.end()) return it->second;
  for (const std::string& folder : system_folders()) {
    if (std::string path = folder + '/' + name; is_file(path)) return path;
  }
  return "";
}

}  // namespace

Expected<SharedLibrary> read_library(const std::string& path) {
  Image image;
  if (auto opened = image.open(path); !opened) return tl::make_unexpected(opened.error());
  Elf64_Ehdr header;
  auto no_library = [&](const char* why) { return fail(fmt::format("{}: not a shared library{}", printable(path), why)); };
  if (!image.get(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return no_library("");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) return no_library(" of 64 bits, little endian");
  SharedLibrary out;
  out.machine = machine_name(header.e_machine);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  for (size_t i = 0; i < sections.size(); ++i) {
    if (!image.get(header.e_shoff + i * header.e_shentsize, sections[i])) return no_library(": it is cut off");
  }
  bool dynamic = false;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_link >= sections.size()) continue;
    if (section.sh_type == SHT_DYNAMIC) {
      read_dynamic(image, section, sections[section.sh_link], path, out);
      dynamic = true;
    }
    if (section.sh_type == SHT_DYNSYM) read_symbols(image, section, sections[section.sh_link], out);
  }
  if (!dynamic) return no_library(": it has no dynamic section");
  std::sort(out.undefined.begin(), out.undefined.end());
  return out;
}

Expected<LibraryCheck> check_library(const std::string& path, const std::vector<std::string>& present) {
  auto library = read_library(path);
  if (!library) return tl::make_unexpected(library.error());
  std::map<std::string, std::string> loaded;  // by the name that a library is asked for
  for (const std::string& file : present) loaded.emplace(fs::path(file).filename().string(), file);
  LibraryCheck out;
  out.needed = library->needed;
  std::set<std::string> undefined(library->undefined.begin(), library->undefined.end());
  std::set<std::string> seen = {path};
  auto look_at = [&](const std::string& file, const SharedLibrary& other) {
    std::erase_if(undefined, [&](const std::string& symbol) { return other.defined.count(symbol) > 0; });
    out.searched.push_back(file);
  };
  // What it needs, and what that needs, as the loader does.
  struct Wish {
    std::string name;
    std::vector<std::string> search;
  };
  std::deque<Wish> wishes;
  for (const std::string& name : library->needed) wishes.push_back({name, library->search});
  while (!wishes.empty()) {
    Wish wish = std::move(wishes.front());
    wishes.pop_front();
    const std::string file = find_library(wish.name, wish.search, loaded);
    if (file.empty()) {
      if (std::find(out.not_found.begin(), out.not_found.end(), wish.name) == out.not_found.end()) out.not_found.push_back(wish.name);
      continue;
    }
    if (!seen.insert(file).second) continue;
    auto other = read_library(file);
    if (!other) continue;
    look_at(file, *other);
    std::vector<std::string> search = other->search;
    search.insert(search.end(), wish.search.begin(), wish.search.end());
    for (const std::string& name : other->needed) wishes.push_back({name, search});
  }
  for (const std::string& file : present) {
    if (undefined.empty()) break;
    if (!seen.insert(file).second) continue;
    if (auto other = read_library(file)) look_at(file, *other);
  }
  out.missing.assign(undefined.begin(), undefined.end());
  return out;
}

std::string demangled(const std::string& symbol) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text ? text.get() : symbol;
}

}  // namespace assay
