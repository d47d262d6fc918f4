// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "backend/nvidia/code/code_finder.hpp"
#include "base/hash.hpp"
#include "format/test_session.hpp"

// What the tests of this room share: files made by nvcc (fixture/README.md). For tests only.
namespace gpufl::backend::code_fixture {

inline constexpr const char* kDoubleAll = "_Z10double_allPii";
inline constexpr const char* kAddAll = "_Z7add_allILi3EEvPfi";

inline std::filesystem::path fixture_path(const std::string& name) {
  return std::filesystem::path(GPUFL_CODE_FIXTURES) / name;
}

inline std::string fixture(const std::string& name) {
  return format::testing::read_text(fixture_path(name));
}

inline std::string cubin() { return fixture("two_kernels.sm_90.cubin"); }

inline uint64_t checksum(std::string_view image) {
  return base::xxh64(image.data(), image.size(), 7);
}

using format::testing::TempDir;

}  // namespace gpufl::backend::code_fixture
