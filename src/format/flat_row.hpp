// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "base/json.hpp"
#include "format/batch.hpp"
#include "format/session_reader.hpp"

// Rows as flat JSON objects, one line each, for tools that know nothing of the format: ids of
// dictionaries replaced by what they stand for, launch configurations spread out, units in names
// ("start" becomes "start_ns", "dur" "duration_ns"). What is unknown is left out. One thread; of
// one session.
namespace gpufl::format {

// What a log alone does not tell: how functions are called, and where a stack leads.
struct FlatTexts {
  virtual ~FlatTexts() = default;
  virtual std::string function(std::string_view name) const = 0;
  // Appends members that tell the stack, each with a comma behind it.
  virtual void append_stack(const ColumnSpec& column, int64_t id, std::string& out) = 0;
};

class FlatRows {
 public:
  // `texts` outlives it; null: names and frames as the log has them.
  explicit FlatRows(FlatTexts* texts = nullptr) : texts_(texts) {}
  // Appends a line for each row. Values that are absent or unknown are left out.
  void append(const Batch& batch, const Dictionaries& dictionaries, std::string& out);
  // The same for a line that is no batch. `dict` lines become one line per value that is new.
  void append(Kind kind, const base::Json& line, std::string& out);

 private:
  struct ConfigText {
    std::string name;  // as JSON members, each with a comma behind
    std::string rest;
  };
  const ConfigText& config(int64_t id, const Dictionaries& dictionaries);
  void append_value(const Batch& batch, size_t column, size_t row, const Dictionaries& dictionaries,
                    std::string& out);
  void append_stack(int64_t id, const Dictionaries& dictionaries, std::string& out);

  FlatTexts* texts_;
  std::unordered_map<int64_t, ConfigText> configs_;
  std::unordered_set<std::string> defined_;  // lines of values already given
};

// "start" of type Time becomes "start_ns", "dur" of type Duration "duration_ns".
std::string_view flat_name(const ColumnSpec& column);

}  // namespace gpufl::format
