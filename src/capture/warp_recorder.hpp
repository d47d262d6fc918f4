// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "capture/kernel_history.hpp"
#include "capture/warpscope_capture.hpp"

// Captures of warpscope on their way to the log: taken on the program's threads; decoded, placed on
// the session's clock, joined with their kernel and written on the collector's. A capture waits
// until the tracer has told of its kernel, but not for long: other kernels of its time are not
// taken for it. Borrows the clock; what waits is bounded.
namespace ws {
struct Trace;
}
namespace gpufl::format {
struct WarpPlace;
}
namespace gpufl::capture {

struct WarpExtent;
struct WarpLocation;

class WarpRecorder {
 public:
  static constexpr size_t kMaxWaitingWords = size_t{1} << 25;
  static constexpr size_t kMaxWaiting = 1024;

  // `clock` null: the backend has none.
  WarpRecorder(const backend::DeviceClock* clock, int64_t session_start_ns);
  ~WarpRecorder();
  WarpRecorder(const WarpRecorder&) = delete;
  WarpRecorder& operator=(const WarpRecorder&) = delete;

  // Any thread. A capture will come: kernels from now on are remembered for longer.
  void expect() { is_expected_.store(true, std::memory_order_relaxed); }
  // Any thread. False when others have all the room.
  bool take(WarpscopeCapture capture);
  // Any thread. What captures that were written have lost.
  void account(format::Ledger& ledger) const;

  // The collector's thread. Rows that a tracer submits: kernels are remembered.
  void on_rows(const format::Batch& rows);
  // After a tracer's round, which began at `now_ns` of the session. `has_tracer` false: no kernel
  // will come. `everything`: nothing waits on.
  void write(int64_t now_ns, bool has_tracer, bool everything, backend::RowSink& sink);

 private:
  struct Waiting;

  void accept();
  bool has_waited_enough(const WarpscopeCapture& capture, int64_t now_ns) const;
  bool is_settled(const WarpscopeCapture& capture) const;
  bool write_if_due(Waiting& waiting, bool is_due, backend::RowSink& sink);
  void give_room(size_t words);
  KernelQuery query(const WarpscopeCapture& capture) const;
  KernelMatch find_by_launch(const WarpscopeCapture& capture) const;
  WarpLocation locate(const WarpscopeCapture& capture, const WarpExtent& extent) const;
  std::optional<WarpLocation> locate_at(const WarpscopeCapture& capture, uint64_t first,
                                        uint64_t length_ns) const;
  WarpLocation locate_by_low_half(const WarpscopeCapture& capture, uint64_t taken,
                                  uint32_t low_half, uint64_t length_ns) const;
  format::WarpPlace place(const WarpscopeCapture& capture, const WarpExtent& extent,
                          std::vector<std::string>& problems) const;

  const backend::DeviceClock* const clock_;
  const int64_t session_start_ns_;
  std::atomic<bool> is_expected_{false};

  // The collector's own.
  KernelHistory kernels_;
  std::list<Waiting> accepted_;
  std::map<int64_t, int64_t> followed_ns_;  // by device: taken_ns of the newest that is_followed

  mutable std::mutex mutex_;  // guards what follows
  format::Ledger losses_;     // of captures that were written
  std::list<Waiting> taken_;
  size_t waiting_ = 0, waiting_words_ = 0;  // taken and accepted
  int64_t launches_ = 0;
};

}  // namespace gpufl::capture
