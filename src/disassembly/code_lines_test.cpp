// SPDX-License-Identifier: Apache-2.0
#include "disassembly/code_lines.hpp"

#include <gtest/gtest.h>

#include "disassembly/test_modules.hpp"

namespace gpufl::disassembly {
namespace {

namespace fs = std::filesystem;
using format::testing::TempDir;

// A session that has the image of saxpy as module 7, and one without an image as 8.
struct Session {
  Session() {
    auto log = format::testing::make_writer(format::testing::test_options(path));
    testing::tell_module(*log, 7, image);
    testing::tell_missing(*log, 8, "not_found");
    EXPECT_TRUE(log->close(1000, format::Ledger()));
  }
  TempDir dir;
  fs::path path = dir.path() / "session";
  std::string image = testing::image_of("saxpy");
};

TEST(CodeLines, WithoutADisassembler) {
  const Session session;
  testing::keep_image(session.path, session.image);
  CodeLines lines(session.path);
  const KernelCode* const code = lines.find(7, testing::kSaxpy);
  ASSERT_NE(code, nullptr);
  EXPECT_EQ(code->name, testing::kSaxpy);
  ASSERT_GT(code->instructions.size(), 10u);
  EXPECT_EQ(code->instructions[1].offset, 16u);
  ASSERT_NE(code->instructions[1].chain, kNoChain);
  const SourcePlace& place = code->chains[code->instructions[1].chain].back();
  EXPECT_EQ(code->files[place.file], "/home/me/app/saxpy.cu");
  EXPECT_GT(place.line, 0u);
  EXPECT_EQ(lines.find(7, testing::kPolynomial), code) << "a function within the kernel's code";
}

TEST(CodeLines, NoneWhereTheImageIsNotThereDamagedOrAnothers) {
  const Session session;
  EXPECT_EQ(CodeLines(session.path).find(7, testing::kSaxpy), nullptr) << "no file";
  testing::keep_image(session.path, session.image);
  EXPECT_EQ(CodeLines(session.path).find(7, "_Z5otherv"), nullptr);
  EXPECT_EQ(CodeLines(session.path).find(8, testing::kSaxpy), nullptr);
  EXPECT_EQ(CodeLines(session.path).find(9, testing::kSaxpy), nullptr);
  EXPECT_EQ(CodeLines(session.dir.path() / "none").find(7, testing::kSaxpy), nullptr);
  format::testing::write_text(testing::image_path(session.path, session.image), "not zstd");
  EXPECT_EQ(CodeLines(session.path).find(7, testing::kSaxpy), nullptr);
  fs::remove(testing::image_path(session.path, session.image));
  const std::string truncated = session.image.substr(0, 100);
  ASSERT_TRUE(format::write_module(testing::image_path(session.path, session.image), truncated));
  EXPECT_EQ(CodeLines(session.path).find(7, testing::kSaxpy), nullptr);
}

}  // namespace
}  // namespace gpufl::disassembly
