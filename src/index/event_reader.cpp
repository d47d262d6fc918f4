// SPDX-License-Identifier: Apache-2.0
#include "index/event_reader.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <unordered_map>

namespace gpufl::index {
namespace {

// Kinds of batches that wanted tracks come from, as work and as calls.
struct WantedKinds {
  std::array<bool, format::kKindCount> work{}, calls{};
};

WantedKinds kinds_of(const WindowIndex& index, const WantedTracks& wanted) {
  WantedKinds kinds;
  for (size_t i = 0; i < index.tracks.size(); ++i) {
    if (!wanted.is_wanted[i]) continue;
    const TrackKind track = index.tracks[i].kind;
    (is_call(track) ? kinds.calls : kinds.work)[static_cast<size_t>(source_of(track))] = true;
  }
  return kinds;
}

// What of a batch is wanted spans; empty: nothing of it is.
TimeSpan wanted_span(const IndexedBatch& batch, const WantedKinds& kinds,
                     const WantedTracks& wanted) {
  const auto kind = static_cast<size_t>(batch.kind);
  TimeSpan span;
  if (kinds.work[kind] && batch.work.reaches(wanted.from, wanted.to)) {
    span.include(batch.work.first, batch.work.last);
  }
  if (kinds.calls[kind] && batch.calls.reaches(wanted.from, wanted.to)) {
    span.include(batch.calls.first, batch.calls.last);
  }
  return span;
}

template <typename Visit>
void visit_batches(const WindowIndex& index, const WantedTracks& wanted, Visit visit) {
  const WantedKinds kinds = kinds_of(index, wanted);
  for (size_t i = 0; i < index.batches.size(); ++i) {
    const TimeSpan span = wanted_span(index.batches[i], kinds, wanted);
    if (!span.empty()) visit(i, span);
  }
}

// Decodes batches of one window and gives their events the rows that they have in the index.
class BatchEvents {
 public:
  BatchEvents(const WindowSource& window, const WantedTracks& wanted) : window_(window) {
    const WindowIndex& index = window.index();
    for (size_t i = 0; i < index.tracks.size(); ++i) {
      if (wanted.is_wanted[i]) numbers_[index.tracks[i]] = static_cast<uint32_t>(i);
    }
  }

  const WindowSource& window() const { return window_; }

  template <typename Visitor>
  base::Status read(std::span<const size_t> batches, RowEvents& rows,
                    const Visitor& visitor) const {
    return window_.read(batches, [&](const IndexedBatch& batch, const format::Batch& decoded) {
      for (const TrackEvents& track : rows.read(decoded)) {
        const auto number = numbers_.find(track.key);
        if (number == numbers_.end()) continue;
        TrackRows state;
        for (const RowsBefore& before : batch.before) {
          if (before.track == number->second) state = before.rows;
        }
        const auto events =
            is_call(track.key.kind) ? state.begin_calls(track.events()) : track.events();
        for (const Event& event : events) {
          const uint32_t row = state.place(event);
          if (!visitor(batch, number->second, row, event)) return false;
        }
      }
      return true;
    });
  }

 private:
  const WindowSource& window_;
  std::unordered_map<TrackKey, uint32_t, TrackKeyHash> numbers_;
};

// Batches that are read at a time: the first few by themselves, because they may be enough.
constexpr size_t kFirstGroup = 2;
constexpr size_t kLargestGroup = 64;

class OrderedReader {
 public:
  OrderedReader(std::span<const std::shared_ptr<const WindowSource>> windows,
                const OrderedRead& read)
      : asked_(read) {
    for (const auto& window : windows) {
      const TimeSpan& span = window->index().span;
      if (!span.empty()) windows_.push_back({key_of(span), window.get()});
    }
    std::stable_sort(windows_.begin(), windows_.end(),
                     [](const auto& a, const auto& b) { return a.key < b.key; });
  }

