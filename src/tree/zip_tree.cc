#include "tree/zip_tree.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>

#include "base/hash.h"
#include "base/text.h"
#include "tree/archive_path.h"

namespace assay {
namespace {

constexpr uint64_t kMaxDirectory = 256 << 20;
constexpr uint64_t kMaxRead = 256 << 20;    // of one member, inflated
constexpr uint64_t kBombSize = 64 << 20;    // a member that is larger than this inflated …
constexpr uint64_t kBombRatio = 200;        // … and shrank more than this is not source code
constexpr uint64_t kDeflateRatio = 1032;    // the most that the format can do
constexpr uint64_t kMaxTotal = 1ULL << 40;  // of all members, inflated

constexpr size_t kEndSize = 22, kEnd64Size = 56, kLocatorSize = 20, kCentralSize = 46, kLocalSize = 30;
constexpr uint32_t kEndMagic = 0x06054b50, kEnd64Magic = 0x06064b50, kLocatorMagic = 0x07064b50,
                   kCentralMagic = 0x02014b50, kLocalMagic = 0x04034b50;

// Little-endian numbers; the caller has checked that they lie within.
template <class T>
T number(std::string_view bytes, size_t at) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<T>(static_cast<unsigned char>(bytes[at + i])) << (8 * i));
  }
  return value;
}
uint16_t u16(std::string_view bytes, size_t at) { return number<uint16_t>(bytes, at); }
uint32_t u32(std::string_view bytes, size_t at) { return number<uint32_t>(bytes, at); }
uint64_t u64(std::string_view bytes, size_t at) { return number<uint64_t>(bytes, at); }

struct Member {
  uint64_t offset = 0;  // of its local header
  uint64_t packed = 0;  // bytes in the archive
  uint64_t size = 0;
  uint32_t crc = 0;
  uint16_t method = 0;
  std::string name;  // as stored, before a top folder is stripped
};

class ZipTree : public Tree {
 public:
  ZipTree(int fd, std::string spec) : identity_{std::move(spec), "zip", "", ""}, fd_(fd) {}
  ~ZipTree() override { ::close(fd_); }
  const TreeIdentity& identity() const override { return identity_; }
  const std::vector<TreeEntry>& entries() const override { return entries_; }
  const std::vector<Skipped>& skipped() const override { return skipped_; }
  Expected<Blob> read(const TreeEntry& entry) const override;

  Expected<void> list(bool wheel);

 private:
  bool read_at(uint64_t offset, char* into, size_t size) const;
  Expected<std::string> directory();  // finds and loads the central directory
  Expected<void> add_members(std::string_view central);
  std::string fault_of(const Member& member, uint16_t flags, uint16_t made_by, uint32_t attributes) const;
  Expected<void> check_overlaps() const;
  tl::unexpected<Error> bad(const std::string& what) const {
    return fail(printable(identity_.spec) + ": " + what);
  }

  TreeIdentity identity_;
  int fd_;
  uint64_t file_size_ = 0;
  uint64_t directory_offset_ = 0;
  std::vector<TreeEntry> entries_;
  std::vector<Member> members_;  // of the entry at the same index
  std::vector<Skipped> skipped_;
};

