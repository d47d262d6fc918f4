// SPDX-License-Identifier: Apache-2.0
// NVIDIA's own disassembler on what its compilers and Triton made: tests/cubins/README.md.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <memory>
#include <sstream>

#include "disassembly/cubin.hpp"
#include "disassembly/disassemble_session.hpp"
#include "disassembly/test_modules.hpp"

namespace gpufl::disassembly {
namespace {

namespace fs = std::filesystem;
using format::testing::TempDir;

class RealCubinsTest : public ::testing::TestWithParam<const char*> {
 protected:
  // Each image is disassembled once for all tests.
  struct Session {
    TempDir dir;
    std::string image;
    DisassemblyFile file;
  };
  static std::shared_ptr<Session> session_of(const std::string& name) {
    static std::map<std::string, std::shared_ptr<Session>> made;
    std::shared_ptr<Session>& session = made[name];
    if (session != nullptr) return session;
    session = std::make_shared<Session>();
    session->image = testing::image_of(name);
    const fs::path dir = session->dir.path() / "session";
    auto log = format::testing::make_writer(format::testing::test_options(dir));
    testing::tell_module(*log, 7, session->image);
    EXPECT_TRUE(log->close(1000, format::Ledger()));
    testing::keep_image(dir, session->image);
    DisassembleOptions options;
    options.tool.emplace(testing::real_nvdisasm());
    options.sources.roots = {testing::kFixture};
    auto file = disassemble_session(dir, true, options);
    EXPECT_TRUE(file.is_ok()) << file.status().text();
    if (file) session->file = std::move(*file);
    return session;
  }

  void SetUp() override {
    GPUFL_NEEDS_NVDISASM();
    made_ = session_of(GetParam());
    ASSERT_EQ(made_->file.modules.size(), 1u);
    EXPECT_EQ(made_->file.modules[0].state, "disassembled") << made_->file.modules[0].detail;
  }
  const DisassemblyFile& file() const { return made_->file; }
  fs::path session() const { return made_->dir.path() / "session"; }

  // "/a/k.cu:12" by section and offset, from what the tool prints, by other code than ours.
  std::map<std::pair<std::string, uint64_t>, std::string> printed_lines() const {
    const fs::path path = made_->dir.path() / "image.cubin";
    format::testing::write_text(path, made_->image);
    const auto output =
        base::run_child(testing::real_nvdisasm(), {"-c", "-g", path.string()}, {}, {});
    std::map<std::pair<std::string, uint64_t>, std::string> lines;
    std::istringstream text(output->out);
    std::string section, place;
    for (std::string line; std::getline(text, line);) {
      if (const size_t at = line.find(".section\t.text."); at != std::string::npos) {
        section = line.substr(at + 15, line.find(',') - at - 15);
        place.clear();
      } else if (const size_t quote = line.find("//## File \""); quote != std::string::npos) {
        const size_t end = line.find('"', quote + 11);
        place = line.substr(quote + 11, end - quote - 11) + ":" + line.substr(end + 8);
      } else if (const size_t comment = line.find("/*"); comment != std::string::npos) {
        if (!place.empty()) {
          lines[{section, std::strtoull(line.c_str() + comment + 2, nullptr, 16)}] = place;
        }
      }
    }
    return lines;
  }

  static std::string text(const KernelCode& code, const SourcePlace& place) {
    return code.files[place.file] + ":" + std::to_string(place.line);
  }

