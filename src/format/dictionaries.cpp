// SPDX-License-Identifier: Apache-2.0
#include "format/dictionaries.hpp"

#include <optional>

#include "format/dictionary.hpp"

namespace gpufl::format {
namespace {

// Writers count ids from 1, but a file defines only those it uses: the table may be mostly holes,
// as long as it stays in proportion to a session's bounded dictionaries.
constexpr uint64_t kDenseLimit = uint64_t{1} << 16;

std::optional<Dict> find_dict(std::string_view name) {
  for (size_t i = 1; i < kDictCount; ++i) {
    if (to_string(static_cast<Dict>(i)) == name) return static_cast<Dict>(i);
  }
  return {};
}

base::Status corrupt(std::string what) { return {base::Code::Corrupt, std::move(what)}; }

}  // namespace

const std::string* Dictionaries::find_sparse(const Table& table, int64_t id) {
  const auto found = table.sparse.find(id);
  return found != table.sparse.end() ? &found->second : nullptr;
}

bool Dictionaries::define(Dict dict, int64_t id, std::string value) {
  if (const std::string* known = find(dict, id)) return *known == value;
  Table& table = tables_[static_cast<size_t>(dict)];
  ++table.count;
  const auto at = static_cast<uint64_t>(id);
  if (at >= table.dense.size() && at >= kDenseLimit && at > 4 * table.count) {
    table.sparse.emplace(id, std::move(value));
    return true;
  }
  if (at >= table.dense.size()) {
    table.dense.resize(at + 1);
    table.defined.resize(at + 1);
  }
  table.dense[at] = std::move(value);
  table.defined[at] = 1;
  return true;
}

base::Status Dictionaries::define(const base::Json& line) {
  const auto dict = find_dict(line["dict"].as_string());
  if (!dict) return {base::Code::NotFound, "dict " + line["dict"].as_string()};
  const auto& ids = line["ids"].items();
  const auto& values = line["values"].items();
  if (ids.size() != values.size()) return corrupt("a dict line with unequal ids and values");
  base::Status status;
  for (size_t i = 0; i < ids.size(); ++i) {
    const bool well_typed = holds_objects(*dict) ? values[i].is_object() : values[i].is_string();
    if (!ids[i].is_integer() || ids[i].as_integer() <= 0 || !well_typed) {
      return corrupt("a dict line with a wrong id or value");
    }
    if (!define(*dict, ids[i].as_integer(),
                holds_objects(*dict) ? values[i].dump() : values[i].as_string())) {
      status = corrupt("id " + std::to_string(ids[i].as_integer()) +
                       " is defined a second time, differently");
    }
  }
  return status;
}

void Dictionaries::clear() {
  for (Table& table : tables_) {
    table.dense.clear();
    table.defined.clear();
    table.sparse.clear();
    table.count = 0;
  }
}

}  // namespace gpufl::format
