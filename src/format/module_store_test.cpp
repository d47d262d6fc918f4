// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/eventually.hpp"
#include "format/module_files.hpp"
#include "format/test_session.hpp"
#include "format/verify.hpp"

namespace gpufl::format {
namespace {

namespace fs = std::filesystem;
using testing::make_writer;
using testing::TempDir;
using testing::test_options;

CodeImage image_of(uint64_t id, std::string_view bytes) {
  CodeImage image;
  image.id = id;
  image.bytes = bytes;
  image.found = "callback";
  image.functions = 2;
  return image;
}

CodeImage missing(uint64_t id) {
  CodeImage image;
  image.id = id;
  image.missing = "not_found";
  return image;
}

// What no compression makes smaller.
std::string noise(size_t size, uint64_t seed) {
  std::string bytes(size, '\0');
  for (char& one : bytes) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    one = static_cast<char>(seed >> 56);
  }
  return bytes;
}

std::vector<base::Json> module_lines(const fs::path& dir) {
  struct Lines final : Visitor {
    void on_object(Kind kind, const base::Json& line) override {
      if (kind == Kind::Module) all.push_back(line);
    }
    std::vector<base::Json> all;
  } lines;
  const auto reader = SessionReader::open(dir);
  if (reader) reader->read(lines);
  return lines.all;
}

std::vector<std::string> files_in(const fs::path& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    names.push_back(entry.path().filename().string());
  }
  return names;
}

TEST(ModuleStoreTest, KeepsAnImageOnceWithItsLine) {
  const TempDir dir;
  const auto writer = make_writer(test_options(dir.path()));
  const std::string image = noise(100'000, 1);
  CodeImage cached = image_of(18'000'000'000'000'000'000u, image);
  cached.found = "cache";
  cached.path = "/cache/kernel.cubin";
  EXPECT_TRUE(writer->keep_module(7, cached));
  EXPECT_TRUE(writer->keep_module(8, cached));
  ASSERT_TRUE(writer->close(100, {}).is_ok());

  const std::string hash = module_hash(image);
  EXPECT_EQ(files_in(dir.path() / "modules"), std::vector{hash + ".cubin.zst"});
  const auto lines = module_lines(dir.path());
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].dump(),
            R"({"type":"module","time":7,"id":"18000000000000000000","bytes":100000,"functions":2,)"
            R"("found":"cache","path":"/cache/kernel.cubin","hash":")" +
                hash + "\"}");
  const auto read = read_module(dir.path(), hash);
  ASSERT_TRUE(read);
  EXPECT_EQ(*read, image);
  const VerifyResult verified = verify_session(dir.path());
  EXPECT_EQ(verified.verdict, Verdict::Complete);
  EXPECT_EQ(verified.ledger->modules_kept, 1u);
  EXPECT_EQ(verified.ledger->modules_over_cap, 0u);
  EXPECT_EQ(verified.ledger->modules_not_found, 0u);
}

// The vendor's checksum sees few of an image's bytes.
TEST(ModuleStoreTest, ImagesOfOneIdAreAllKept) {
  const TempDir dir;
  const auto writer = make_writer(test_options(dir.path()));
  writer->keep_module(1, image_of(5, "one"));
  writer->keep_module(2, image_of(5, "two"));
  ASSERT_TRUE(writer->close(100, {}).is_ok());
  const auto lines = module_lines(dir.path());
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0]["id"].as_string(), lines[1]["id"].as_string());
  EXPECT_NE(lines[0]["hash"].as_string(), lines[1]["hash"].as_string());
}

TEST(ModuleStoreTest, WhatIsOverTheCapIsToldAndCounted) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.module_bytes = 150'000;
  const auto writer = make_writer(options);
  const std::string first = noise(100'000, 1), second = noise(100'000, 2), third = noise(9'000, 3);
  writer->keep_module(1, image_of(1, first));
  writer->keep_module(2, image_of(2, second));
  writer->keep_module(3, image_of(2, second));
  writer->keep_module(4, image_of(3, third));
  ASSERT_TRUE(writer->close(100, {}).is_ok());
  const auto lines = module_lines(dir.path());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[1].dump(), R"({"type":"module","time":2,"id":"2","missing":"over_cap"})");
  const VerifyResult verified = verify_session(dir.path());
  EXPECT_EQ(verified.ledger->modules_kept, 2u);
  EXPECT_EQ(verified.ledger->modules_over_cap, 1u);
  EXPECT_EQ(verified.verdict, Verdict::Losses);
}

