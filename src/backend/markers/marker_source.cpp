// SPDX-License-Identifier: Apache-2.0
#include "backend/markers/marker_source.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/markers/marker_recorder.hpp"
#include "base/decimal.hpp"

namespace gpufl::backend {
namespace {

using format::MarkerShape;
using marker_recorder::Label;
using marker_recorder::MarkerEvent;
using marker_recorder::MarkerEventKind;
using marker_recorder::MarkerRing;
using marker_recorder::PayloadKind;
using marker_recorder::Rings;

constexpr size_t kMaxBatchRows = 4096;
constexpr int64_t kAnnounceAfter_ns = 1'000'000'000;
// A range may end on another thread than it began on, whose ring was read a moment earlier.
constexpr int kRoundsToWaitForStart = 2;

template <typename Value>
Value bits_as(uint64_t bits) {
  Value value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

std::optional<base::Decimal> payload_of(const MarkerEvent& event) {
  switch (event.payload_kind) {
    case PayloadKind::Unsigned: return base::to_decimal(event.payload);
    case PayloadKind::Signed: return base::Decimal{bits_as<int64_t>(event.payload), 0};
    case PayloadKind::Double: return base::to_decimal(bits_as<double>(event.payload));
    case PayloadKind::Float: return base::to_decimal(bits_as<float>(event.payload));
    case PayloadKind::None: break;
  }
  return {};
}

// Rows of one set of columns: what a row lacks cannot be told by a value.
struct Rows {
  explicit Rows(bool has_range, bool has_payload)
      : has_range(has_range), has_payload(has_payload) {}
  const bool has_range, has_payload;
  bool has_stacks = false;  // any row
  format::Batch batch{format::Kind::Marker};
};

class RecordedMarkers final : public MarkerSource {
 public:
  RecordedMarkers(CaptureGate* gate, StackRecorder* stacks) : gate_(gate), stacks_(stacks) {}
  ~RecordedMarkers() override {
    stop();
    if (session_ != 0) marker_recorder::release();
  }

  Availability start(int64_t session_start_ns) override;
  void stop() override {
    if (session_ == 0 || stopped_.exchange(true)) return;
    marker_recorder::stop_recording();
  }
  void drain(int64_t now_ns, RowSink& sink) override;
  void account(format::Ledger& ledger) const override;

 private:
  struct OpenRange {
    MarkerEvent event;
    int64_t thread;
    int64_t scope;
    bool announced;
  };
  struct PendingEnd {
    uint64_t range;
    int64_t time_ns;
    int64_t thread;
    int rounds_left;
  };
  struct ThreadRanges {
    std::vector<OpenRange> pushed;  // of all domains, outermost first
    uint64_t published = 0;
    bool exited = false;
  };
  // For the gate, which has to hear of all threads' ranges in the order of time.
  struct Edge {
    int64_t time_ns;
    uint32_t text;
    bool begins;
  };

  static uint64_t lost();
  static uint64_t unmatched_pops();

  int64_t session_time(int64_t monotonic_ns) const {
    return std::max<int64_t>(0, monotonic_ns - session_start_ns_);
  }
  int64_t name_id(uint32_t text, RowSink& sink);
  int64_t domain_id(uint32_t domain, RowSink& sink);
  OpenRange open(const MarkerEvent& event, int64_t thread, RowSink& sink);
  void take(ThreadRanges& thread, int64_t thread_id, const MarkerEvent& event, RowSink& sink);
  void pop(ThreadRanges& thread, const MarkerEvent& event, RowSink& sink);
  bool end(const PendingEnd& end, RowSink& sink);
  void end_pending(RowSink& sink);
  void close(ThreadRanges& thread, int64_t end_ns, RowSink& sink);
  void close_all(int64_t end_ns, RowSink& sink);
  void write(MarkerShape shape, const OpenRange& range, int64_t end_ns, int64_t end_thread,
             RowSink& sink);
  void submit(Rows& rows, RowSink& sink);
  void tell_gate();
  void announce(OpenRange& range, int64_t now_ns, RowSink& sink);
  void announce_open(int64_t now_ns, RowSink& sink);
  void write_labels(int64_t now_ns, RowSink& sink);

  CaptureGate* const gate_;
  StackRecorder* const stacks_;
  uint32_t session_ = 0;
  int64_t session_start_ns_ = 0;
  std::atomic<bool> stopped_{false};
  bool finished_ = false;

  // The collector's.
  base::TickClock clock_;
  std::vector<ThreadRanges> threads_;  // by ring
  std::unordered_map<uint64_t, OpenRange> started_;
  std::vector<PendingEnd> pending_ends_;
  std::vector<Edge> edges_;
  std::unordered_map<uint32_t, int64_t> name_ids_, domain_ids_;  // of the log
  Rows rows_[4] = {Rows{false, false}, Rows{false, true}, Rows{true, false}, Rows{true, true}};
  uint32_t labels_written_ = 0;

  uint64_t unclosed_ = 0;
  uint64_t unmatched_ends_ = 0;
  uint64_t lost_before_ = 0, unmatched_before_ = 0, overflowed_before_ = 0;
};

Availability RecordedMarkers::start(int64_t session_start_ns) {
  session_ = marker_recorder::attach();
  if (session_ == 0) {
    return {false, "taken", "another session of this process records the markers", ""};
  }
  session_start_ns_ = session_start_ns;
  lost_before_ = lost();
  unmatched_before_ = unmatched_pops();
  overflowed_before_ = marker_recorder::texts_overflowed();
  clock_.mark();
  marker_recorder::start_recording(session_, stacks_);
  return {true, "", "", ""};
}

uint64_t RecordedMarkers::lost() {
  uint64_t lost = Rings::ringless_drops();
  Rings::for_each([&](const MarkerRing& ring) { lost += ring.lost(); });
  return lost;
}

uint64_t RecordedMarkers::unmatched_pops() {
  uint64_t pops = 0;
  Rings::for_each([&](const MarkerRing& ring) { pops += ring.unmatched_pops(); });
  return pops;
}

void RecordedMarkers::drain(int64_t now_ns, RowSink& sink) {
  if (session_ == 0 || finished_) return;
  const bool last = stopped_.load();
  write_labels(now_ns, sink);
  const uint32_t rings = Rings::count();
  if (threads_.size() < rings) threads_.resize(rings);
  // All marks are set before anything is read, so that less is waited for in end_pending().
  for (uint32_t i = 0; i < rings; ++i) {
    const MarkerRing* ring = Rings::at(i);
    if (ring == nullptr) continue;
    threads_[i].exited =
        ring->state() == MarkerRing::State::Exited;  // first: then the mark is final
    threads_[i].published = ring->published();
  }
  clock_.mark();
  for (uint32_t i = 0; i < rings; ++i) {
    MarkerRing* ring = Rings::at(i);
    if (ring == nullptr) continue;
    ThreadRanges& thread = threads_[i];
    ring->drain_until(thread.published, [&](MarkerEvent event) {
      event.time_ns = clock_.monotonic_ns(event.ticks);
      take(thread, ring->thread_id(), event, sink);
    });
    if (!thread.exited) continue;
    close(thread, session_time(ring->exit_time_ns()), sink);
    ring->make_free(session_);
  }
  end_pending(sink);
  tell_gate();
  if (last) {
    close_all(now_ns, sink);
  } else {
    announce_open(now_ns, sink);
  }
  for (Rows& rows : rows_) submit(rows, sink);
}

void RecordedMarkers::take(ThreadRanges& thread, int64_t thread_id, const MarkerEvent& event,
                           RowSink& sink) {
  switch (event.kind) {
    case MarkerEventKind::Mark:
      write(MarkerShape::Mark, open(event, thread_id, sink), session_time(event.time_ns), thread_id,
            sink);
      break;
    case MarkerEventKind::Push: thread.pushed.push_back(open(event, thread_id, sink)); break;
    case MarkerEventKind::Pop: pop(thread, event, sink); break;
    case MarkerEventKind::Start:
      started_.insert_or_assign(event.range, open(event, thread_id, sink));
      break;
    case MarkerEventKind::End: {
      const PendingEnd ending{event.range, event.time_ns, thread_id, kRoundsToWaitForStart};
      if (!end(ending, sink)) pending_ends_.push_back(ending);
      break;
    }
  }
}

RecordedMarkers::OpenRange RecordedMarkers::open(const MarkerEvent& event, int64_t thread,
                                                 RowSink& sink) {
  if (gate_ != nullptr && event.kind != MarkerEventKind::Mark) {
    edges_.push_back({event.time_ns, event.text, true});
  }
  const ScopeRef scope = sink.scope_at(thread, session_time(event.time_ns));
  return {event, thread, scope.inherited ? 0 : scope.scope, false};
}

void RecordedMarkers::pop(ThreadRanges& thread, const MarkerEvent& event, RowSink& sink) {
  auto& pushed = thread.pushed;
  const auto found = std::find_if(pushed.rbegin(), pushed.rend(), [&](const OpenRange& range) {
    return range.event.domain == event.domain;
  });
  if (found == pushed.rend()) return;
  if (gate_ != nullptr) edges_.push_back({event.time_ns, found->event.text, false});
  write(MarkerShape::PushPop, *found, session_time(event.time_ns), found->thread, sink);
  pushed.erase(std::next(found).base());
}

bool RecordedMarkers::end(const PendingEnd& end, RowSink& sink) {
  const auto found = started_.find(end.range);
  if (found == started_.end()) return false;
  const OpenRange range = found->second;
  started_.erase(found);
  if (gate_ != nullptr) edges_.push_back({end.time_ns, range.event.text, false});
  write(MarkerShape::StartEnd, range, session_time(end.time_ns), end.thread, sink);
  return true;
}

void RecordedMarkers::end_pending(RowSink& sink) {
  std::erase_if(pending_ends_, [&](PendingEnd& pending) {
    if (end(pending, sink)) return true;
    if (--pending.rounds_left > 0) return false;
    ++unmatched_ends_;
    return true;
  });
}

void RecordedMarkers::close(ThreadRanges& thread, int64_t end_ns, RowSink& sink) {
  unclosed_ += thread.pushed.size();
  while (!thread.pushed.empty()) {
    const OpenRange range = thread.pushed.back();
    thread.pushed.pop_back();
    if (gate_ != nullptr) edges_.push_back({session_start_ns_ + end_ns, range.event.text, false});
    write(MarkerShape::PushPop, range, end_ns, range.thread, sink);
  }
}

void RecordedMarkers::close_all(int64_t end_ns, RowSink& sink) {
  finished_ = true;
  for (ThreadRanges& thread : threads_) close(thread, end_ns, sink);
  unclosed_ += started_.size();
  unmatched_ends_ += pending_ends_.size();
  for (const auto& [id, range] : std::exchange(started_, {})) {
    write(MarkerShape::StartEnd, range, end_ns, range.thread, sink);
  }
}

int64_t RecordedMarkers::name_id(uint32_t text, RowSink& sink) {
  const auto [place, added] = name_ids_.try_emplace(text, 0);
  if (added) place->second = sink.intern(format::Dict::Name, marker_recorder::text_of(text));
  return place->second;
}

int64_t RecordedMarkers::domain_id(uint32_t domain, RowSink& sink) {
  constexpr int64_t kNone = 0;  // as a dictionary id in any column
  if (domain == base::Interner::kEmptyId) return kNone;
  const auto [place, added] = domain_ids_.try_emplace(domain, kNone);
  if (added) {
    place->second = sink.intern(format::Dict::Name, marker_recorder::g_domains.text(domain));
  }
  return place->second;
}

void RecordedMarkers::write(MarkerShape shape, const OpenRange& range, int64_t end_ns,
                            int64_t end_thread, RowSink& sink) {
  const MarkerEvent& event = range.event;
  const int64_t start_ns = session_time(event.time_ns);
  const std::optional<base::Decimal> payload = payload_of(event);
  const base::Decimal decimal = payload.value_or(base::Decimal{});
  const size_t has_range = shape == MarkerShape::StartEnd ? 1 : 0;
  const int64_t stack = shape == MarkerShape::PushPop ? sink.stack(event.stack()) : 0;
  Rows& rows = rows_[has_range * 2 + (payload ? 1 : 0)];
  rows.has_stacks |= stack != 0;
  rows.batch.push_row({static_cast<int64_t>(event.range), static_cast<int64_t>(shape), start_ns,
                       std::max<int64_t>(0, end_ns - start_ns), range.thread, end_thread,
                       range.scope, domain_id(event.domain, sink), name_id(event.text, sink),
                       event.category, event.color, decimal.digits, decimal.exponent, stack});
  if (rows.batch.rows() >= kMaxBatchRows) submit(rows, sink);
}

void RecordedMarkers::submit(Rows& rows, RowSink& sink) {
  namespace column = format::marker_column;
  if (rows.batch.empty()) return;
  if (!rows.has_range) {
    rows.batch.mutable_column(column::kId).clear();
    rows.batch.mutable_column(column::kEndThread).clear();
  }
  if (!rows.has_payload) {
    rows.batch.mutable_column(column::kPayload).clear();
    rows.batch.mutable_column(column::kPayloadExponent).clear();
  }
  if (!std::exchange(rows.has_stacks, false)) rows.batch.mutable_column(column::kStack).clear();
  sink.submit(rows.batch);
  rows.batch.clear();
}

void RecordedMarkers::tell_gate() {
  if (edges_.empty()) return;
  std::stable_sort(edges_.begin(), edges_.end(),
                   [](const Edge& a, const Edge& b) { return a.time_ns < b.time_ns; });
  for (const Edge& edge : edges_) {
    gate_->on_range(marker_recorder::text_of(edge.text), edge.begins, edge.time_ns);
  }
  edges_.clear();
}

void RecordedMarkers::announce(OpenRange& range, int64_t now_ns, RowSink& sink) {
  const int64_t start_ns = session_time(range.event.time_ns);
  if (range.announced || now_ns - start_ns < kAnnounceAfter_ns) return;
  range.announced = true;
  base::Json line = base::Json::object();
  line.set("time", now_ns)
      .set("name", "marker_open")
      .set("text", marker_recorder::text_of(range.event.text))
      .set("start", start_ns)
      .set("thread", range.thread);
  if (range.event.domain != base::Interner::kEmptyId) {
    line.set("domain", marker_recorder::g_domains.text(range.event.domain));
  }
  sink.write(format::Kind::Event, line);
}

void RecordedMarkers::announce_open(int64_t now_ns, RowSink& sink) {
  for (ThreadRanges& thread : threads_) {
    for (OpenRange& range : thread.pushed) announce(range, now_ns, sink);
  }
  for (auto& [id, range] : started_) announce(range, now_ns, sink);
}

void RecordedMarkers::write_labels(int64_t now_ns, RowSink& sink) {
  for (const uint32_t count = marker_recorder::label_count(); labels_written_ < count;
       ++labels_written_) {
    const Label label = marker_recorder::label(labels_written_);
    const bool category = label.kind == Label::Kind::Category;
    base::Json line = base::Json::object();
    line.set("time", now_ns)
        .set("name", category ? "marker_category" : "thread_name")
        .set("text", marker_recorder::g_kept_texts.text(label.text))
        .set(category ? "category" : "thread", label.number);
    if (label.domain != base::Interner::kEmptyId) {
      line.set("domain", marker_recorder::g_domains.text(label.domain));
    }
    sink.write(format::Kind::Event, line);
  }
}

void RecordedMarkers::account(format::Ledger& ledger) const {
  if (session_ == 0) return;
  ledger.markers_dropped = ledger.markers_dropped.value_or(0) + lost() - lost_before_;
  ledger.markers_unclosed = ledger.markers_unclosed.value_or(0) + unclosed_;
  ledger.markers_unmatched =
      ledger.markers_unmatched.value_or(0) + unmatched_ends_ + unmatched_pops() - unmatched_before_;
  ledger.names_overflowed += marker_recorder::texts_overflowed() - overflowed_before_;
}

}  // namespace

std::unique_ptr<MarkerSource> make_marker_source(CaptureGate* gate, StackRecorder* stacks) {
  return std::make_unique<RecordedMarkers>(gate, stacks);
}

}  // namespace gpufl::backend
