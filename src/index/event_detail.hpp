// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/code/code_map.hpp"
#include "base/status.hpp"
#include "index/queries.hpp"
#include "index/tile.hpp"

// One event with everything that the log knows about it. Reads its batch, what was open around it
// and its stack, and nothing else. Pure functions over constant windows; any thread.
namespace gpufl::index {

struct MarkerAround {
  FoundEvent event;
  int64_t domain = 0;  // an id of the dictionary of names; 0: it has none
};

struct EventDetail {
  std::string row;                  // of the log, as one line of flat JSON (format/flat_row.hpp)
  std::optional<FoundEvent> event;  // none: rows of its kind are not on the timeline
  // The call behind work of a GPU; none: the log has no such call.
  std::optional<FoundEvent> call;
  // Of a launch of a graph: what its nodes did, by start; of many, the first ones.
  std::vector<FoundEvent> work;
  // What was open on the program's side when it was asked for, outermost first. Scopes of another
  // thread where the log says that they were inherited.
  std::vector<FoundEvent> scopes;
  std::vector<MarkerAround> markers;
  // Its stack alone; `stack` is its id there, 0: it has none.
  analysis::CodeMap code;
  uint32_t stack = 0;
};

// `dir` and `session_id` are of the session, for its symbols. NotFound: there is no such row;
// Unavailable: its window changed meanwhile. Cancelled.
base::Result<EventDetail> read_event(const Windows& windows, const EventPlace& place,
                                     const std::filesystem::path& dir,
                                     const std::string& session_id, int64_t open_until,
                                     const Cancelled& is_cancelled = nullptr);

}  // namespace gpufl::index
