#include "tree/tar_tree.h"

#include <archive.h>
#include <archive_entry.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "tree/archive_tree.h"
#include "tree/temp_folder.h"

namespace assay {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Member {
  std::string name;
  std::string content = "";
  std::string link = "";
  std::string hard_link = "";
};

class TarTreeTest : public ::testing::Test {
 protected:
  void write_tar(const std::string& name, const std::vector<Member>& members,
                 int filter = ARCHIVE_FILTER_GZIP) {
    archive* a = ::archive_write_new();
    ::archive_write_add_filter(a, filter);
    ::archive_write_set_format_pax_restricted(a);
    ASSERT_EQ(::archive_write_open_filename(a, (folder_ / name).c_str()), ARCHIVE_OK);
    for (const Member& member : members) {
      archive_entry* entry = ::archive_entry_new();
      ::archive_entry_set_pathname(entry, member.name.c_str());
      ::archive_entry_set_filetype(entry, member.link.empty() ? AE_IFREG : AE_IFLNK);
      if (!member.link.empty()) ::archive_entry_set_symlink(entry, member.link.c_str());
      if (!member.hard_link.empty()) ::archive_entry_set_hardlink(entry, member.hard_link.c_str());
      ::archive_entry_set_perm(entry, 0644);
      ::archive_entry_set_size(entry, static_cast<la_int64_t>(member.content.size()));
      ASSERT_GE(::archive_write_header(a, entry), ARCHIVE_WARN) << ::archive_error_string(a);
      ::archive_write_data(a, member.content.data(), member.content.size());
      ::archive_entry_free(entry);
    }
    ::archive_write_close(a);
    ::archive_write_free(a);
  }
  std::unique_ptr<Tree> open(const std::string& name) {
    auto tree = open_archive(folder_ / name, name);
    EXPECT_TRUE(tree) << tree.error().message;
    return std::move(*tree);
  }
  std::string error_of(const std::string& name) {
    auto tree = open_archive(folder_ / name, name);
    return tree ? "no error" : tree.error().message;
  }
  std::string bytes_of(const std::string& name) {
    std::ifstream file(folder_ / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

  TempFolder folder_;
};

TEST_F(TarTreeTest, EveryCompression) {
  const int filters[] = {ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ};
  for (int filter : filters) {
    write_tar("p-1.0.tar.gz",
              {{"p-1.0/PKG-INFO", "Name: p\n"}, {"p-1.0/p/a.py", "a"}, {"p-1.0/p/_C.so", "ELF"}}, filter);
    auto tree = open("p-1.0.tar.gz");
    EXPECT_THAT(paths_of(*tree), ElementsAre("PKG-INFO", "p/_C.so", "p/a.py"));
    EXPECT_EQ(text_of(*tree, "p/a.py"), "a");
    EXPECT_EQ(tree->find("p/_C.so")->size, 3u);
    EXPECT_EQ(text_of(*tree, "p/_C.so"), "p/_C.so: not kept from the archive: no source text, or too large");
    EXPECT_EQ(tree->identity().kind, "sdist");
    EXPECT_EQ(tree->identity().digest, content_hash(bytes_of("p-1.0.tar.gz")));
  }
}

TEST_F(TarTreeTest, NamesOutsideAscii) {
  write_tar("p.tar.gz",
            {{"p/gr\xC3\xBC\xC3\x9F.py", "a"}, {"p/" + std::string(150, 'n') + "\xC3\xBC.py", "b"}});
  auto tree = open("p.tar.gz");
  EXPECT_EQ(text_of(*tree, "p/gr\xC3\xBC\xC3\x9F.py"), "a");
  EXPECT_EQ(text_of(*tree, "p/" + std::string(150, 'n') + "\xC3\xBC.py"), "b");
}

TEST_F(TarTreeTest, WhatIsNotOffered) {
  write_tar("p.tar.gz", {{"../up.py", "x"},
                         {"/abs.py", "x"},
                         {"link.py", "", "/etc/passwd"},
                         {"hard.py", "", "", "ok.py"},
                         {"ok.py", "first"},
                         {"ok.py", "last"},
                         {"./dot.py", "x"}});
  auto tree = open("p.tar.gz");
  EXPECT_THAT(paths_of(*tree), ElementsAre("dot.py", "ok.py"));
  EXPECT_EQ(text_of(*tree, "ok.py"), "last");
  EXPECT_THAT(skips_of(*tree),
              ElementsAre("../up.py: path climbs out of the archive", "/abs.py: path is absolute",
                          "hard.py: hard link in an archive", "link.py: symbolic link in an archive",
                          "ok.py: listed more than once in the archive; the last one counts"));
}

TEST_F(TarTreeTest, Truncated) {
  std::string noise;
  for (uint32_t i = 0, x = 1; i < 20000; ++i)
    noise += static_cast<char>((x = x * 1664525 + 1013904223) >> 24);
  for (int filter : {ARCHIVE_FILTER_GZIP, ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_NONE}) {
    write_tar("whole.tar", {{"p/a.py", noise}, {"p/b.py", noise}}, filter);
    const std::string whole = bytes_of("whole.tar");
    for (size_t part = 1; part < 10; ++part) {
      folder_.write("cut.tar.gz", whole.substr(0, whole.size() * part / 10));
      EXPECT_EQ(error_of("cut.tar.gz"), "cut.tar.gz: truncated archive")
          << "filter " << filter << ", part " << part;
    }
  }
}

TEST_F(TarTreeTest, Bomb) {
  write_tar("bomb.tar.gz", {{"bomb.bin", std::string(300 << 20, '\0')}});
  EXPECT_THAT(error_of("bomb.tar.gz"), StartsWith("bomb.tar.gz: would unpack from "));
  EXPECT_THAT(error_of("bomb.tar.gz"), HasSubstr(" to more than 315 MB: refused as a decompression bomb"));
}

TEST_F(TarTreeTest, WhatIsNoArchive) {
  folder_.write("text.tar.gz", "this is a text and no archive at all\n");
  EXPECT_THAT(error_of("text.tar.gz"), StartsWith("text.tar.gz: damaged, or not a tar archive: "));
  folder_.write("empty.tar.gz", "");
  EXPECT_EQ(error_of("empty.tar.gz"), "empty.tar.gz: truncated archive: the file is empty");
  folder_.write("text.whl", "no wheel");
  EXPECT_EQ(error_of("text.whl"), "text.whl: not a zip archive, though its name says so");
  EXPECT_EQ(error_of("none.whl"), "none.whl: no such file or directory");
  ASSERT_EQ(::mkfifo((folder_ / "pipe.whl").c_str(), 0600), 0);
  EXPECT_EQ(error_of("pipe.whl"), "pipe.whl: not a regular file");
  write_tar("nothing.tar.gz", {});
  EXPECT_EQ(error_of("nothing.tar.gz"), "nothing.tar.gz: holds no files");
}

TEST_F(TarTreeTest, NoisyBytesNeverCrash) {
  write_tar("whole.tar.gz", {{"p/a.py", "aaaa"}, {"p/b.py", "bbbb"}}, ARCHIVE_FILTER_NONE);
  const std::string whole = bytes_of("whole.tar.gz");
  for (size_t i = 0; i < 1100; i += 3) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0xff);
    folder_.write("noisy.tar", bytes);
    (void)error_of("noisy.tar");
  }
}

TEST(ArchiveTree, Names) {
  EXPECT_TRUE(is_archive_name("dist/p-1.0-py3-none-any.whl"));
  EXPECT_TRUE(is_archive_name("p-1.0.tar.gz"));
  EXPECT_FALSE(is_archive_name("p-1.0"));
  EXPECT_FALSE(is_archive_name("setup.py"));
}

}  // namespace
}  // namespace assay
