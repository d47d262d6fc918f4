// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <bitset>
#include <unordered_map>

#include <warpscope/lane_view.hpp>
#include <warpscope/problems.hpp>
#include <warpscope/trace.hpp>

// Begins and ends of one lane after another become spans: by token where they have one, else by
// event, the newest open one first.
namespace ws {
namespace detail {

class Pairing {
 public:
  Pairing(Trace& trace, ProblemTally& problems, uint64_t origin)
      : trace_(trace), problems_(problems), origin_(origin) {
    for (const auto& [id, name] : trace.names.events) {
      if (id < kEvents) named_.set(id);
    }
    if (trace.names.events.empty()) named_.set();
  }

  // `lane` has its block, group and SM, and gets its times.
  void pair(const LaneView& view, Lane& lane) {
    if (!view.has_time()) return;
    first_span_ = trace_.spans.size();
    const size_t first_unmatched = trace_.unmatched.size();
    clock_ = view.clock;
    before_ = view.first_clock();
    impossible_ = view.is_late() ? 1 : 0;
    unknown_ = 0;
    lane.first_ns = view.ns(view.clock) - origin_;
    const size_t gap = std::min(view.gap, view.records);
    walk(view, lane, 0, gap);
    if (gap < view.records) {
      // However long the gap is, it is not a clock that went back.
      const uint32_t resumed = high_half(view.words[gap]);
      clock_ += view.gap_skip + (resumed - before_);
      before_ = resumed;
      if (gap != 0) give_up_events();
      walk(view, lane, gap, view.records);
    }
    if (view.has_finalize) advance(view.finalize_clock);
    lane.last_ns = view.ns(clock_) - origin_;
    problems_.add(ProblemKind::UnmatchedEnd, trace_.unmatched.size() - first_unmatched, view.lane);
    problems_.add(ProblemKind::ImpossibleTime, impossible_, view.lane);
    problems_.add(ProblemKind::UnknownEvent, unknown_, view.lane);
    if (open_ != 0) keep_open_spans(view, lane);
    if (view.extension != nullptr) of_token_.clear();
  }

 private:
  void walk(const LaneView& view, const Lane& lane, size_t begin, size_t end) {
    if (view.cycles_per_ns != 0) {
      view.extension != nullptr ? walk<true, true>(view, lane, begin, end)
                                : walk<true, false>(view, lane, begin, end);
    } else {
      view.extension != nullptr ? walk<false, true>(view, lane, begin, end)
                                : walk<false, false>(view, lane, begin, end);
    }
  }

  template <bool kCycles, bool kExtended>
  void walk(const LaneView& view, const Lane& lane, size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i) {
      const uint64_t word = view.words[i];
      advance(high_half(word));
      const uint64_t now = (kCycles ? view.ns(clock_) : clock_) - origin_;
      const uint32_t event = record_event(word);
      const uint64_t extension = kExtended ? view.extension[i] : 0;
      unknown_ += named_[event] ? 0 : 1;
      switch (record_type(word)) {
        case RecordType::Begin: open<kCycles>(lane, event, now, extension); break;
        case RecordType::End: close<kCycles>(lane, event, now, extension); break;
        default: mark(lane, event, now, extension); break;
      }
    }
  }

  void advance(uint32_t clock) {
    const uint32_t step = clock - before_;
    impossible_ += step >> 31;
    clock_ += step;
    before_ = clock;
  }

  // The newest open span of a token or an event, counted from 1 in the lane; 0: none. While a span
  // is open, its dur_ns leads to the one that was open before, and duration_ns is the clock of its
  // begin.
  uint32_t& newest(uint32_t event, uint64_t extension) {
    return (extension & kExtToken) != 0 ? of_token_[ext_token(extension)] : of_event_[event];
  }

  template <bool kCycles>
  void open(const Lane& lane, uint32_t event, uint64_t now, uint64_t extension) {
    uint32_t& head = newest(event, extension);
    Span& span = trace_.spans.emplace_back();
    span.block = lane.block;
    span.group = lane.group;
    span.event_id = event;
    span.begin_ns = low_half(now);
    span.start_ns = now;
    span.sm = lane.sm;
    span.ending = Ending::NoEnd;
    take_extension(span, extension);
    span.dur_ns = head;
    if (kCycles) span.duration_ns = clock_;
    head = static_cast<uint32_t>(trace_.spans.size() - first_span_);
    ++open_;
  }

