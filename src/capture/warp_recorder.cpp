// SPDX-License-Identifier: Apache-2.0
#include "capture/warp_recorder.hpp"

#include <algorithm>
#include <gpufl/warpscope.hpp>
#include <utility>

#include "format/warp/warp_rows.hpp"

namespace gpufl::capture {
namespace {

// A kernel that has ended is told of within two rounds; one that is not by now was not recorded.
constexpr int64_t kPatienceNs = 1'000'000'000;
// Where nothing says which kernel is waited for.
constexpr int64_t kBlindPatienceNs = 300'000'000;
// Words that a round decodes before it lets the rest of the collector's work go on.
constexpr size_t kWordsPerRound = size_t{1} << 20;
// Of a timer that was not measured: the coarsest that GPUs have.
constexpr int64_t kCoarsestTickNs = 1024;

// What stamp_at() can be off: at once, and for each part of the distance.
constexpr int64_t kStampSlackNs = 1'000'000;
constexpr int64_t kStampDriftParts = 10'000;
// After which the low half of the GPU's clock begins anew: 4.3 seconds.
constexpr int64_t kLowHalfNs = int64_t{1} << 32;
constexpr uint32_t kLaneShift = 12;

static_assert(kMaxWarpscopeWords <= WarpRecorder::kMaxWaitingWords);

// Of what the GPU's clock showed at the capture's time zero.
std::optional<uint32_t> low_half(const std::vector<uint64_t>& words, const ws::Trace& trace) {
  if (trace.num_groups == 0) return std::nullopt;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == 0) continue;
    const uint32_t number = static_cast<uint32_t>(words[i]) >> kLaneShift;
    const ws::Lane* lane = trace.lane(number / trace.num_groups, number % trace.num_groups);
    // The first record of a lane is the first of it in the buffer.
    if (lane != nullptr) {
      return static_cast<uint32_t>(words[i] >> 32) - static_cast<uint32_t>(lane->first_ns);
    }
  }
  return std::nullopt;
}

bool is_same(const KernelMatch& a, const KernelMatch& b) {
  return a.kernel && b.kernel && a.kernel->start_ns == b.kernel->start_ns &&
         a.kernel->correlation == b.kernel->correlation;
}

}  // namespace

// When a capture's records were made, by the GPU's clock.
struct WarpExtent {
  bool has_records = false;
  std::optional<uint64_t> origin;    // of time zero
  std::optional<uint32_t> low_half;  // of that, where no more is known
  uint64_t length_ns = 0;
};

// Where that is in the session.
struct WarpLocation {
  std::optional<format::WarpPlace> place;
  KernelMatch match;
  bool is_uncertain = false;  // the low half alone does not say when it was
};

struct WarpRecorder::Waiting {
  WarpscopeCapture capture;
  std::optional<WarpExtent> extent;  // once it was decoded
};

WarpRecorder::WarpRecorder(const backend::DeviceClock* clock, int64_t session_start_ns)
    : clock_(clock), session_start_ns_(session_start_ns) {}
WarpRecorder::~WarpRecorder() = default;

bool WarpRecorder::take(WarpscopeCapture capture) {
  expect();
  const std::lock_guard lock(mutex_);
  const size_t words = capture.words.size();
  if (waiting_ >= kMaxWaiting || words > kMaxWaitingWords - waiting_words_) return false;
  taken_.push_back({std::move(capture), std::nullopt});
  taken_.back().capture.launch = ++launches_;
  ++waiting_;
  waiting_words_ += words;
  return true;
}

void WarpRecorder::give_room(size_t words) {
  const std::lock_guard lock(mutex_);
  --waiting_;
  waiting_words_ -= words;
}

void WarpRecorder::accept() {
  std::list<Waiting> taken;
  {
    const std::lock_guard lock(mutex_);
    taken.swap(taken_);
  }
  for (const auto& [capture, extent] : taken) {
    if (!capture.is_followed) continue;
    int64_t& newest = followed_ns_[capture.device];
    newest = std::max(newest, capture.taken_ns);
  }
  accepted_.splice(accepted_.end(), taken);
}

void WarpRecorder::on_rows(const format::Batch& rows) {
  if (rows.kind() != format::Kind::Kernel) return;
  if (is_expected_.load(std::memory_order_relaxed)) kernels_.expect_captures();
  kernels_.add(rows);
}

KernelQuery WarpRecorder::query(const WarpscopeCapture& capture) const {
  KernelQuery query;
  query.device = capture.device;
  query.correlation = capture.correlation;
  query.thread = capture.thread;
  if (capture.opened_ns != 0) {
    query.launched_after = capture.opened_ns - session_start_ns_;
  }
  query.launched_before = capture.taken_ns - session_start_ns_;
  return query;
}

