// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>

#include "base/status.hpp"
#include "format/seal.hpp"
#include "index/index_builder.hpp"

// Reads lines of a window into a builder, within bounds that hold for what comes out of the
// decompressor, so that a small file cannot keep a server busy or fill its memory.
namespace gpufl::index {

struct ReadLimits {
  uint64_t text_bytes = uint64_t{16} << 30;  // a writer's window has at most 4 GiB
  // Text may be so many times larger than its file, once there is some.
  uint64_t ratio = 1000;
  uint64_t ratio_from_bytes = uint64_t{256} << 20;
  uint64_t rows = uint64_t{1} << 31;
  // One read_lines() takes no longer, by this clock.
  std::chrono::nanoseconds time = std::chrono::minutes(5);
  std::function<std::chrono::nanoseconds()> clock = [] {
    return std::chrono::nanoseconds(std::chrono::steady_clock::now().time_since_epoch());
  };
};

struct ReadProgress {
  format::LinePlace next;  // where the next line will stand
  uint64_t text_bytes = 0;
  bool is_out_of_time = false;  // with LimitReached: another time it may come further
};

// From `progress` on to the end; a torn last line is left for later. Cancelled, LimitReached,
// Corrupt: what stands before has been read, and `progress` is behind it.
base::Status read_lines(const std::filesystem::path& file, const ReadLimits& limits,
                        const std::function<bool()>& is_cancelled, IndexBuilder& builder,
                        ReadProgress& progress);

}  // namespace gpufl::index
