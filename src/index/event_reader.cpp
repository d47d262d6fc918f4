// SPDX-License-Identifier: Apache-2.0
#include "index/event_reader.hpp"

#include <algorithm>
#include <array>

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

template <typename Visit>
void visit_batches(const WindowIndex& index, const WantedTracks& wanted, Visit visit) {
  const WantedKinds kinds = kinds_of(index, wanted);
  for (size_t i = 0; i < index.batches.size(); ++i) {
    const IndexedBatch& batch = index.batches[i];
    const auto kind = static_cast<size_t>(batch.kind);
    if ((kinds.work[kind] && batch.work.reaches(wanted.from, wanted.to)) ||
        (kinds.calls[kind] && batch.calls.reaches(wanted.from, wanted.to))) {
      visit(i);
    }
  }
}

}  // namespace

uint64_t rows_to_read(const WindowIndex& index, const WantedTracks& wanted) {
  uint64_t rows = 0;
  visit_batches(index, wanted, [&](size_t i) { rows += index.batches[i].rows; });
  return rows;
}

base::Status read_events(const WindowSource& window, const WantedTracks& wanted,
                         const EventVisitor& visitor, std::vector<uint32_t>* lines) {
  const WindowIndex& index = window.index();
  std::vector<size_t> batches;
  visit_batches(index, wanted, [&](size_t i) { batches.push_back(i); });
  if (lines != nullptr) {
    for (const size_t i : batches) lines->push_back(index.batches[i].line);
  }
  std::unordered_map<TrackKey, uint32_t, TrackKeyHash> numbers;
  for (size_t i = 0; i < index.tracks.size(); ++i) {
    if (wanted.is_wanted[i]) numbers[index.tracks[i]] = static_cast<uint32_t>(i);
  }
  RowEvents rows;
  return window.read(batches, [&](const IndexedBatch& batch, const format::Batch& decoded) {
    for (const TrackEvents& track : rows.read(decoded)) {
      const auto number = numbers.find(track.key);
      if (number == numbers.end()) continue;
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

}  // namespace gpufl::index
