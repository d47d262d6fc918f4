// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope_host.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>

#include "format/batch_sink.hpp"
#include "format/ledger.hpp"
#include "format/warp_launch.hpp"

// A decoded warpscope capture as lines of the log: its `warp_launch` and its `warp_span` rows.
// Writes in batches, whatever the capture's size.
namespace gpufl::format {

// Where a capture lies on the session's clock, and in which kernel.
struct WarpPlace {
  int64_t begin_ns = 0;             // session time of its time zero
  double rate = 1;                  // nanoseconds of the session in one of the capture
  std::optional<int64_t> error_ns;  // nothing: not tied to the session's clock
  int64_t tick_ns = 0;              // 0: unknown
  int64_t device = -1;
  int64_t correlation = 0;  // 0: in no kernel that is known
  std::string join;         // as WarpLaunch has it

  int64_t at(uint64_t time_ns) const {
    const uint64_t within = std::min(time_ns, kMaxLengthNs);
    return begin_ns + static_cast<int64_t>(rate * static_cast<double>(within));
  }
  // Beyond that it is no time, but a damaged buffer.
  static constexpr uint64_t kMaxLengthNs = 1'000'000'000'000'000;
};

// The time of the last record, at most WarpPlace::kMaxLengthNs.
uint64_t last_time(const ws::Trace& trace);

// What `place` and `trace` say of the launch; what the caller knows besides is left to it.
WarpLaunch describe_launch(const ws::Trace& trace, const WarpPlace& place);

// Adds what the launch lost.
void account_for(const WarpLaunch& launch, Ledger& ledger);

// Rows come lane by lane, each lane's by their start.
void write_warp_rows(const ws::Trace& trace, const WarpPlace& place, int64_t launch,
                     BatchSink& sink);

}  // namespace gpufl::format
