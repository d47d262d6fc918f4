// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "backend/nvidia/code/code_file.hpp"
#include "backend/nvidia/code/fat_binary.hpp"

// Which functions the fat binaries of this process's programs and libraries have, found out once a
// file: each image for an architecture that is wanted is unpacked to read its symbols (about a
// second for a gigabyte of images). Then an image is found by the name of a function. Memory is
// bounded. One thread at a time.
namespace gpufl::backend {

struct FoundImage {
  std::string_view image;  // valid while it is looked at
  const std::string& path;
};

class FatIndex {
 public:
  // `architectures`: of the GPUs, as 90 for sm_90; empty: all are wanted.
  void want(std::vector<uint32_t> architectures) { architectures_ = std::move(architectures); }
  // Reads files that are not known yet. Once `stop` is true it leaves off, and goes on from there
  // the next time.
  void refresh(const std::vector<std::string>& files, const std::atomic<bool>& stop);
  // Calls visit(image) with each image that has the function; false stops it.
  void find(uint64_t function, const std::atomic<bool>& stop,
            const std::function<bool(const FoundImage&)>& visit) const;

 private:
  static constexpr size_t kMaxFunctions = size_t{1} << 21;

  struct Place {
    uint64_t function;
    uint32_t cubin;
    bool operator<(const Place& other) const { return function < other.function; }
  };
  struct File {
    std::string path;
    uint64_t bytes;
    int64_t modified_ns;
    size_t visited = 0;  // images, whether wanted or not
    std::vector<FatCubin> cubins;
    std::vector<Place> places;  // by function
  };

  bool is_wanted(uint32_t architecture) const;
  bool read(const std::string& path, const std::atomic<bool>& stop);
  File begin_or_go_on(const CodeFile& file, const std::string& path);

  std::vector<uint32_t> architectures_;
  std::unordered_set<std::string> known_;  // whether they have fat binaries or not
  std::vector<File> files_;
  std::optional<File> unfinished_;  // its reading was stopped
  size_t functions_ = 0;
};

}  // namespace gpufl::backend
