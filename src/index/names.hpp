// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/code/kernel_class.hpp"
#include "base/status.hpp"
#include "format/dictionaries.hpp"
#include "index/tile.hpp"

// What the ids of a session stand for, read from its windows when somebody asks, each window once.
// Any thread.
namespace gpufl::index {

struct NameEntry {
  std::string text;        // demangled, whole
  std::string short_text;  // of kernels, as tables show them; else as `text`
  analysis::KernelClass kernel_class = analysis::KernelClass::Other;
};

class Names {
 public:
  // Reads what is new in these windows.
  base::Status update(const Windows& windows);

  // Of a label of such a track; of kernels the id of their name. "?": it is not defined.
  NameEntry label(TrackKind kind, uint32_t id) const;
  std::string text(format::Dict dict, int64_t id) const;
  // Ids of the dictionary of names that are kernels', with those of their configurations.
  std::map<uint32_t, std::vector<uint32_t>> configs_by_name() const;
  // Ids of names that contain `text`, upper and lower case alike.
  std::vector<uint32_t> matching(std::string_view text) const;

 private:
  const NameEntry& kernel(uint32_t id) const;

  mutable std::mutex mutex_;
  format::Dictionaries dictionaries_;
  std::map<std::pair<format::Channel, uint64_t>, size_t> lines_read_;  // of each window
  std::vector<uint32_t> name_of_config_;
  std::vector<uint32_t> names_;  // every id of a name
  mutable std::unordered_map<uint32_t, NameEntry> kernels_;
};

}  // namespace gpufl::index