  std::shared_ptr<Session> made_;
};

TEST_P(RealCubinsTest, EveryInstructionForWhichNvdisasmHasALineHasIt) {
  const auto lines = printed_lines();
  ASSERT_GT(lines.size(), 100u);
  size_t compared = 0;
  for (const KernelCode& code : file().kernels) {
    for (const Instruction& instruction : code.instructions) {
      const auto line = lines.find({code.name, instruction.offset});
      if (line == lines.end()) continue;
      ASSERT_NE(instruction.chain, kNoChain) << code.name << " " << instruction.offset;
      EXPECT_EQ(text(code, code.chains[instruction.chain].front()), line->second)
          << code.name << " " << instruction.offset;
      ++compared;
    }
  }
  EXPECT_EQ(compared, lines.size());
}

TEST_P(RealCubinsTest, KeptAndReadAgainItIsTheSame) {
  const auto read = DisassemblyFile::read(session(), format::testing::test_header().session_id);
  ASSERT_TRUE(read.is_ok()) << read.status().text();
  EXPECT_EQ(read->tool, file().tool);
  EXPECT_EQ(read->modules, file().modules);
  EXPECT_EQ(read->ptx, file().ptx);
  EXPECT_EQ(read->sources, file().sources);
  ASSERT_EQ(read->kernels.size(), file().kernels.size());
  for (size_t i = 0; i < file().kernels.size(); ++i) EXPECT_EQ(read->kernels[i], file().kernels[i]);
}

TEST_P(RealCubinsTest, RegistersTargetsAndPtxAreWithinTheirBounds) {
  ASSERT_EQ(file().ptx.size(), 1u);
  const size_t ptx_lines = file().ptx.begin()->second.size();
  for (const KernelCode& code : file().kernels) {
    ASSERT_TRUE(code.resources.registers.has_value()) << code.name;
    int32_t most = 0;
    bool branches = false;
    for (const Instruction& instruction : code.instructions) {
      most = std::max(most, instruction.live_registers);
      EXPECT_LE(instruction.ptx_line, ptx_lines);
      if (instruction.target < 0) continue;
      branches = true;
      EXPECT_LE(instruction.target, code.instructions.back().offset);
      EXPECT_EQ(instruction.target % 16, 0);
    }
    EXPECT_GT(most, 0) << code.name;
    EXPECT_LE(most, *code.resources.registers) << code.name;
    EXPECT_TRUE(branches) << code.name;
  }
}

INSTANTIATE_TEST_SUITE_P(Images, RealCubinsTest, ::testing::Values("saxpy", "softmax_rows"));

class SaxpyTest : public RealCubinsTest {};
TEST_P(SaxpyTest, InlinedFunctionsLeadToTheirCallers) {
  const KernelCode& code = file().kernels.front();
  ASSERT_EQ(code.name, testing::kSaxpy);
  std::map<std::pair<std::string, uint32_t>, std::set<uint32_t>> callers;
  for (const InlineChain& chain : code.chains) {
    for (size_t i = 0; i + 1 < chain.size(); ++i) {
      const std::string file = fs::path(code.files[chain[i].file]).filename();
      EXPECT_EQ(fs::path(code.files[chain[i + 1].file]).filename(), "saxpy.cu");
      callers[{file, chain[i].line}].insert(chain[i + 1].line);
    }
  }
  // scaled() in twice_scaled() and polynomial(), which calls that.
  EXPECT_EQ((callers[{"saxpy.cu", 5}]), (std::set<uint32_t>{8, 12}));
  EXPECT_EQ((callers[{"saxpy.cu", 8}]), (std::set<uint32_t>{14}));
  size_t of_header = 0;
  for (const auto& [place, lines] : callers) {
    if (place.first != "cuda_fp16.hpp") continue;
    EXPECT_EQ(lines, (std::set<uint32_t>{8}));
    ++of_header;
  }
  EXPECT_EQ(of_header, 2u);
}

TEST_P(SaxpyTest, ResourcesAreThoseOfTheCompiler) {
  // As cuobjdump -res-usage has them.
  ASSERT_EQ(file().kernels.size(), 2u);
  const Resources& saxpy = file().kernels[0].resources;
  EXPECT_EQ(saxpy.registers, 13);
  EXPECT_EQ(saxpy.shared_bytes, 2048);
  EXPECT_EQ(saxpy.constant_bytes, 552);
  EXPECT_EQ(saxpy.stack_bytes, 0);
  EXPECT_EQ(file().kernels[1].resources.registers, 10);
  EXPECT_TRUE(file().kernels[0].is_kernel);
  const Routine* inner = file().kernels[0].find_routine(testing::kPolynomial);
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(inner->offset, 0x210u);
}

TEST_P(SaxpyTest, SourceTextIsOfTheProgramAndNotOfTheToolkit) {
  ASSERT_EQ(file().sources.size(), 1u);
  EXPECT_EQ(file().sources[0].path, "/home/me/app/saxpy.cu");
  EXPECT_EQ(file().sources[0].language, "cuda");
}
INSTANTIATE_TEST_SUITE_P(Image, SaxpyTest, ::testing::Values("saxpy"));

class TritonTest : public RealCubinsTest {};
TEST_P(TritonTest, KernelsLeadToPythonLines) {
  ASSERT_EQ(file().kernels.size(), 1u);
  const KernelCode& code = file().kernels[0];
  std::set<uint32_t> lines;
  for (const Instruction& instruction : code.instructions) {
    if (instruction.chain == kNoChain) continue;
    const SourcePlace& outermost = code.chains[instruction.chain].back();
    EXPECT_EQ(code.files[outermost.file], "/home/me/app/softmax_rows.py");
    lines.insert(outermost.line);
  }
  // From the load to the store, the two reductions that Triton's own library inlines among them.
  for (const uint32_t line : {15, 16, 17, 18}) EXPECT_TRUE(lines.contains(line)) << line;
}
INSTANTIATE_TEST_SUITE_P(Image, TritonTest, ::testing::Values("softmax_rows"));

}  // namespace
}  // namespace gpufl::disassembly
