// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <unordered_map>
#include <vector>

#include "backend/nvidia/code/fat_index.hpp"

// Folders in which compilers keep code that they made at run time: Triton's and Inductor's, with
// files called after the kernel. A look at them is bounded in files and time. One thread at a time.
namespace gpufl::backend {

// Where Triton and Inductor look, by this process's environment.
std::vector<std::string> code_cache_folders();

class CodeCaches {
 public:
  // Lists what is in the folders now.
  void refresh(const std::vector<std::string>& folders, const std::atomic<bool>& stop);
  // Calls visit(image) with each image called `name`, the newest first; false stops it.
  void find(const std::string& name, const std::atomic<bool>& stop,
            const std::function<bool(const FoundImage&)>& visit) const;

 private:
  std::unordered_map<std::string, std::vector<std::string>> paths_;  // by name
};

}  // namespace gpufl::backend