  template <bool kCycles>
  void close(const Lane& lane, uint32_t event, uint64_t now, uint64_t extension) {
    uint32_t& head = newest(event, extension);
    if (head == 0) {
      keep_end(lane, event, now, extension);
      return;
    }
    Span& span = trace_.spans[first_span_ + head - 1];
    head = span.dur_ns;
    --open_;
    if (kCycles) {
      span.cycles =
          static_cast<uint32_t>(std::min<uint64_t>(clock_ - span.duration_ns, 0xffffffff));
    }
    finish(span, now, Ending::Complete);
    if ((extension & kExtPayload) != 0) {
      span.end_payload = ext_payload(extension);
      span.flags |= kHasEndPayload;
    }
  }

  void mark(const Lane& lane, uint32_t event, uint64_t now, uint64_t extension) {
    Instant& instant = trace_.instants.emplace_back();
    instant.block = lane.block;
    instant.group = lane.group;
    instant.event_id = event;
    instant.ts_ns = low_half(now);
    instant.time_ns = now;
    instant.sm = lane.sm;
    take_extension(instant, extension);
  }

  void keep_end(const Lane& lane, uint32_t event, uint64_t now, uint64_t extension) {
    Span& span = trace_.unmatched.emplace_back();
    span.block = lane.block;
    span.group = lane.group;
    span.event_id = event;
    span.begin_ns = low_half(lane.first_ns);
    span.start_ns = lane.first_ns;
    span.sm = lane.sm;
    take_extension(span, extension & ~kExtPayload);
    if ((extension & kExtPayload) != 0) {
      span.end_payload = ext_payload(extension);
      span.flags |= kHasEndPayload;
    }
    finish(span, now, Ending::NoBegin);
  }

  static void finish(Span& span, uint64_t now, Ending ending) {
    span.duration_ns = now - span.start_ns;
    span.dur_ns = static_cast<uint32_t>(std::min<uint64_t>(span.duration_ns, 0xffffffff));
    span.ending = ending;
  }

  template <typename Record>
  static void take_extension(Record& record, uint64_t extension) {
    if ((extension & kExtPayload) != 0) {
      record.payload = ext_payload(extension);
      record.flags |= kHasPayload;
    }
    if ((extension & kExtToken) != 0) {
      record.token = ext_token(extension);
      record.flags |= kHasToken;
    }
  }

  // Behind a gap an end may belong to a begin that was overwritten: only tokens still pair.
  void give_up_events() {
    for (size_t i = first_span_; i < trace_.spans.size(); ++i) {
      const Span& span = trace_.spans[i];
      if (!span.has_token()) of_event_[span.event_id] = 0;
    }
  }

  void keep_open_spans(const LaneView& view, const Lane& lane) {
    problems_.add(ProblemKind::UnmatchedBegin, open_, view.lane);
    give_up_events();
    open_ = 0;
    auto& spans = trace_.spans;
    size_t kept = first_span_;
    for (size_t i = first_span_; i < spans.size(); ++i) {
      if (spans[i].ending == Ending::Complete) {
        spans[kept++] = spans[i];
      } else {
        finish(spans[i], lane.last_ns, Ending::NoEnd);
        trace_.unmatched.push_back(spans[i]);
      }
    }
    spans.resize(kept);
  }

  Trace& trace_;
  ProblemTally& problems_;
  const uint64_t origin_;
  std::bitset<kEvents> named_;
  std::array<uint32_t, kEvents> of_event_{};
  std::unordered_map<uint32_t, uint32_t> of_token_;
  // Of the lane at hand:
  size_t first_span_ = 0;
  uint64_t open_ = 0;
  uint64_t clock_ = 0;
  uint32_t before_ = 0;
  uint64_t impossible_ = 0, unknown_ = 0;
};

}  // namespace detail
}  // namespace ws
