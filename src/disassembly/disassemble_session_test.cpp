// SPDX-License-Identifier: Apache-2.0
#include "disassembly/disassemble_session.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "disassembly/test_modules.hpp"

namespace gpufl::disassembly {
namespace {

namespace fs = std::filesystem;
using format::testing::TempDir;
using testing::image_of;
using testing::kFill;

// Prints of `fill` what nvdisasm would: two instructions, one with a line.
const std::string kPrintsFill = "cat " + (testing::kFixture / "fill.sass").string() + "\n";

class DisassembleSessionTest : public ::testing::Test {
 protected:
  void record(const std::vector<std::string>& images, const char* kernel = kFill) {
    auto log = format::testing::make_writer(format::testing::test_options(session_));
    uint64_t id = 7;
    for (const std::string& image : images) {
      testing::tell_module(*log, id++, image);
      testing::keep_image(session_, image);
    }
    testing::tell_kernel(*log, kernel, 10);
    ASSERT_TRUE(log->close(1000, format::Ledger()));
  }
  DisassembleOptions with_script(const std::string& body,
                                 const base::ChildLimits& limits = {}) const {
    DisassembleOptions options;
    options.tool.emplace(testing::write_script(dir_.path() / "nvdisasm", body), limits);
    return options;
  }
  DisassemblyFile disassemble(const DisassembleOptions& options) const {
    auto file = disassemble_session(session_, false, options);
    EXPECT_TRUE(file.is_ok()) << file.status().text();
    return file ? std::move(*file) : DisassemblyFile{};
  }

