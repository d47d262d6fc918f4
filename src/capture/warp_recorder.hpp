// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "capture/kernel_history.hpp"
#include "capture/warp_capture.hpp"

// Captures of warpscope on their way to the log: taken on the program's threads; decoded, placed on
// the session's clock, joined with their kernel and written on the collector's. A capture waits
// until the tracer has told of its kernel, but not for long. Borrows the clock; what waits is
// bounded.
namespace ws {
struct Trace;
}
namespace gpufl::capture {

struct WarpPlace;

class WarpRecorder {
 public:
  static constexpr size_t kMaxWaitingWords = size_t{1} << 24;
  static constexpr size_t kMaxWaiting = 1024;

  // `clock` null: the backend has none.
  WarpRecorder(const backend::DeviceClock* clock, int64_t session_start_ns)
      : clock_(clock), session_start_ns_(session_start_ns) {}

  // Any thread. False when others have all the room.
  bool take(WarpCapture capture);

  // The collector's thread. Rows that a tracer submits: kernels are remembered.
  void on_rows(const format::Batch& rows);
  // After a tracer's round. `has_tracer` false: no kernel will come. `everything`: nothing waits
  // on.
  void write(bool has_tracer, bool everything, backend::RowSink& sink);

 private:
  bool is_due(const WarpCapture& capture, bool has_tracer) const;
  std::optional<WarpCapture> next(bool has_tracer, bool everything);
  void write_one(WarpCapture capture, backend::RowSink& sink);
  KernelQuery query(const WarpCapture& capture) const;
  WarpPlace place(const WarpCapture& capture, const ws::Trace& trace,
                  std::vector<std::string>& problems) const;
  bool place_by_clock(const WarpCapture& capture, const ws::Trace& trace, WarpPlace& place) const;
  std::optional<uint64_t> origin(const WarpCapture& capture, const ws::Trace& trace) const;

  const backend::DeviceClock* const clock_;
  const int64_t session_start_ns_;

  // The collector's own.
  KernelHistory kernels_;

  std::mutex mutex_;  // guards what follows
  std::deque<WarpCapture> waiting_;
  size_t waiting_words_ = 0;
  int64_t launches_ = 0;
};

}  // namespace gpufl::capture
