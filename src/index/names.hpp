// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/code/kernel_class.hpp"
#include "base/json.hpp"
#include "base/status.hpp"
#include "format/dictionaries.hpp"
#include "index/tile.hpp"

// What the ids of a session stand for, read from its windows, each line once. One thread at a time
// updates it, the others need not wait for that. Any thread.
namespace gpufl::index {

struct NameEntry {
  std::string text;        // demangled, whole
  std::string short_text;  // of kernels, as tables show them; else as `text`
  analysis::KernelClass kernel_class = analysis::KernelClass::Other;
};

class Names {
 public:
  // Reads what is new in these windows. Cancelled: what was read is known, and the next call goes
  // on from there.
  base::Status update(const Windows& windows, const std::function<bool()>& is_cancelled = nullptr);

  // Of a label of such a track; of kernels the id of their name. "?": it is not defined.
  NameEntry label(TrackKind kind, uint32_t id) const;
  std::string text(format::Dict dict, int64_t id) const;
  // These configurations by the ids of their kernels' names; 0: those that have none.
  std::map<uint32_t, std::vector<uint32_t>> by_kernel(const std::vector<uint32_t>& configs) const;
  // Ids of the kernels that are called so: whole, or, where none is, in short.
  std::vector<uint32_t> kernels_called(std::string_view name) const;
  // Ids of names that contain `text`, upper and lower case alike.
  std::vector<uint32_t> matching(std::string_view text) const;

 private:
  base::Status read_window(const WindowSource& window, size_t& lines_read,
                           const std::function<bool()>& is_cancelled);
  void define(const std::vector<base::Json>& lines);
  void label_kernels();
  NameEntry kernel(uint32_t id) const;

  std::mutex update_mutex_;                                            // of the next member
  std::map<std::pair<format::Channel, uint64_t>, size_t> lines_read_;  // of each window

  mutable std::mutex mutex_;  // of all that follows; never held while something is read
  format::Dictionaries dictionaries_;
  std::vector<uint32_t> name_of_config_;
  std::set<uint32_t> kernel_names_;
  std::set<uint32_t> names_;                         // every id of a name
  std::unordered_map<uint32_t, NameEntry> kernels_;  // of `kernel_names_`
};

}  // namespace gpufl::index
