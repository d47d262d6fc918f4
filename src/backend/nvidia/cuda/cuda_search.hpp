// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

// Where parts of CUDA lie on this machine: CUPTI, PerfWorks and the disassemblers. Looks where a
// program that runs here would: Python's wheels first (frameworks bring their own copies), then
// the toolkits. Knows no header of NVIDIA's. `root` stands before every path.
namespace gpufl::backend {

class CudaSearch {
 public:
  explicit CudaSearch(const std::string& root);

  // Files lib<name>.so.<version>, in order of the search; a file that several links reach is
  // there once.
  std::vector<std::filesystem::path> libraries(std::string_view name) const;
  // The first program of that name: PATH, toolkits, wheels; empty when there is none.
  std::filesystem::path program(std::string_view name) const;

 private:
  std::vector<std::filesystem::path> search_path_;  // PATH
  std::vector<std::filesystem::path> toolkits_;     // CUDA_HOME, /usr/local/cuda, ...
  std::vector<std::filesystem::path> wheels_;       // .../site-packages/nvidia/<package>
};

}  // namespace gpufl::backend
