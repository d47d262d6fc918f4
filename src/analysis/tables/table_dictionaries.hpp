// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/tables/table_piece.hpp"
#include "analysis/tables/tables.hpp"
#include "base/json.hpp"

// The dictionaries of a session's tables, from the `dict` lines of all its files. Names, texts and
// metrics go by the log's ids, up to the most that a dictionary can hold; launch configurations are
// as many as the log defines. One thread.
namespace gpufl::analysis {

class TableDictionaries {
 public:
  TableDictionaries();

  void define(const base::Json& dict_line);

  // Appends indices into Tables::configs. One that nothing has defined yet may be later.
  void append_configs(const std::vector<int64_t>& ids, std::vector<uint32_t>& out);

  // Those defined since the last call go to `piece`.
  void hand_over(TablePiece& piece);

  // Moves everything into `tables` and brings the ids of names in its columns within bounds.
  void finish(Tables& tables);

 private:
  static constexpr uint32_t kUnknownConfig = 0;

  uint32_t config_index(int64_t id);
  void define_config(int64_t id, const base::Json& value);

  std::vector<std::string> names_, texts_, metrics_;
  std::vector<LaunchConfig> configs_;
  std::vector<uint8_t> is_defined_;     // of configs_
  std::vector<uint32_t> config_of_id_;  // kNoRow: none yet
  TablePiece::Ids fresh_;
};

}  // namespace gpufl::analysis
