// SPDX-License-Identifier: Apache-2.0
#include "capture/warp_recorder.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "capture/warp_rows.hpp"

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

// What stamp_at() can be off.
constexpr uint64_t kStampSlackNs = 1'000'000;
constexpr uint32_t kLaneShift = 12;

}  // namespace

bool WarpRecorder::take(WarpCapture capture) {
  const std::lock_guard lock(mutex_);
  const size_t words = capture.words.size();
  if (waiting_.size() >= kMaxWaiting || words > kMaxWaitingWords - waiting_words_) return false;
  waiting_.push_back(std::move(capture));
  waiting_.back().launch = ++launches_;
  waiting_words_ += words;
  return true;
}

void WarpRecorder::on_rows(const format::Batch& rows) {
  if (rows.kind() == format::Kind::Kernel) kernels_.add(rows);
}

KernelQuery WarpRecorder::query(const WarpCapture& capture) const {
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

bool WarpRecorder::is_due(const WarpCapture& capture, bool has_tracer) const {
  const int64_t waited_ns = base::monotonic_ns() - capture.taken_ns;
  const bool is_blind = capture.opened_ns == 0 && capture.correlation == 0;
  if (!has_tracer || waited_ns > (is_blind ? kBlindPatienceNs : kPatienceNs)) return true;
  if (clock_ != nullptr && capture.device >= 0 && clock_->awaits_records(capture.device)) {
    return false;
  }
  // Which of several it is shows when its records are placed.
  return !is_blind && kernels_.find(query(capture)).candidates != 0;
}

std::optional<WarpCapture> WarpRecorder::next(bool has_tracer, bool everything) {
  const std::lock_guard lock(mutex_);
  const auto due = std::find_if(waiting_.begin(), waiting_.end(), [&](const WarpCapture& capture) {
    return everything || is_due(capture, has_tracer);
  });
  if (due == waiting_.end()) return std::nullopt;
  WarpCapture capture = std::move(*due);
  waiting_.erase(due);
  waiting_words_ -= capture.words.size();
  return capture;
}

void WarpRecorder::write(bool has_tracer, bool everything, backend::RowSink& sink) {
  size_t words = 0;
  while (everything || words < kWordsPerRound) {
    std::optional<WarpCapture> capture = next(has_tracer, everything);
    if (!capture) return;
    words += capture->words.size();
    write_one(std::move(*capture), sink);
  }
}

void WarpRecorder::write_one(WarpCapture capture, backend::RowSink& sink) {
  ws::Trace trace = ws::decode_capture(capture.words.data(), capture.words.size());
  for (auto& [id, name] : capture.event_names) trace.names.events[id] = std::move(name);
  for (auto& [id, name] : capture.group_names) trace.names.groups[id] = std::move(name);
  if (!capture.kernel.empty()) trace.names.kernel = std::move(capture.kernel);
  std::vector<std::string> problems;
  const WarpPlace where = place(capture, trace, problems);
  format::WarpLaunch launch = describe_launch(trace, where);
  launch.launch = capture.launch;
  launch.problems.insert(launch.problems.begin(), problems.begin(), problems.end());
  write_warp_rows(trace, where, launch.launch, sink);
  sink.write(format::Kind::WarpLaunch, format::to_json(launch));
}

// The GPU's clock at the capture's time zero. Records alone have its low 32 bits: the rest is what
// the clock had when the capture was taken.
std::optional<uint64_t> WarpRecorder::origin(const WarpCapture& capture,
                                             const ws::Trace& trace) const {
  if (trace.has_origin) return trace.origin_ns;
  if (clock_ == nullptr || trace.lanes.empty() || trace.num_groups == 0) return std::nullopt;
  const std::optional<uint64_t> taken = clock_->stamp_at(capture.device, capture.taken_ns);
  if (!taken) return std::nullopt;
  for (size_t i = 1; i < capture.words.size(); ++i) {
    const uint64_t word = capture.words[i];
    if (word == 0) continue;
    const uint32_t number = static_cast<uint32_t>(word) >> kLaneShift;
    const ws::Lane* lane = trace.lane(number / trace.num_groups, number % trace.num_groups);
    if (lane == nullptr) continue;
    // The first record of a lane is the first of it in the buffer.
    const auto zero = static_cast<uint32_t>(word >> 32) - static_cast<uint32_t>(lane->first_ns);
    const uint64_t latest = *taken + kStampSlackNs;
    return latest - (static_cast<uint32_t>(latest) - zero);
  }
  return std::nullopt;
}

bool WarpRecorder::place_by_clock(const WarpCapture& capture, const ws::Trace& trace,
                                  WarpPlace& place) const {
  if (clock_ == nullptr || capture.device < 0) return false;
  const std::optional<uint64_t> first = origin(capture, trace);
  if (!first) return false;
  const uint64_t length_ns = last_time(trace);
  const auto placed = clock_->place(capture.device, *first, *first + length_ns);
  if (!placed) return false;
  place.begin_ns = placed->begin_ns - session_start_ns_;
  place.error_ns = placed->error_ns;
  place.tick_ns = placed->tick_ns;
  if (length_ns > 0) {
    place.rate =
        static_cast<double>(placed->end_ns - placed->begin_ns) / static_cast<double>(length_ns);
  }
  return true;
}

WarpPlace WarpRecorder::place(const WarpCapture& capture, const ws::Trace& trace,
                              std::vector<std::string>& problems) const {
  WarpPlace place;
  place.device = capture.device;
  const auto length_ns = static_cast<int64_t>(last_time(trace));
  const bool has_records = !trace.lanes.empty();
  bool is_placed = has_records && place_by_clock(capture, trace, place);
  if (is_placed && place.begin_ns < 0) {
    problems.push_back("it ran before the session began");
    is_placed = false;
  }
  KernelQuery wanted = query(capture);
  if (is_placed) {
    wanted.begin_ns = place.begin_ns;
    wanted.end_ns = place.at(static_cast<uint64_t>(length_ns));
    wanted.error_ns = *place.error_ns;
  } else if (capture.opened_ns == 0 && capture.correlation == 0) {
    wanted.launched_after = wanted.launched_before;  // nothing says which it could be
  }
  const KernelMatch match = kernels_.find(wanted);
  if (match.kernel) {
    place.device = match.kernel->device;
    place.correlation = match.kernel->correlation;
    place.join = match.by_correlation ? "correlation" : "time";
  } else if (match.candidates > 1) {
    problems.push_back("several kernels ran at that time: it is not known which it is of");
  }
  if (is_placed) return place;

  place.rate = 1;
  place.error_ns.reset();
  if (has_records && !capture.clock_failure.empty()) {
    problems.push_back("the GPU's clock was not measured: " + capture.clock_failure);
  }
  const int64_t room_ns =
      match.kernel ? match.kernel->end_ns - match.kernel->start_ns - length_ns : -1;
  if (has_records && room_ns >= 0) {
    // It lies somewhere in its kernel, and cannot be further off than what it leaves free there.
    place.begin_ns = match.kernel->start_ns + room_ns / 2;
    place.error_ns = room_ns - room_ns / 2 + kCoarsestTickNs;
  } else {
    place.begin_ns = std::max<int64_t>(0, capture.taken_ns - session_start_ns_ - length_ns);
  }
  return place;
}

}  // namespace gpufl::capture
