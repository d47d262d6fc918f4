// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/json.hpp"
#include "format/batch.hpp"

// The writing side of dictionaries: values to ids for a whole session, and which of them a file
// has defined. One thread. Memory is bounded by kMaxDictionaryEntries and kMaxDictionaryBytes.
namespace gpufl::format {

inline constexpr std::string_view kOverflowValue = "<overflow>";

struct DictReference {
  Dict dict;
  int64_t id;
};

// A field of a Config, Stack or Frame value that holds an id, or a list of ids, of another one.
struct DictReferenceField {
  std::string_view name;
  Dict dict;
};
std::span<const DictReferenceField> reference_fields(Dict dict);
// The ids that `value` (parsed) refers to; 0 ("none") is left out.
std::vector<DictReference> references_of(Dict dict, const base::Json& value);
// Values are JSON objects, not strings.
constexpr bool holds_objects(Dict dict) {
  return dict == Dict::Config || dict == Dict::Stack || dict == Dict::Frame;
}

class DictionaryTable {
 public:
  // Ids count from 1. A value over kMaxValueBytes is cut (a string) or overflows (an object).
  // 0, which means "none", for an object that is not valid JSON.
  int64_t intern(Dict dict, std::string_view value);

  bool contains(Dict dict, int64_t id) const {
    return id > 0 && static_cast<uint64_t>(id) <= tables_[index(dict)].values.size();
  }
  const std::string& value(Dict dict, int64_t id) const {
    return *tables_[index(dict)].values[static_cast<size_t>(id - 1)];
  }
  std::span<const DictReference> references(Dict dict, int64_t id) const;
  uint64_t overflows() const { return overflows_; }

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  struct Table {
    std::unordered_map<std::string, int64_t, Hash, std::equal_to<>> ids;
    std::vector<const std::string*> values;              // keys of `ids`, by id - 1
    std::vector<std::vector<DictReference>> references;  // by id - 1; only where objects are held
    size_t bytes = 0;
    int64_t overflow_id = 0;
  };
  static size_t index(Dict dict) { return static_cast<size_t>(dict); }
  int64_t overflow(Dict dict);
  int64_t add(Dict dict, std::string_view value, std::vector<DictReference> references);

  Table tables_[kDictCount];
  uint64_t overflows_ = 0;
};

// What one file has defined so far. Definitions belong to the buffer they are written to: when the
// buffer reaches the file, commit(); when it is dropped, or define_for() has thrown, rollback().
class FileDefinitions {
 public:
  // Appends `dict` lines for every id that `batch` refers to and the file lacks, referenced values
  // first. Returns the number of lines.
  size_t define_for(const Batch& batch, const DictionaryTable& table, std::string& out);
  void commit();
  void rollback();
  void clear();

 private:
  void require(const DictionaryTable& table, Dict dict, int64_t id);
  size_t append_lines(const DictionaryTable& table, Dict dict, std::string& out);

  std::vector<uint8_t> defined_[kDictCount];  // by id
  std::vector<int64_t> missing_[kDictCount];  // scratch of define_for
  std::vector<DictReference> uncommitted_;
};

}  // namespace gpufl::format
