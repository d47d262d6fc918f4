// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/json.hpp"
#include "base/status.hpp"
#include "capture/change_history.hpp"

// Which part of the program is wanted: between the vendor's profiler start and stop, or inside a
// range or a scope of a given name, on whatever thread. A call belongs to the part in which it
// began. The profiler's calls come from any thread and take no lock; all else is the collector's
// thread, whose round tells ranges and scopes, then settles, then asks.
namespace gpufl::capture {

class RangeGate final : public backend::CaptureGate {
 public:
  // Why `range` is none; empty where it is one: "scope:NAME", or as a vendor calls its own
  // (backend/vendor.hpp).
  static std::string refusal(std::string_view range);
  static base::Result<std::unique_ptr<RangeGate>> make(std::string_view range,
                                                       int64_t session_start_ns);

  bool is_open(int64_t time_ns) const override;
  void on_profiler_start(int64_t monotonic_ns) noexcept override { note(monotonic_ns, true); }
  void on_profiler_stop(int64_t monotonic_ns) noexcept override { note(monotonic_ns, false); }
  void on_range(std::string_view name, bool begins, int64_t monotonic_ns) noexcept override;

  // The name of the scopes that on_scope() is to be told of; empty: none.
  std::string_view scope_name() const;
  void on_scope(bool begins, int64_t time_ns);  // session time
  // Everything before `until_ns` (session time) has been told.
  void settle(int64_t until_ns);

  const std::string& range() const { return range_; }
  uint64_t opened() const { return opened_; }  // how often it went from closed to open
  // The event of the session's end: how often the range was met, and what was lost of it.
  base::Json summary(int64_t time_ns) const;

 private:
  enum class Source : uint8_t { Profiler, Marker, Scope };
  struct Range {
    Source source;
    std::string_view name;
  };
  static std::optional<Range> parse(std::string_view range);
  struct Turn {
    int64_t time_ns;
    bool begins;
  };
  static constexpr size_t kSlots = 64;  // calls of the profiler between two rounds

  RangeGate(std::string_view range, Source source, std::string_view name, int64_t session_start_ns)
      : range_(range), source_(source), name_(name), session_start_ns_(session_start_ns) {}
  void note(int64_t monotonic_ns, bool begins) noexcept;
  void take_notes();
  void add(const Turn& turn);

  const std::string range_;
  const Source source_;
  const std::string name_;
  const int64_t session_start_ns_;
  // Twice the time, plus one for a start; 0: free. In no order.
  std::array<std::atomic<int64_t>, kSlots> notes_ = {};
  std::atomic<uint64_t> turns_lost_{0};

  std::vector<Turn> turns_;  // not settled
  int64_t depth_ = 0;        // ranges that are open
  int64_t settled_ns_ = 0;
  uint64_t opened_ = 0;
  ChangeHistory::Budget budget_ = size_t{1} << 16;
  mutable ChangeHistory is_open_{budget_};  // asking remembers where the last answer was
};

}  // namespace gpufl::capture
