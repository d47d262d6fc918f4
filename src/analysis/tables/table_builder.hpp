// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "analysis/tables/table_append.hpp"
#include "analysis/tables/table_dictionaries.hpp"
#include "analysis/tables/table_keys.hpp"
#include "analysis/tables/table_piece.hpp"
#include "analysis/tables/table_scopes.hpp"
#include "analysis/tables/tables.hpp"
#include "format/session_reader.hpp"

// Gathers tables from a session's lines, in any order. Survives any numbers: what no writer writes
// becomes unknown. One thread.
namespace gpufl::analysis {

class TableBuilder : public format::Visitor {
 public:
  // How many rows will come, where the session's manifest tells: no more than a hint.
  void expect(const std::vector<format::WindowFile>& windows);

  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override;
  void on_object(format::Kind kind, const base::Json& line) override;

  // Sorts the tables and links their rows to scopes. `end_ns`: until when open scopes have lasted.
  // Call once.
  Tables finish(int64_t end_ns);

  // Instead, for whoever takes rows as they come: what came since the last call. The first piece
  // has the scopes that are known by then, to which rows of later ones are linked, and is sorted.
  TablePiece hand_over(int64_t end_ns);

 private:
  // Of one channel.
  struct Forecast {
    uint64_t expected = 0, seen = 0;
  };
  TableAppend append_to(const format::Batch& batch, size_t rows_before) const;
  template <typename Table>
  void add_work(const format::Batch& batch, Table& table);
  void add_what_all_work_has(const format::Batch& batch, const TableAppend& append, Work& table);
  void add_markers(const format::Batch& batch);
  void add_other(const format::Batch& batch);
  void tell_keys();

  std::array<Forecast, format::kChannelCount> forecasts_;
  Tables tables_;
  TableDictionaries dictionaries_;
  TableScopes scopes_;
  TableKeys lanes_{{-1, -1, -1}};
  TableKeys callers_{{0, 0, 0}};
  size_t lanes_told_ = 0, callers_told_ = 0;
  bool is_first_piece_ = true;
};

}  // namespace gpufl::analysis
