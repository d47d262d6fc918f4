// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/schema.hpp"

namespace gpufl::format {

// The dictionaries of one file, as far as it has been read. An id means the same in every file of
// a session, but only the ids that a file uses are defined in it. find() is a bounds check and an
// index for ids as writers give them, so it may be called for every row.
class Dictionaries {
 public:
  // Null when `id` was not defined. Values of Config, Stack and Frame are JSON text.
  const std::string* find(Dict dict, int64_t id) const {
    const Table& table = tables_[static_cast<size_t>(dict)];
    const auto at = static_cast<uint64_t>(id);
    if (at < table.dense.size() && table.defined[at]) return &table.dense[at];
    return table.sparse.empty() ? nullptr : find_sparse(table, id);
  }
  std::string_view get(Dict dict, int64_t id, std::string_view fallback = "?") const {
    const std::string* value = find(dict, id);
    return value != nullptr ? std::string_view(*value) : fallback;
  }
  // False when `id` already stands for another value, which it then keeps.
  bool define(Dict dict, int64_t id, std::string value);
  // All values of a `dict` line. NotFound: a dictionary that this version does not know. Corrupt:
  // something in the line is wrong; what stands before it counts.
  base::Status define(const base::Json& line);
  void clear();

 private:
  struct Table {
    std::vector<std::string> dense;                   // by id
    std::vector<uint8_t> defined;                     // by id
    std::unordered_map<int64_t, std::string> sparse;  // ids out of proportion to the others
    size_t count = 0;
  };
  static const std::string* find_sparse(const Table& table, int64_t id);

  std::array<Table, kDictCount> tables_;
};

}  // namespace gpufl::format
