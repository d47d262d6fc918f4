// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "timeline/counter_tracks.hpp"
#include "timeline/coverage_tracks.hpp"
#include "timeline/session_texts.hpp"
#include "timeline/timeline.hpp"
#include "timeline/warp_tracks.hpp"

// What every timeline of a session is made of, in the order in which its parts are written. A
// `Tracks` takes them one after another:
//
//   write_thread(ThreadTrack)
//   write_stream_row(device, name, SliceRow)   slices that follow each other
//   write_coverage(name, SliceRow)             slices that nest
//   write_warp(WarpTrack)
//   write_counter(CounterTrack)
namespace gpufl::timeline {

template <typename Tracks>
void write_tracks(const SessionTexts& texts, Tracks& tracks) {
  const Timeline timeline(texts.tables());
  for (const ThreadTrack& thread : timeline.threads) tracks.write_thread(thread);
  for (const StreamTrack& stream : timeline.streams) {
    const auto write_rows = [&](const std::vector<SliceRow>& rows, const std::string& name) {
      for (const SliceRow& row : rows) {
        if (!row.empty()) tracks.write_stream_row(stream.lane.device, name, row);
      }
    };
    const std::string name = texts.stream(stream.lane);
    write_rows(stream.rows, name);
    write_rows(stream.graphs, name + ", graphs");
  }
  for (const CoverageTrack& engine : coverage_tracks(texts)) {
    for (const SliceRow& row : engine.rows) tracks.write_coverage(engine.engine + " attached", row);
  }
  for (const WarpTrack& warp : warp_tracks(texts)) tracks.write_warp(warp);
  for (const CounterTrack& counter : counter_tracks(texts)) tracks.write_counter(counter);
}

}  // namespace gpufl::timeline
