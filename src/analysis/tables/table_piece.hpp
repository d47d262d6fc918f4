// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/tables/tables.hpp"

// Rows of a session as they come, a part at a time, for those who need not have all at once
// (TableBuilder::hand_over). Plain data: made by one thread, it may be taken by another.
namespace gpufl::analysis {

struct TablePiece {
  // Of entries of dictionaries, in the order in which `rows` has them.
  struct Ids {
    std::vector<uint32_t> names, texts, metrics, configs;
  };

  // Rows of the kinds that came, in the order of the log, and what is new of all else.
  Tables rows;
  Ids ids;
};

// Brings `tables` up to the piece: rows take the place of those of the same kind, all else is
// added. Pieces of a session come in the order in which they were made.
void take_piece(TablePiece&& piece, Tables& tables);

}  // namespace gpufl::analysis