  TempDir dir_;
  fs::path session_ = dir_.path() / "session";
};

TEST_F(DisassembleSessionTest, OnlyWhatRanIsKept) {
  record({image_of("saxpy"), image_of("softmax_rows")});
  const DisassemblyFile file = disassemble(with_script(kPrintsFill));
  ASSERT_EQ(file.modules.size(), 2u);
  EXPECT_EQ(file.modules[0].functions, 2u);
  EXPECT_EQ(file.modules[1].state, "disassembled");  // and nothing of it ran
  ASSERT_EQ(file.kernels.size(), 1u);
  EXPECT_EQ(file.kernels[0].name, kFill);
  EXPECT_EQ(file.kernels[0].instructions.size(), 2u);
  EXPECT_TRUE(fs::exists(session_ / kDisassemblyFileName));
}

TEST_F(DisassembleSessionTest, ASessionWithoutImagesGetsNoFile) {
  record({});
  EXPECT_TRUE(disassemble(with_script(kPrintsFill)).modules.empty());
  EXPECT_FALSE(fs::exists(session_ / kDisassemblyFileName));
}

TEST_F(DisassembleSessionTest, WhatTheImageSaysStaysWhereTheToolDoesNot) {
  record({image_of("saxpy")});
  base::ChildLimits limits;
  limits.time = std::chrono::milliseconds(200);
  const DisassemblyFile hung = disassemble(with_script("sleep 1000\n", limits));
  EXPECT_EQ(hung.modules[0].state, "over_limit");
  EXPECT_NE(hung.modules[0].detail.find("had not finished after"), std::string::npos);
  ASSERT_EQ(hung.kernels.size(), 1u);
  EXPECT_EQ(hung.kernels[0].resources.registers, 10);
  EXPECT_TRUE(hung.kernels[0].instructions.empty());

  limits = {};
  limits.output_bytes = 1000;
  EXPECT_EQ(disassemble(with_script("yes\n", limits)).modules[0].state, "over_limit");

  const DisassemblyFile failed = disassemble(with_script("echo 'too new' >&2; exit 1\n"));
  EXPECT_EQ(failed.modules[0].state, "tool_failed");
  EXPECT_NE(failed.modules[0].detail.find("too new"), std::string::npos);

  EXPECT_EQ(disassemble({}).modules[0].state, "no_tool");
}

TEST_F(DisassembleSessionTest, TooManyInstructionsAreLeftOut) {
  record({image_of("saxpy"), image_of("saxpy") + " "});
  DisassembleOptions options = with_script(kPrintsFill);
  options.max_instructions = 1;
  const DisassemblyFile file = disassemble(options);
  EXPECT_EQ(file.modules[0].state, "disassembled");
  EXPECT_EQ(file.modules[1].state, "over_limit");
}

TEST_F(DisassembleSessionTest, DamagedAndMissingImagesAreNamed) {
  const std::string gone = image_of("saxpy"), changed = image_of("softmax_rows");
  std::string half = image_of("saxpy");
  half.resize(half.size() / 3);
  record({gone, changed, "no image at all", half});
  fs::remove(testing::image_path(session_, gone));
  const fs::path path = testing::image_path(session_, changed);
  std::string packed = format::testing::read_text(path);
  packed[packed.size() / 2] ^= 0x55;
  format::testing::write_text(path, packed);
  const DisassemblyFile file = disassemble(with_script(kPrintsFill));
  std::vector<std::string> states;
  for (const ModuleNote& module : file.modules) states.push_back(module.state);
  EXPECT_EQ(states, (std::vector<std::string>{"no_file", "damaged", "damaged", "damaged"}));
}

TEST_F(DisassembleSessionTest, AnImageCutAnywhereIsNoHarm) {
  const std::string image = image_of("saxpy");
  for (size_t size = 0; size < image.size(); size += 997) {
    record({image.substr(0, size)});
    const DisassemblyFile file = disassemble(with_script(kPrintsFill));
    ASSERT_EQ(file.modules.size(), 1u);
    fs::remove_all(session_);
  }
}

TEST_F(DisassembleSessionTest, SourceThatIsNewerIsMarkedAndWhatIsGoneIsLeftOut) {
  record({image_of("saxpy")});
  fs::create_directories(dir_.path() / "checkout");
  const fs::path source = dir_.path() / "checkout" / "saxpy.cu";
  fs::copy_file(testing::kFixture / "saxpy.cu", source);
  DisassembleOptions options = with_script(kPrintsFill);
  EXPECT_TRUE(disassemble(options).sources.empty());
  // The line table of the image names saxpy.cu, whatever the script prints.
  options.sources.roots = {dir_.path() / "checkout"};
  fs::last_write_time(source, fs::file_time_type::clock::now());
  DisassemblyFile file = disassemble(options);
  ASSERT_EQ(file.sources.size(), 1u);
  EXPECT_EQ(file.sources[0].is_newer,
            std::chrono::system_clock::now().time_since_epoch() >
                std::chrono::nanoseconds(format::testing::test_header().start_wall_ns));
  options.sources.excluded_roots = {"/home/me"};
  EXPECT_TRUE(disassemble(options).sources.empty());
  options.sources.excluded_roots.clear();
  options.sources.max_bytes = 10;
  EXPECT_TRUE(disassemble(options).sources.empty());
}

TEST_F(DisassembleSessionTest, ASessionThatKeepsNoSourceTextStaysSo) {
  format::SessionHeader header = format::testing::test_header();
  header.source_text = false;
  auto log = format::LogWriter::create(format::testing::test_options(session_), header);
  ASSERT_TRUE(log.is_ok());
  testing::tell_module(**log, 7, image_of("saxpy"));
  testing::tell_kernel(**log, kFill, 10);
  ASSERT_TRUE((*log)->close(1000, format::Ledger()));
  testing::keep_image(session_, image_of("saxpy"));
  DisassembleOptions options = with_script(kPrintsFill);
  options.sources.roots = {testing::kFixture};
  const DisassemblyFile file = disassemble(options);
  EXPECT_EQ(file.kernels.size(), 1u);
  EXPECT_TRUE(file.sources.empty());
}

TEST_F(DisassembleSessionTest, AnImageThatWasFoundLaterIsNotMissing) {
  auto log = format::testing::make_writer(format::testing::test_options(session_));
  testing::tell_missing(*log, 7, "not_found");
  testing::tell_missing(*log, 8, "over_cap");
  testing::tell_module(*log, 7, image_of("saxpy"));
  base::Json outside = base::Json::object();
  outside.set("time", 1).set("id", "9").set("hash", "../../../etc/passwd");
  log->write(format::Kind::Module, outside, format::Channel::Code);
  ASSERT_TRUE(log->close(1000, format::Ledger()));
  const auto modules = read_modules(*format::SessionReader::open(session_));
  ASSERT_EQ(modules.size(), 2u);
  EXPECT_EQ(modules[0].missing, "over_cap");
  EXPECT_EQ(modules[1].hash, format::module_hash(image_of("saxpy")));
}

TEST_F(DisassembleSessionTest, AFileOfAnotherSessionOrVersionIsNotUsed) {
  record({image_of("saxpy")});
  disassemble(with_script(kPrintsFill));
  EXPECT_EQ(DisassemblyFile::read(session_, "another").status().code(), base::Code::Corrupt);
  const std::string id = format::testing::test_header().session_id;
  ASSERT_TRUE(DisassemblyFile::read(session_, id).is_ok());
  format::testing::write_text(
      session_ / kDisassemblyFileName,
      R"({"type":"session","session_id":")" + id + R"(","disassembly":2})" + "\n");
  EXPECT_EQ(DisassemblyFile::read(session_, id).status().code(), base::Code::TooNew);
  fs::remove(session_ / kDisassemblyFileName);
  EXPECT_EQ(DisassemblyFile::read(session_, id).status().code(), base::Code::NotFound);
}

TEST_F(DisassembleSessionTest, ATornOrForeignLineIsPassedOver) {
  record({image_of("saxpy")});
  const std::string id = format::testing::test_header().session_id;
  format::testing::write_text(
      session_ / kDisassemblyFileName,
      R"({"type":"session","session_id":")" + id + R"(","disassembly":1})" + "\n" +
          R"({"type":"code","text":["NOP"],"offset":[0]})" + "\nnonsense\n" +
          R"({"type":"function","module":"m","name":"k","files":["a.cu"]})" + "\n" +
          R"({"type":"code","text":["NOP","EXIT"],"offset":[0,-1],"chains":[[9,1],[0,4]],)" +
          R"("chain":[1,7]})" + "\n{\"type\":\"code\"");
  const auto file = DisassemblyFile::read(session_, id);
  ASSERT_TRUE(file.is_ok()) << file.status().text();
  ASSERT_EQ(file->kernels.size(), 1u);
  ASSERT_EQ(file->kernels[0].instructions.size(), 1u);
  const KernelCode& code = file->kernels[0];
  EXPECT_EQ(code.chains.at(code.instructions[0].chain), (InlineChain{{0, 4}}));
}

}  // namespace
}  // namespace gpufl::disassembly
