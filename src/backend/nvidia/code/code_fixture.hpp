// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "backend/nvidia/code/code_finder.hpp"
#include "base/hash.hpp"

// What the tests of this room share: files made by nvcc (fixture/README.md). For tests only.
namespace gpufl::backend::testing {

inline constexpr const char* kDoubleAll = "_Z10double_allPii";
inline constexpr const char* kAddAll = "_Z7add_allILi3EEvPfi";

inline std::filesystem::path fixture_path(const std::string& name) {
  return std::filesystem::path(GPUFL_CODE_FIXTURES) / name;
}

inline std::string fixture(const std::string& name) {
  std::ifstream file(fixture_path(name), std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string cubin() { return fixture("two_kernels.sm_90.cubin"); }

inline uint64_t checksum(std::string_view image) {
  return base::xxh64(image.data(), image.size(), 7);
}

class TempDir {
 public:
  TempDir() {
    std::string name = (std::filesystem::temp_directory_path() / "gpufl_code_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~TempDir() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace gpufl::backend::testing