TEST(ModuleStoreTest, ImagesTakeNoMoreThanTheSpoolHas) {
  const TempDir dir;
  LogOptions options = test_options(dir.path());
  options.spool_bytes = 200'000;
  const auto writer = make_writer(options);
  writer->keep_module(1, image_of(1, noise(150'000, 1)));
  writer->keep_module(2, image_of(2, noise(150'000, 2)));
  ASSERT_TRUE(writer->close(100, {}).is_ok());
  const VerifyResult verified = verify_session(dir.path());
  EXPECT_EQ(verified.ledger->modules_kept, 1u);
  EXPECT_EQ(verified.ledger->modules_over_cap, 1u);
}

TEST(ModuleStoreTest, WhatIsFoundLaterIsMissingNoMore) {
  const TempDir dir;
  const auto writer = make_writer(test_options(dir.path()));
  writer->keep_module(1, missing(5));
  writer->keep_module(2, missing(5));
  writer->keep_module(3, missing(6));
  writer->keep_module(4, image_of(5, "five"));
  ASSERT_TRUE(writer->close(100, {}).is_ok());
  const auto lines = module_lines(dir.path());
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_EQ(lines[0].dump(), R"({"type":"module","time":1,"id":"5","missing":"not_found"})");
  EXPECT_EQ(lines[2]["hash"].as_string(), module_hash("five"));
  const VerifyResult verified = verify_session(dir.path());
  EXPECT_EQ(verified.ledger->modules_not_found, 1u);
  EXPECT_EQ(verified.ledger->modules_kept, 1u);
}

TEST(ModuleStoreTest, AFileThatCannotBeWrittenLeavesNothingBehind) {
  const TempDir dir;
  const auto writer = make_writer(test_options(dir.path()));
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{64 << 10, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  writer->keep_module(1, image_of(1, noise(1 << 20, 1)));
  const base::Status closed = writer->close(100, {});
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_TRUE(closed.is_ok());
  EXPECT_EQ(files_in(dir.path() / "modules"), std::vector<std::string>{});
  const VerifyResult verified = verify_session(dir.path());
  EXPECT_EQ(verified.ledger->modules_kept, 0u);
  EXPECT_EQ(verified.ledger->modules_over_cap, 1u);
}

// Every line comes after its file, and every file is whole.
TEST(ModuleStoreTest, AKilledProcessLeavesWholeFiles) {
  const TempDir dir;
  const fs::path session = dir.path() / "session";
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const auto writer = make_writer(test_options(session));
    for (uint64_t i = 1; i < 20'000; ++i) {
      writer->keep_module(static_cast<int64_t>(i), image_of(i, noise(50'000, i)));
      (void)writer->flush(static_cast<int64_t>(i));
    }
    _exit(0);
  }
  const bool has_lines = base::eventually([&] { return module_lines(session).size() > 5; });
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  ASSERT_TRUE(has_lines);
  size_t whole = 0;
  for (const std::string& name : files_in(session / "modules")) {
    if (name.ends_with(".tmp")) continue;
    EXPECT_TRUE(check_module(session / "modules" / name).is_ok()) << name;
    ++whole;
  }
  const VerifyResult verified = verify_session(session);
  EXPECT_TRUE(verified.problems.empty());
  EXPECT_GE(whole, verified.rows.at("module"));
}

TEST(ModuleStoreTest, DamageIsFound) {
  const TempDir dir;
  const auto writer = make_writer(test_options(dir.path()));
  writer->keep_module(1, image_of(1, "first"));
  writer->keep_module(2, image_of(2, "second"));
  ASSERT_TRUE(writer->close(100, {}).is_ok());
  ASSERT_EQ(verify_session(dir.path()).verdict, Verdict::Complete);
  const fs::path modules = dir.path() / "modules";
  const fs::path first = modules / module_file_name(module_hash("first"));
  const fs::path second = modules / module_file_name(module_hash("second"));
  fs::copy_file(first, second, fs::copy_options::overwrite_existing);
  EXPECT_EQ(verify_session(dir.path()).problems["hash_mismatch"], 1u);
  EXPECT_EQ(read_module(dir.path(), module_hash("second")).status().code(), base::Code::Corrupt);
  fs::resize_file(second, 5);
  EXPECT_EQ(verify_session(dir.path()).problems["hash_mismatch"], 1u);
  fs::remove(second);
  const VerifyResult gone = verify_session(dir.path());
  EXPECT_EQ(gone.problems.at("unreadable"), 1u);
  EXPECT_EQ(gone.verdict, Verdict::Losses);
}

TEST(ModuleFilesTest, OnlyHashesAreNames) {
  EXPECT_EQ(module_hash_of("0123456789abcdef.cubin.zst"), "0123456789abcdef");
  EXPECT_EQ(module_hash_of("0123456789abcdeg.cubin.zst"), "");
  EXPECT_EQ(module_hash_of("0123456789abcdef.cubin"), "");
  EXPECT_EQ(module_hash_of("../abcdef0123456.cubin.zst"), "");
}

}  // namespace
}  // namespace gpufl::format
