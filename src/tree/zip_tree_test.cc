#include "tree/zip_tree.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <zlib.h>

#include "tree/temp_folder.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One member, whose every field a test can make lie.
struct Member {
  std::string name;
  std::string content = "";
  bool deflated = false;
  std::string local_name = "";  // when not empty, what the local header says instead
  uint16_t flags = 0;
  int method = -1;
  int64_t size = -1;
  int64_t packed_size = -1;
  int64_t crc = -1;
  int64_t offset = -1;
  uint32_t mode = S_IFREG | 0644;
};

std::string little(uint64_t value, int bytes) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out += i < 8 ? static_cast<char>(value >> (8 * i)) : 0;
  return out;
}

std::string deflated(const std::string& content) {
  std::string out(compressBound(content.size()) + 64, '\0');
  z_stream stream{};
  deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string zip_of(const std::vector<Member>& members) {
  std::string data, central;
  for (const Member& m : members) {
    const std::string packed = m.deflated ? deflated(m.content) : m.content;
    const uint64_t offset = m.offset >= 0 ? m.offset : data.size();
    const auto crc = crc32(0, reinterpret_cast<const Bytef*>(m.content.data()), m.content.size());
    const std::string& local_name = m.local_name.empty() ? m.name : m.local_name;
    std::string fields = little(m.flags, 2) +
                         little(m.method >= 0 ? m.method
                                : m.deflated  ? 8
                                              : 0,
                                2) +
                         little(0, 4) + little(m.crc >= 0 ? m.crc : crc, 4) +
                         little(m.packed_size >= 0 ? m.packed_size : packed.size(), 4) +
                         little(m.size >= 0 ? m.size : m.content.size(), 4);
    data +=
        "PK\3\4" + little(20, 2) + fields + little(local_name.size(), 2) + little(0, 2) + local_name + packed;
    central += "PK\1\2" + little(3 << 8 | 20, 2) + little(20, 2) + fields + little(m.name.size(), 2) +
               little(0, 8) + little(uint64_t{m.mode} << 16, 4) + little(offset, 4) + m.name;
  }
  const std::string end = "PK\5\6" + little(0, 4) + little(members.size(), 2) + little(members.size(), 2) +
                          little(central.size(), 4) + little(data.size(), 4) + little(0, 2);
  return data + central + end;
}

class ZipTreeTest : public ::testing::Test {
 protected:
  Expected<std::unique_ptr<Tree>> open_bytes(const std::string& bytes, const std::string& name = "p.whl") {
    folder_.write(name, bytes);
    return open_zip(folder_ / name, name);
  }
  std::unique_ptr<Tree> open(const std::vector<Member>& members, const std::string& name = "p.whl") {
    auto tree = open_bytes(zip_of(members), name);
    EXPECT_TRUE(tree) << tree.error().message;
    return std::move(*tree);
  }
  std::string error_of(const std::string& bytes) {
    auto tree = open_bytes(bytes);
    return tree ? "no error" : tree.error().message;
  }

  TempFolder folder_;
};

TEST_F(ZipTreeTest, AWheelIsReadAsItIs) {
  const std::string text(5000, 'x');
  auto tree = open({{"p/b.py", text, true},
                    {"p/__init__.py", ""},
                    {"p/empty.py", "", true},
                    {"p/", ""},
                    {"p/_C.so",
                     "\x7f"
                     "ELF"},
                    {"p-1.0.dist-info/METADATA", "Name: p\n"}});
  EXPECT_THAT(paths_of(*tree),
              ElementsAre("p-1.0.dist-info/METADATA", "p/_C.so", "p/__init__.py", "p/b.py", "p/empty.py"));
  EXPECT_THAT(skips_of(*tree), IsEmpty());
  EXPECT_EQ(text_of(*tree, "p/b.py"), text);
  EXPECT_EQ(text_of(*tree, "p/__init__.py"), "");
  EXPECT_EQ(text_of(*tree, "p/empty.py"), "");
  EXPECT_EQ(tree->find("p/b.py")->size, 5000u);
  EXPECT_EQ(tree->identity().kind, "wheel");
  EXPECT_EQ(tree->identity().digest.size(), 32u);
}

TEST_F(ZipTreeTest, TheDigestChangesWithTheContent) {
  const std::string a = open({{"a.py", "a"}})->identity().digest;
  EXPECT_EQ(open({{"a.py", "a"}})->identity().digest, a);
  EXPECT_NE(open({{"a.py", "b"}})->identity().digest, a);
}

TEST_F(ZipTreeTest, TheTopFolderOfASourceReleaseIsStripped) {
  auto tree = open({{"p-1.0/PKG-INFO", "Name: p\n"}, {"p-1.0/p/a.py", "a"}}, "p-1.0.zip");
  EXPECT_THAT(paths_of(*tree), ElementsAre("PKG-INFO", "p/a.py"));
  EXPECT_EQ(text_of(*tree, "p/a.py"), "a");
  EXPECT_EQ(tree->identity().kind, "sdist");
  tree = open({{"p/__init__.py", ""}, {"p/a.py", "a"}}, "p.zip");
  EXPECT_THAT(paths_of(*tree), ElementsAre("p/__init__.py", "p/a.py"));
  EXPECT_EQ(tree->identity().kind, "zip");
}

TEST_F(ZipTreeTest, PathsThatClimbOut) {
  auto tree = open({{"../up.py"},
                    {"a/../../up.py"},
                    {"/etc/abs.py"},
                    {"C:/drive.py"},
                    {"a\\b.py"},
                    {"a//b.py"},
                    {"./a.py"},
                    {"bad\xff.py"},
                    {std::string("nul\0.py", 7)},
                    {"ok.py"}});
  EXPECT_THAT(paths_of(*tree), ElementsAre("ok.py"));
  EXPECT_THAT(skips_of(*tree),
              ElementsAre("../up.py: path climbs out of the archive", "./a.py: path is not normalised",
                          "/etc/abs.py: path is absolute", "C:/drive.py: path names a drive",
                          "a/../../up.py: path climbs out of the archive", "a//b.py: path is not normalised",
                          "a\\b.py: path contains a backslash", "bad\\xff.py: path is not valid UTF-8",
                          "nul\\x00.py: path contains a NUL byte"));
}

TEST_F(ZipTreeTest, MembersThatCannotBeRead) {
  auto tree = open({{.name = "crypt.py", .content = "x", .flags = 1},
                    {.name = "link.py", .content = "/etc/passwd", .mode = S_IFLNK | 0777},
                    {.name = "lzma.py", .content = "x", .method = 14}});
  EXPECT_THAT(paths_of(*tree), IsEmpty());
  EXPECT_THAT(skips_of(*tree), ElementsAre("crypt.py: encrypted", "link.py: symbolic link in an archive",
                                           "lzma.py: compression method 14 is not supported"));
}

TEST_F(ZipTreeTest, Duplicates) {
  auto tree = open({{"a.py", "first"}, {"a.py", "last"}});
  EXPECT_THAT(paths_of(*tree), ElementsAre("a.py"));
  EXPECT_EQ(text_of(*tree, "a.py"), "last");
  EXPECT_THAT(skips_of(*tree),
              ElementsAre("a.py: listed more than once in the archive; the last one counts"));
}

TEST_F(ZipTreeTest, Bombs) {
  auto tree =
      open({{.name = "bomb.py", .content = std::string(100 << 20, '\0'), .deflated = true}, {"ok.py", "x"}});
  EXPECT_THAT(paths_of(*tree), ElementsAre("ok.py"));
  EXPECT_THAT(skips_of(*tree),
              ElementsAre("bomb.py: would unpack from 102 kB to 105 MB: refused as a zip bomb"));
  // Many members over the same bytes.
  EXPECT_EQ(error_of(zip_of({{.name = "a.py", .content = std::string(1000, 'x')},
                             {.name = "b.py", .content = std::string(1000, 'x'), .offset = 0}})),
            "p.whl: not an honest zip archive: 'a.py' and 'b.py' share the same bytes");
}

TEST_F(ZipTreeTest, LyingSizes) {
  const std::string text(3000, 'x');
  auto tree = open({{.name = "less.py", .content = text, .deflated = true, .size = 2000},
                    {.name = "more.py", .content = text, .deflated = true, .size = 4000},
                    {.name = "huge.py", .content = text, .deflated = true, .size = 1 << 30},
                    {.name = "stored.py", .content = text, .size = 10},
                    {.name = "far.py", .content = text, .packed_size = 1 << 30, .offset = 5},
                    {.name = "cut.py", .content = text, .deflated = true, .packed_size = 5}});
  EXPECT_THAT(skips_of(*tree), ElementsAre("far.py: its data lie outside the archive",
                                           "huge.py: its sizes contradict each other",
                                           "stored.py: its sizes contradict each other"));
  EXPECT_EQ(text_of(*tree, "less.py"), "less.py: unpacks to more bytes than the archive says");
  EXPECT_EQ(text_of(*tree, "more.py"), "more.py: unpacks to fewer bytes than the archive says");
  EXPECT_EQ(text_of(*tree, "cut.py"), "cut.py: damaged in the archive");
}

TEST_F(ZipTreeTest, DamagedMembers) {
  auto tree = open({{.name = "crc.py", .content = "x", .crc = 1},
                    {.name = "name.py", .content = "x", .local_name = "evil.py"},
                    {.name = "method.py", .content = "not deflated data", .method = 8}});
  EXPECT_EQ(text_of(*tree, "crc.py"), "crc.py: damaged in the archive: wrong checksum");
  EXPECT_EQ(text_of(*tree, "name.py"), "name.py: damaged in the archive: its two headers differ");
  EXPECT_EQ(text_of(*tree, "method.py"), "method.py: damaged in the archive");
}

TEST_F(ZipTreeTest, TruncatedAtEveryByte) {
  const std::string whole = zip_of({{"a.py", "aaaa", true}, {"b.py", "bbbb"}});
  for (size_t size = 0; size < whole.size(); ++size) {
    ASSERT_EQ(error_of(whole.substr(0, size)),
              "p.whl: truncated archive: the directory at its end is missing");
  }
}

TEST_F(ZipTreeTest, EveryByteFlipped) {
  const std::string whole = zip_of({{"a.py", "aaaaaaaaaaaaaaaaaaaaaaaa", true}, {"b.py", "bbbb"}});
  for (size_t i = 0; i < whole.size(); ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      std::string bytes = whole;
      bytes[i] = static_cast<char>(bytes[i] ^ 1 << bit);
      auto tree = open_bytes(bytes);
      if (!tree) continue;
      for (const TreeEntry& entry : (*tree)->entries()) (void)(*tree)->read(entry);
    }
  }
}