  base::Status run() {
    for (size_t size = kFirstGroup; enter_windows() && !batches_.empty();
         size = std::min(2 * size, kLargestGroup)) {
      std::map<size_t, std::vector<size_t>> group;  // by window
      for (size_t taken = 0; taken < size && is_next_needed(); ++taken) {
        std::pop_heap(batches_.begin(), batches_.end(), is_later);
        group[batches_.back().window].push_back(batches_.back().batch);
        batches_.pop_back();
      }
      if (group.empty()) return {};
      for (auto& [number, batches] : group) {
        // In the order of the file, which is read once for all of them.
        std::sort(batches.begin(), batches.end());
        bool goes_on = true;
        const base::Status status = read_group(*entered_[number], batches, goes_on);
        if (!status || !goes_on) return status;
      }
    }
    return {};
  }

 private:
  struct NextWindow {
    int64_t key;
    const WindowSource* window;
  };
  struct NextBatch {
    int64_t key;
    size_t window, batch;  // numbers in `entered_` and in its index
  };
  static bool is_later(const NextBatch& a, const NextBatch& b) { return a.key > b.key; }

  // Rises in the order of reading; moment_of() is the way back.
  int64_t key_of(const TimeSpan& span) const {
    return asked_.is_backward ? -std::clamp(span.last, -kMaxTime, kMaxTime)
                              : std::clamp(span.first, -kMaxTime, kMaxTime);
  }
  int64_t moment_of(int64_t key) const { return asked_.is_backward ? -key : key; }

  // Windows that come before the batches at hand. False: nothing more is needed.
  bool enter_windows() {
    while (next_window_ < windows_.size() && is_window_next()) {
      const NextWindow& next = windows_[next_window_++];
      if (!asked_.is_needed(moment_of(next.key), rows_)) return false;
      const WantedTracks wanted = asked_.enter(*next.window);
      const size_t number = entered_.size();
      entered_.push_back(std::make_unique<BatchEvents>(*next.window, wanted));
      visit_batches(next.window->index(), wanted, [&](size_t i, const TimeSpan& span) {
        batches_.push_back({key_of(span), number, i});
        std::push_heap(batches_.begin(), batches_.end(), is_later);
      });
    }
    return true;
  }
  bool is_window_next() const {
    return batches_.empty() || windows_[next_window_].key <= batches_.front().key;
  }
  bool is_next_needed() const {
    if (batches_.empty() || (next_window_ < windows_.size() && is_window_next())) return false;
    return asked_.is_needed(moment_of(batches_.front().key), rows_);
  }
  base::Status read_group(const BatchEvents& events, const std::vector<size_t>& batches,
                          bool& goes_on) {
    for (const size_t i : batches) rows_ += events.window().index().batches[i].rows;
    return events.read(
        batches, memory_,
        [&](const IndexedBatch& batch, uint32_t track, uint32_t row, const Event& event) {
          goes_on = asked_.visit(events.window(), batch, track, row, event);
          return goes_on;
        });
  }

  const OrderedRead& asked_;
  std::vector<NextWindow> windows_;
  size_t next_window_ = 0;
  std::vector<std::unique_ptr<BatchEvents>> entered_;
  std::vector<NextBatch> batches_;  // a heap
  uint64_t rows_ = 0;
  RowEvents memory_;
};

}  // namespace

uint64_t rows_to_read(const WindowIndex& index, const WantedTracks& wanted) {
  uint64_t rows = 0;
  visit_batches(index, wanted, [&](size_t i, const TimeSpan&) { rows += index.batches[i].rows; });
  return rows;
}

base::Status read_events(const WindowSource& window, const WantedTracks& wanted,
                         const EventVisitor& visitor, std::vector<uint32_t>* lines) {
  std::vector<size_t> batches;
  visit_batches(window.index(), wanted, [&](size_t i, const TimeSpan&) {
    batches.push_back(i);
    if (lines != nullptr) lines->push_back(window.index().batches[i].line);
  });
  RowEvents memory;
  return BatchEvents(window, wanted).read(batches, memory, visitor);
}

base::Status read_in_order(std::span<const std::shared_ptr<const WindowSource>> windows,
                           const OrderedRead& read) {
  return OrderedReader(windows, read).run();
}

}  // namespace gpufl::index
