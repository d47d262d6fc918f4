// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "base/json.hpp"
#include "disassembly/nvdisasm.hpp"
#include "format/log_writer.hpp"
#include "format/module_files.hpp"
#include "format/test_session.hpp"

// Sessions that keep images of code, made by hand, and programs that stand in for nvdisasm. For
// tests only.
namespace gpufl::disassembly::testing {

namespace fs = std::filesystem;

inline const fs::path kFixture = GPUFL_DISASSEMBLY_FIXTURE;
inline constexpr const char* kSaxpy = "_Z5saxpyIfEviT_PKS0_PS0_";
inline constexpr const char* kFill = "_Z4fillifPf";
inline constexpr const char* kPolynomial = "$_Z5saxpyIfEviT_PKS0_PS0_$_Z10polynomialf";

// The real one, which ./dev installs; empty: it is not there.
inline fs::path real_nvdisasm() { return GPUFL_TEST_NVDISASM; }
#define GPUFL_NEEDS_NVDISASM() \
  if (::gpufl::disassembly::testing::real_nvdisasm().empty()) GTEST_SKIP() << "no nvdisasm here"

inline std::string image_of(const std::string& name) {
  return format::testing::read_text(kFixture / (name + ".cubin"));
}
// Where its image is kept.
inline fs::path image_path(const fs::path& session, const std::string& image) {
  return session / format::kModuleFolder / format::module_file_name(format::module_hash(image));
}
// As the recorder does.
inline void keep_image(const fs::path& session, const std::string& image) {
  const fs::path path = image_path(session, image);
  fs::create_directories(path.parent_path());
  (void)format::write_module(path, image);
}

inline void tell_module(format::LogWriter& log, uint64_t id, const std::string& image) {
  base::Json line = base::Json::object();
  line.set("time", 1).set("id", std::to_string(id)).set("bytes", image.size());
  line.set("hash", format::module_hash(image)).set("found", "callback");
  log.write(format::Kind::Module, line, format::Channel::Code);
}
inline void tell_missing(format::LogWriter& log, uint64_t id, const std::string& why) {
  base::Json line = base::Json::object();
  line.set("time", 1).set("id", std::to_string(id)).set("missing", why);
  log.write(format::Kind::Module, line, format::Channel::Code);
}

inline void tell_kernel(format::LogWriter& log, const std::string& function, int64_t start_ns) {
  const int64_t name = log.intern(format::Dict::Name, function);
  format::Batch rows(format::Kind::Kernel);
  rows.mutable_column(format::kernel_column::kStart) = {start_ns};
  rows.mutable_column(format::kernel_column::kDuration) = {20};
  rows.mutable_column(format::kernel_column::kConfig) = {
      log.intern(format::Dict::Config, R"({"name":)" + std::to_string(name) + "}")};
  rows.set_rows(1);
  log.write(rows);
}

inline void tell_samples(format::LogWriter& log, uint64_t module, const std::string& function,
                         int64_t pc, const std::string& stall, int64_t samples) {
  namespace column = format::pc_sample_column;
  format::Batch rows(format::Kind::PcSample);
  rows.mutable_column(column::kTime) = {500};
  rows.mutable_column(column::kDevice) = {0};
  rows.mutable_column(column::kModule) = {static_cast<int64_t>(module)};
  rows.mutable_column(column::kFunction) = {log.intern(format::Dict::Name, function)};
  rows.mutable_column(column::kPc) = {pc};
  rows.mutable_column(column::kStall) = {
      log.intern(format::Dict::Metric, "smsp__pcsamp_warps_issue_stalled_" + stall)};
  rows.mutable_column(column::kSamples) = {samples};
  rows.set_rows(1);
  log.write(rows);
}

// A shell script in the place of nvdisasm.
inline fs::path write_script(const fs::path& path, const std::string& body) {
  std::ofstream(path) << "#!/bin/sh\n" << body;
  fs::permissions(path, fs::perms::owner_all);
  return path;
}

}  // namespace gpufl::disassembly::testing