TEST_F(ZipTreeTest, DirectoryThatLies) {
  const std::string whole = zip_of({{"a.py", "aaaa"}});
  std::string bytes = whole;
  bytes.replace(bytes.size() - 10, 4, little(0, 4));  // size of the directory
  EXPECT_THAT(paths_of(**open_bytes(bytes)), IsEmpty());
  bytes = whole;
  bytes.replace(bytes.size() - 6, 4, little(0x7fffffff, 4));  // its offset
  EXPECT_EQ(error_of(bytes), "p.whl: damaged archive: its directory lies outside the file");
  bytes.replace(bytes.size() - 6, 4, little(1, 4));
  EXPECT_EQ(error_of(bytes), "p.whl: damaged archive: its directory is not readable");
}

TEST_F(ZipTreeTest, Zip64) {
  const std::string name = "a.py", content = "a = 1\n";
  const auto crc = crc32(0, reinterpret_cast<const Bytef*>(content.data()), content.size());
  const std::string fields = little(0, 2) + little(0, 2) + little(0, 4) + little(crc, 4);
  const std::string local = "PK\3\4" + little(45, 2) + fields + little(content.size(), 4) +
                            little(content.size(), 4) + little(name.size(), 2) + little(0, 2) + name +
                            content;
  const std::string extra =
      little(1, 2) + little(24, 2) + little(content.size(), 8) + little(content.size(), 8) + little(0, 8);
  const std::string central = "PK\1\2" + little(45, 2) + little(45, 2) + fields + little(0xFFFFFFFF, 4) +
                              little(0xFFFFFFFF, 4) + little(name.size(), 2) + little(extra.size(), 2) +
                              little(0, 10) + little(0xFFFFFFFF, 4) + name + extra;
  const std::string end64 = "PK\6\6" + little(44, 8) + little(45, 2) + little(45, 2) + little(0, 8) +
                            little(1, 8) + little(1, 8) + little(central.size(), 8) + little(local.size(), 8);
  const std::string locator =
      "PK\6\7" + little(0, 4) + little(local.size() + central.size(), 8) + little(1, 4);
  const std::string end = "PK\5\6" + little(0, 4) + little(0xFFFF, 2) + little(0xFFFF, 2) +
                          little(0xFFFFFFFF, 4) + little(0xFFFFFFFF, 4) + little(0, 2);
  auto tree = open_bytes(local + central + end64 + locator + end);
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ(text_of(**tree, "a.py"), content);
  EXPECT_EQ(error_of(local + central + locator + end),
            "p.whl: damaged archive: its zip64 end record is missing");
}

TEST_F(ZipTreeTest, TheFileIsCutWhileOpen) {
  auto tree = open({{"a.py", "aaaa"}});
  std::filesystem::resize_file(folder_ / "p.whl", 10);
  EXPECT_EQ(text_of(*tree, "a.py"), "a.py: truncated in the archive");
}

}  // namespace
}  // namespace assay