// By nothing but what is known of its launch.
KernelMatch WarpRecorder::find_by_launch(const WarpscopeCapture& capture) const {
  const bool is_blind = capture.opened_ns == 0 && capture.correlation == 0;
  return is_blind ? KernelMatch{} : kernels_.find(query(capture));
}

bool WarpRecorder::has_waited_enough(const WarpscopeCapture& capture, int64_t now_ns) const {
  const bool is_blind = capture.opened_ns == 0 && capture.correlation == 0;
  const int64_t taken_ns = capture.taken_ns - session_start_ns_;
  return now_ns - taken_ns > (is_blind ? kBlindPatienceNs : kPatienceNs);
}

// Whether the tracer has told of a launch that came after the capture's: then of that, too.
bool WarpRecorder::is_settled(const WarpscopeCapture& capture) const {
  if (clock_ == nullptr || !capture.clock_failure.empty()) return false;
  const auto followed = followed_ns_.find(capture.device);
  return followed != followed_ns_.end() && followed->second >= capture.taken_ns &&
         !clock_->awaits_records(capture.device);
}

void WarpRecorder::write(int64_t now_ns, bool has_tracer, bool everything, backend::RowSink& sink) {
  accept();
  size_t words = 0;
  for (auto next = accepted_.begin();
       next != accepted_.end() && (everything || words < kWordsPerRound);) {
    const auto at = next++;
    const bool is_due = everything || !has_tracer || has_waited_enough(at->capture, now_ns);
    if (!is_due && !is_settled(at->capture)) continue;
    // Out of the list first: one that there is no memory for is not tried again and again.
    std::list<Waiting> one;
    one.splice(one.end(), accepted_, at);
    const size_t size = one.front().capture.words.size();
    if (is_due || !one.front().extent) words += size;
    bool is_written = true;
    try {
      is_written = write_if_due(one.front(), is_due, sink);
    } catch (...) {
      give_room(size);
      throw;
    }
    if (is_written) {
      give_room(size);
    } else {
      accepted_.splice(next, one);
    }
  }
}

void WarpRecorder::account(format::Ledger& ledger) const {
  const std::lock_guard lock(mutex_);
  ledger.warp_records_dropped = losses_.warp_records_dropped;
  ledger.uncounted.insert(losses_.uncounted.begin(), losses_.uncounted.end());
}

// One that need not be written yet is, if its kernel is known.
bool WarpRecorder::write_if_due(Waiting& waiting, bool is_due, backend::RowSink& sink) {
  WarpscopeCapture& capture = waiting.capture;
  std::optional<ws::Trace> trace;
  const auto decode = [&] {
    trace = ws::decode_capture(capture.words.data(), capture.words.size());
  };
  if (!waiting.extent) {
    decode();
    WarpExtent& extent = waiting.extent.emplace();
    extent.has_records = !trace->lanes.empty();
    if (trace->has_origin) {
      extent.origin = trace->origin_ns;
    } else {
      extent.low_half = low_half(capture.words, *trace);
    }
    extent.length_ns = format::last_time(*trace);
  }
  if (!is_due) {
    const WarpLocation location = locate(capture, *waiting.extent);
    if (!location.place || location.match.candidates == 0) return false;
  }
  if (!trace) decode();
  for (auto& [id, name] : capture.event_names) trace->names.events[id] = std::move(name);
  for (auto& [id, name] : capture.group_names) trace->names.groups[id] = std::move(name);
  if (!capture.kernel.empty()) trace->names.kernel = std::move(capture.kernel);
  std::vector<std::string> problems;
  const format::WarpPlace where = place(capture, *waiting.extent, problems);
  format::WarpLaunch launch = describe_launch(*trace, where);
  launch.launch = capture.launch;
  launch.problems.insert(launch.problems.begin(), problems.begin(), problems.end());
  write_warp_rows(*trace, where, launch.launch, sink);
  sink.write(format::Kind::WarpLaunch, format::to_json(launch));
  const std::lock_guard lock(mutex_);
  account_for(launch, losses_);
  return true;
}

// With time zero at `first` by the GPU's clock; nothing where that is not known.
std::optional<WarpLocation> WarpRecorder::locate_at(const WarpscopeCapture& capture, uint64_t first,
                                                    uint64_t length_ns) const {
  const auto placed = clock_->place(capture.device, first, first + length_ns);
  if (!placed) return std::nullopt;
  format::WarpPlace place;
  place.device = capture.device;
  place.begin_ns = placed->begin_ns - session_start_ns_;
  place.error_ns = placed->error_ns;
  place.tick_ns = placed->tick_ns;
  if (length_ns > 0) {
    place.rate =
        static_cast<double>(placed->end_ns - placed->begin_ns) / static_cast<double>(length_ns);
  }
  KernelQuery wanted = query(capture);
  wanted.begin_ns = place.begin_ns;
  wanted.end_ns = place.at(length_ns);
  wanted.error_ns = placed->error_ns;
  return WarpLocation{place, kernels_.find(wanted), false};
}

