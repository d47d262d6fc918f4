// SPDX-License-Identifier: Apache-2.0
#include "format/dictionaries.hpp"

namespace gpufl::format {
namespace {

// Writers count ids from 1, but a file defines only those it uses: the table may be mostly holes,
// as long as it stays in proportion to a session's bounded dictionaries.
constexpr uint64_t kDenseLimit = uint64_t{1} << 16;

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

void Dictionaries::clear() {
  for (Table& table : tables_) {
    table.dense.clear();
    table.defined.clear();
    table.sparse.clear();
    table.count = 0;
  }
}

}  // namespace gpufl::format
