// SPDX-License-Identifier: Apache-2.0
#include "capture/capture_gate.hpp"

#include <algorithm>
#include <limits>

#include "backend/vendor.hpp"

namespace gpufl::capture {

namespace {

constexpr std::string_view kScopeWord = "scope:";

}  // namespace

std::optional<RangeGate::Range> RangeGate::parse(std::string_view range) {
  const auto name_after = [&](std::string_view word) {
    return range.starts_with(word) ? range.substr(word.size()) : std::string_view();
  };
  if (const std::string_view name = name_after(kScopeWord); !name.empty()) {
    return Range{Source::Scope, name};
  }
  for (const backend::Vendor& vendor : backend::vendors()) {
    for (const backend::CaptureRangeWord& known : vendor.capture_ranges) {
      if (known.kind == backend::CaptureRangeKind::Profiler) {
        if (range == known.word) return Range{Source::Profiler, {}};
      } else if (const std::string_view name = name_after(known.word); !name.empty()) {
        return Range{Source::Marker, name};
      }
    }
  }
  return std::nullopt;
}

std::string RangeGate::refusal(std::string_view range) {
  if (parse(range)) return {};
  std::string words;
  for (const backend::Vendor& vendor : backend::vendors()) {
    for (const backend::CaptureRangeWord& known : vendor.capture_ranges) {
      if (!words.empty()) words += ", ";
      words += known.word;
      if (known.kind == backend::CaptureRangeKind::Marker) words += "NAME";
    }
  }
  words.append(" or ").append(kScopeWord).append("NAME");
  return "'" + std::string(range) + "' is not " + words;
}

base::Result<std::unique_ptr<RangeGate>> RangeGate::make(std::string_view range,
                                                         int64_t session_start_ns) {
  const std::optional<Range> parsed = parse(range);
  if (!parsed) return base::Status(base::Code::InvalidArgument, refusal(range));
  return std::unique_ptr<RangeGate>(
      new RangeGate(range, parsed->source, parsed->name, session_start_ns));
}

std::string_view RangeGate::scope_name() const {
  return source_ == Source::Scope ? std::string_view(name_) : std::string_view();
}

void RangeGate::note(int64_t monotonic_ns, bool begins) noexcept {
  if (source_ != Source::Profiler) return;
  const int64_t note = monotonic_ns * 2 + (begins ? 1 : 0);
  for (std::atomic<int64_t>& slot : notes_) {
    int64_t free = 0;
    if (slot.compare_exchange_strong(free, note, std::memory_order_release)) return;
  }
  turns_lost_.fetch_add(1, std::memory_order_relaxed);
}

void RangeGate::on_range(std::string_view name, bool begins, int64_t monotonic_ns) noexcept {
  if (source_ == Source::Marker && name == name_) add({monotonic_ns - session_start_ns_, begins});
}

void RangeGate::on_scope(bool begins, int64_t time_ns) { add({time_ns, begins}); }

void RangeGate::add(const Turn& turn) {
  try {
    turns_.push_back(turn);
  } catch (...) {
    turns_lost_.fetch_add(1, std::memory_order_relaxed);
  }
}

void RangeGate::take_notes() {
  for (std::atomic<int64_t>& slot : notes_) {
    const int64_t note = slot.exchange(0, std::memory_order_acquire);
    if (note != 0) add({note / 2 - session_start_ns_, note % 2 != 0});
  }
}

void RangeGate::settle(int64_t until_ns) {
  take_notes();
  std::stable_sort(turns_.begin(), turns_.end(),
                   [](const Turn& a, const Turn& b) { return a.time_ns < b.time_ns; });
  auto turn = turns_.begin();
  for (; turn != turns_.end() && turn->time_ns < until_ns; ++turn) {
    const bool was_open = depth_ > 0;
    if (source_ == Source::Profiler) {
      depth_ = turn->begins ? 1 : 0;  // its calls do not nest
    } else {
      depth_ = std::max<int64_t>(0, depth_ + (turn->begins ? 1 : -1));
    }
    if (was_open == (depth_ > 0)) continue;
    if (!was_open) ++opened_;
    settled_ns_ = std::max(settled_ns_, turn->time_ns);
    is_open_.add(settled_ns_, was_open ? 0 : 1);
  }
  turns_.erase(turns_.begin(), turn);
  settled_ns_ = std::max(settled_ns_, until_ns);
}

bool RangeGate::is_open(int64_t time_ns) const {
  // What is forgotten is so long ago that its calls have been decoded.
  return is_open_.at(time_ns).value_or(0) != 0;
}

base::Json RangeGate::summary(int64_t time_ns) const {
  base::Json event = base::Json::object();
  event.set("time", time_ns);
  event.set("name", opened_ > 0 ? "capture_range" : "capture_range_never_opened");
  event.set("text", range_).set("opened", opened_);
  const uint64_t lost = turns_lost_.load(std::memory_order_relaxed);
  if (lost > 0) event.set("lost", lost);
  return event;
}

}  // namespace gpufl::capture