// `taken`: the clock when the capture was. The rest of it is one of those that it had since the
// capture was opened. Where there are several, kernels tell: it ran in one of them.
WarpLocation WarpRecorder::locate_by_low_half(const WarpscopeCapture& capture, uint64_t taken,
                                              uint32_t low_half, uint64_t length_ns) const {
  WarpLocation uncertain;
  uncertain.is_uncertain = true;
  const int64_t opened_ns = capture.opened_ns != 0 ? capture.opened_ns : session_start_ns_;
  const int64_t window_ns = capture.taken_ns - opened_ns;
  const int64_t longest_ns = window_ns + window_ns / kStampDriftParts + 2 * kStampSlackNs;
  const uint64_t latest = taken + kStampSlackNs;
  const auto length = static_cast<int64_t>(length_ns);
  // How long before `latest` it began, at least.
  const int64_t shortest_ns = length + (static_cast<uint32_t>(latest - length_ns) - low_half);
  if (shortest_ns > longest_ns) return uncertain;
  if (shortest_ns + kLowHalfNs > longest_ns) {
    const auto only = locate_at(capture, latest - static_cast<uint64_t>(shortest_ns), length_ns);
    return only ? *only : uncertain;
  }
  std::optional<WarpLocation> found;
  KernelQuery about = query(capture);
  for (int64_t back_ns = shortest_ns; back_ns <= longest_ns; back_ns += kLowHalfNs) {
    about.begin_ns = capture.taken_ns + kStampSlackNs - back_ns - session_start_ns_;
    about.end_ns = *about.begin_ns + length;
    about.error_ns = 2 * kStampSlackNs + back_ns / kStampDriftParts;
    if (kernels_.find(about).candidates == 0) continue;  // spares the exact place
    auto location = locate_at(capture, latest - static_cast<uint64_t>(back_ns), length_ns);
    if (!location || location->match.candidates == 0) continue;
    if (!found) {
      found = std::move(location);
    } else if (is_same(found->match, location->match)) {
      found->place.reset();  // twice in one kernel: that much is known
      found->is_uncertain = true;
    } else {
      uncertain.match.candidates = 2;
      return uncertain;
    }
  }
  return found ? *found : uncertain;
}

WarpLocation WarpRecorder::locate(const WarpscopeCapture& capture, const WarpExtent& extent) const {
  if (clock_ != nullptr && capture.device >= 0 && extent.has_records) {
    if (extent.origin) {
      const auto location = locate_at(capture, *extent.origin, extent.length_ns);
      if (location) return *location;
    } else if (extent.low_half) {
      const auto taken = clock_->stamp_at(capture.device, capture.taken_ns);
      if (taken) return locate_by_low_half(capture, *taken, *extent.low_half, extent.length_ns);
    }
  }
  return {std::nullopt, find_by_launch(capture), false};
}

format::WarpPlace WarpRecorder::place(const WarpscopeCapture& capture, const WarpExtent& extent,
                                      std::vector<std::string>& problems) const {
  WarpLocation location = locate(capture, extent);
  if (location.place && location.place->begin_ns < 0) {
    problems.push_back("it ran before the session began");
    location = {std::nullopt, find_by_launch(capture), false};
  }
  if (location.is_uncertain) {
    problems.push_back(
        "its records have only the low 32 bits of their times, which repeat every 4.3 s: it is "
        "not certain when it ran");
  }
  const bool is_placed = location.place.has_value();
  format::WarpPlace place = location.place.value_or(format::WarpPlace{});
  place.device = capture.device;
  const KernelMatch& match = location.match;
  if (match.kernel) {
    place.device = match.kernel->device;
    place.correlation = match.kernel->correlation;
    place.join = match.by_correlation ? "correlation" : "time";
  } else if (match.candidates > 1 && !location.is_uncertain) {
    problems.push_back("several kernels ran at that time: it is not known which one it belongs to");
  }
  if (is_placed) return place;

  if (extent.has_records && !capture.clock_failure.empty()) {
    problems.push_back("the GPU's clock was not measured: " + capture.clock_failure);
  }
  const auto length_ns = static_cast<int64_t>(extent.length_ns);
  const int64_t room_ns =
      match.kernel ? match.kernel->end_ns - match.kernel->start_ns - length_ns : -1;
  if (extent.has_records && room_ns >= 0) {
    // It lies somewhere in its kernel, and cannot be further off than what it leaves free there.
    place.begin_ns = match.kernel->start_ns + room_ns / 2;
    place.error_ns = room_ns - room_ns / 2 + kCoarsestTickNs;
  } else {
    place.begin_ns = std::max<int64_t>(0, capture.taken_ns - session_start_ns_ - length_ns);
  }
  return place;
}

}  // namespace gpufl::capture
