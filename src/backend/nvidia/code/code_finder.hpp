// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "backend/nvidia/code/code_caches.hpp"
#include "backend/nvidia/code/fat_index.hpp"
#include "base/page_allocator.hpp"

// Decides which images of code a session keeps: those of kernels that ran or were sampled, from
// what the driver loaded, else from fat binaries and caches. Each is handed over once a session.
// One thread at a time; a search may take seconds. Memory is bounded.
namespace gpufl::backend {

// As the vendor's samples name an image; nothing where it cannot be had.
using ImageChecksum = std::function<std::optional<uint64_t>(std::string_view image)>;

struct CodeSources {
  ImageChecksum checksum;
  std::vector<uint32_t> architectures;  // of the GPUs, as 90 for sm_90
  std::vector<std::string> cache_folders;
};

struct FoundCode {
  uint64_t id = 0;
  base::PageString image;  // empty: it was found nowhere
  std::string_view found;  // static
  std::string path;
  int64_t functions = -1;
};

class CodeFinder {
 public:
  static constexpr size_t kMaxHeldBytes = size_t{64} << 20;

  using Deliver = std::function<void(FoundCode)>;
  // A search ends early once `stop` is true.
  CodeFinder(Deliver deliver, const std::atomic<bool>& stop)
      : deliver_(std::move(deliver)), stop_(stop) {}

  // `is_new_session`: nothing was handed over yet.
  void begin(const CodeSources& sources, bool is_new_session);
  // The driver has loaded it. Held back while none of its functions is wanted; of more than fits
  // the oldest go.
  void add_loaded(base::PageString image);
  // A kernel of that mangled name ran. `since_ns`: when that became known, monotonic clock; what
  // was there before is not looked at twice. Where the image is not known by an id, one that has
  // the function is taken for it. False: it was stopped on its way, and is to be asked again.
  bool want_kernel(const std::string& name, int64_t since_ns);
  // A sample of that function was taken in the image of that id. The same.
  bool want_sampled(uint64_t id, const std::string& function, int64_t since_ns);

 private:
  struct Held {
    uint64_t id;
    base::PageString image;
    std::vector<uint64_t> functions;  // sorted
  };

  bool is_wanted(const Held& held) const;
  template <typename IsOne>
  bool deliver_held(IsOne is_one);
  void deliver(Held held, std::string_view found, std::string path);
  bool search(const std::string& name, std::optional<uint64_t> id, int64_t since_ns);
  void refresh(int64_t since_ns);

  const Deliver deliver_;
  const std::atomic<bool>& stop_;
  CodeSources sources_;
  FatIndex fat_binaries_;
  CodeCaches caches_;
  int64_t refreshed_ns_ = -1;
  int64_t search_ns_ = 0;

  std::list<Held> held_;  // in order of loading
  size_t held_bytes_ = 0;
  // Of this session.
  std::unordered_set<uint64_t> wanted_;         // functions of kernels that ran
  std::unordered_set<uint64_t> wanted_ids_;     // of images that were sampled
  std::unordered_set<uint64_t> delivered_;      // hashes of images
  std::unordered_set<uint64_t> delivered_ids_;  // and their ids
  std::unordered_set<uint64_t> covered_;        // and their functions
};

}  // namespace gpufl::backend