bool ZipTree::read_at(uint64_t offset, char* into, size_t size) const {
  while (size > 0) {
    const ssize_t got = ::pread(fd_, into, size, static_cast<off_t>(offset));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    offset += static_cast<uint64_t>(got);
    into += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

Expected<std::string> ZipTree::directory() {
  struct stat info {};
  if (::fstat(fd_, &info) != 0 || !S_ISREG(info.st_mode)) return bad("not a regular file");
  file_size_ = static_cast<uint64_t>(info.st_size);
  // The end record is the last thing but for a comment of up to 64 kB.
  std::string tail(std::min<uint64_t>(file_size_, kEndSize + 65535), '\0');
  const uint64_t tail_offset = file_size_ - tail.size();
  if (!read_at(tail_offset, tail.data(), tail.size())) return bad("truncated while being read");
  size_t end = std::string::npos;
  for (size_t at = tail.size() < kEndSize ? 0 : tail.size() - kEndSize + 1; at-- > 0;) {
    if (u32(tail, at) == kEndMagic && at + kEndSize + u16(tail, at + 20) == tail.size()) {
      end = at;
      break;
    }
  }
  if (end == std::string::npos) {
    return bad("truncated archive: the directory at its end is missing");
  }
  uint64_t size = u32(tail, end + 12);
  uint64_t offset = u32(tail, end + 16);
  if (end >= kLocatorSize && u32(tail, end - kLocatorSize) == kLocatorMagic) {
    char record[kEnd64Size];
    const uint64_t at = u64(tail, end - kLocatorSize + 8);
    const std::string_view view(record, sizeof record);
    if (at > file_size_ || !read_at(at, record, sizeof record) || u32(view, 0) != kEnd64Magic) {
      return bad("damaged archive: its zip64 end record is missing");
    }
    size = u64(view, 40);
    offset = u64(view, 48);
  }
  if (offset > file_size_ || size > file_size_ - offset) {
    return bad("damaged archive: its directory lies outside the file");
  }
  if (size > kMaxDirectory) return bad("its directory alone is larger than 256 MB");
  directory_offset_ = offset;
  std::string central(size, '\0');
  if (!read_at(offset, central.data(), size)) return bad("truncated while being read");
  return central;
}

std::string ZipTree::fault_of(const Member& member, uint16_t flags, uint16_t made_by,
                              uint32_t attributes) const {
  if (std::string fault = archive_path_fault(member.name); !fault.empty()) return fault;
  if (flags & 1) return "encrypted";
  const bool unix_made = made_by >> 8 == 3;
  if (unix_made && S_ISLNK(attributes >> 16)) return "symbolic link in an archive";
  if (member.method != 0 && member.method != 8) {
    return "compression method " + std::to_string(member.method) + " is not supported";
  }
  if (member.offset > directory_offset_ || member.packed > directory_offset_ - member.offset) {
    return "its data lie outside the archive";
  }
  const uint64_t most_packed = member.size + member.size / 8 + 1024;
  if (member.method == 0 ? member.packed != member.size
                         : member.size / kDeflateRatio > member.packed || member.packed > most_packed) {
    return "its sizes contradict each other";
  }
  if (member.size > kBombSize && member.size / kBombRatio > member.packed) {
    return "would unpack from " + byte_size_text(member.packed) + " to " + byte_size_text(member.size) +
           ": refused as a zip bomb";
  }
  return {};
}

Expected<void> ZipTree::add_members(std::string_view central) {
  uint64_t total = 0;
  for (size_t at = 0; at < central.size();) {
    if (central.size() - at < kCentralSize || u32(central, at) != kCentralMagic) {
      return bad("damaged archive: its directory is not readable");
    }
    const size_t name_size = u16(central, at + 28);
    const size_t extra_size = u16(central, at + 30);
    const size_t whole = kCentralSize + name_size + extra_size + u16(central, at + 32);
    if (central.size() - at < whole) return bad("damaged archive: its directory is not readable");
    Member member;
    member.method = u16(central, at + 10);
    member.crc = u32(central, at + 16);
    member.packed = u32(central, at + 20);
    member.size = u32(central, at + 24);
    member.offset = u32(central, at + 42);
    member.name = central.substr(at + kCentralSize, name_size);
    // zip64: the fields that are all ones stand, in this order, in an extra record.
    for (std::string_view extra = central.substr(at + kCentralSize + name_size, extra_size);
         extra.size() >= 4;) {
      const uint16_t id = u16(extra, 0);
      std::string_view data = extra.substr(4, u16(extra, 2));
      for (uint64_t* field : {&member.size, &member.packed, &member.offset}) {
        if (id != 1 || *field != 0xFFFFFFFF || data.size() < 8) continue;
        *field = u64(data, 0);
        data.remove_prefix(8);
      }
      extra.remove_prefix(std::min(extra.size(), size_t{4} + u16(extra, 2)));
    }
    const uint16_t flags = u16(central, at + 8);
    const uint16_t made_by = u16(central, at + 4);
    const uint32_t attributes = u32(central, at + 38);
    at += whole;

    if (member.name.ends_with('/') && member.size == 0) continue;  // a folder
    if (members_.size() + skipped_.size() >= kMaxArchiveEntries) return bad("more than 1,000,000 files");
    if (std::string fault = fault_of(member, flags, made_by, attributes); !fault.empty()) {
      skipped_.push_back({printable(member.name), std::move(fault)});
      continue;
    }
    total += member.size;
    if (total > kMaxTotal) return bad("would unpack to more than 1 TB");
    members_.push_back(std::move(member));
  }
  return {};
}

// A famous kind of zip bomb lets many members share the same bytes.
Expected<void> ZipTree::check_overlaps() const {
  std::vector<const Member*> order;
  for (const Member& member : members_) order.push_back(&member);
  std::sort(order.begin(), order.end(), [](auto* a, auto* b) { return a->offset < b->offset; });
  for (size_t i = 1; i < order.size(); ++i) {
    const Member& before = *order[i - 1];
    if (order[i]->offset - before.offset < kLocalSize + before.name.size() + before.packed) {
      return bad("not an honest zip archive: '" + printable(before.name) + "' and '" +
                 printable(order[i]->name) + "' share the same bytes");
    }
  }
  return {};
}

Expected<void> ZipTree::list(bool wheel) {
  auto central = directory();
  if (!central) return tl::unexpected<Error>(central.error());
  identity_.digest = content_hash(*central);
  if (auto added = add_members(*central); !added) return added;
  if (auto honest = check_overlaps(); !honest) return honest;

  std::stable_sort(members_.begin(), members_.end(),
                   [](const Member& a, const Member& b) { return a.name < b.name; });
  // What unpacks an archive lets the last of several equal names win.
  std::vector<Member> unique;
  for (Member& member : members_) {
    if (!unique.empty() && unique.back().name == member.name) {
      skipped_.push_back({member.name, "listed more than once in the archive; the last one counts"});
      unique.back() = std::move(member);
    } else {
      unique.push_back(std::move(member));
    }
  }
  members_ = std::move(unique);
  for (const Member& member : members_) entries_.push_back({member.name, member.size, ""});
  const std::string top = wheel ? "" : project_top_folder(entries_);
  for (TreeEntry& entry : entries_) entry.path.erase(0, top.size());
  if (wheel) {
    identity_.kind = "wheel";
  } else if (find("PKG-INFO")) {
    identity_.kind = "sdist";
  }
  std::sort(skipped_.begin(), skipped_.end(),
            [](const Skipped& a, const Skipped& b) { return a.path < b.path; });
  return {};
}

// Into exactly `size` bytes; what is wrong with the data, or empty.
std::string inflate_into(std::string_view packed, std::string& out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return "cannot be unpacked: out of memory";
  // Of an empty member, zlib wants a place to write nothing to.
  char nothing = 0;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.empty() ? &nothing : out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = ::inflate(&stream, Z_FINISH);
  const bool full = stream.avail_out == 0;
  inflateEnd(&stream);
  if (result == Z_STREAM_END) return full ? "" : "unpacks to fewer bytes than the archive says";
  if (result == Z_BUF_ERROR && full) return "unpacks to more bytes than the archive says";
  return "damaged in the archive";
}

Expected<Blob> ZipTree::read(const TreeEntry& entry) const {
  const TreeEntry* listed = find(entry.path);
  if (!listed) return fail(entry.path + ": no such file in this archive");
  const Member& member = members_[static_cast<size_t>(listed - entries_.data())];
  if (member.size > kMaxRead) {
    return fail(entry.path + ": " + byte_size_text(member.size) + " are too many to be unpacked");
  }
  char header[kLocalSize];
  const std::string_view local(header, sizeof header);
  if (!read_at(member.offset, header, sizeof header)) return fail(entry.path + ": truncated in the archive");
  const uint64_t name_size = local.substr(0, 4) == "PK\3\4" ? u16(local, 26) : 0;
  std::string name(name_size, '\0');
  if (!read_at(member.offset + kLocalSize, name.data(), name.size()) || name != member.name) {
    return fail(entry.path + ": damaged in the archive: its two headers differ");
  }
  const uint64_t data = member.offset + kLocalSize + name_size + u16(local, 28);
  if (data > directory_offset_ || member.packed > directory_offset_ - data) {
    return fail(entry.path + ": truncated in the archive");
  }
  std::string packed(member.packed, '\0');
  if (!read_at(data, packed.data(), packed.size())) return fail(entry.path + ": truncated in the archive");
  std::string bytes;
  if (member.method == 0) {
    bytes = std::move(packed);
  } else {
    bytes.resize(member.size);
    if (std::string fault = inflate_into(packed, bytes); !fault.empty())
      return fail(entry.path + ": " + fault);
  }
  const uLong crc = ::crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size());
  if (crc != member.crc) return fail(entry.path + ": damaged in the archive: wrong checksum");
  return Blob(std::move(bytes));
}

}  // namespace

Expected<std::unique_ptr<Tree>> open_zip(const std::string& path, const std::string& spec) {
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return fail(printable(spec) + ": " + std::strerror(errno));
  auto tree = std::make_unique<ZipTree>(fd, spec);
  if (auto listed = tree->list(path.ends_with(".whl")); !listed) return tl::unexpected<Error>(listed.error());
  return tree;
}

}  // namespace assay
