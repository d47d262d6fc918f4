// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "store/live_journal.hpp"
#include "store/piece.hpp"

// What the pieces that are committed together do to the disk. The committing thread's.
namespace gpufl::store {

struct Append {
  const Piece* piece;
  int64_t session;
  std::filesystem::path file;
  uint64_t offset;
  std::string_view text;  // of the piece, without what is there already
  bool has_end;           // the session has ended
  size_t outcome = 0;     // its place among those of the group

  LiveLines lines() const { return {session, piece->channel, piece->number, offset, text}; }
};

struct Group {
  std::vector<Append> appends;
  std::vector<std::string> placed;    // go again where the group fails
  std::vector<std::string> obsolete;  // go once it is committed
  // Placed under the second name, to take the place of the first once it is committed.
  std::vector<std::pair<std::string, std::string>> replaced;
  // Windows that may have readings of GPUs: session and number.
  std::vector<std::pair<int64_t, uint64_t>> readings;
  struct Growth {
    int64_t bytes = 0;
    int64_t texts = 0;  // of them, live lines
  };
  std::map<int64_t, Growth> growth;          // by workspace
  std::vector<std::filesystem::path> ended;  // sessions of which the window with the end came
  // Of which something is stored: workspace and session.
  std::set<std::pair<int64_t, int64_t>> changed;
  bool is_committed = false;
};

}  // namespace gpufl::store
