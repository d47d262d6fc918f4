// SPDX-License-Identifier: Apache-2.0
#include "format/dictionary.hpp"

#include "format/limits.hpp"

namespace gpufl::format {
namespace {

using base::Json;

constexpr DictReferenceField kConfigFields[] = {{"name", Dict::Name}};
constexpr DictReferenceField kStackFields[] = {{"frames", Dict::Frame}};
constexpr DictReferenceField kFrameFields[] = {
    {"function", Dict::Name}, {"file", Dict::Text}, {"module", Dict::Text}};

// A value stands after everything that it can refer to.
constexpr Dict kDefinitionOrder[] = {Dict::Name,  Dict::Text,   Dict::Metric,
                                     Dict::Frame, Dict::Config, Dict::Stack};

constexpr size_t kDefinitionLineBytes = size_t{256} << 10;  // a longer line is split

// So that the next push_back() cannot throw.
template <typename Value>
void make_room(std::vector<Value>& values) {
  if (values.size() == values.capacity()) values.reserve(values.size() * 2 + 16);
}

}  // namespace

std::span<const DictReferenceField> reference_fields(Dict dict) {
  switch (dict) {
    case Dict::Config: return kConfigFields;
    case Dict::Stack: return kStackFields;
    case Dict::Frame: return kFrameFields;
    default: return {};
  }
}

std::vector<DictReference> references_of(Dict dict, const Json& value) {
  std::vector<DictReference> found;
  const auto add = [&](Dict target, const Json& id) {
    if (id.is_integer() && id.as_integer() != 0) found.push_back({target, id.as_integer()});
  };
  for (const DictReferenceField& field : reference_fields(dict)) {
    const Json& member = value[field.name];
    add(field.dict, member);
    for (const Json& item : member.items()) add(field.dict, item);
  }
  return found;
}

int64_t DictionaryTable::intern(Dict dict, std::string_view value) {
  Table& table = tables_[index(dict)];
  if (!holds_objects(dict)) value = value.substr(0, kMaxValueBytes);
  if (const auto known = table.ids.find(value); known != table.ids.end()) return known->second;
  if (value.size() > kMaxValueBytes || table.values.size() >= kMaxDictionaryEntries ||
      table.bytes + value.size() > kMaxDictionaryBytes) {
    return overflow(dict);
  }
  if (!holds_objects(dict)) return add(dict, value, {});
  const auto parsed = Json::parse(value);
  if (!parsed || !parsed->is_object()) return 0;
  // A line holds it: the line breaks that JSON allows between tokens have to go.
  if (value.find_first_of("\n\r") != std::string_view::npos) return intern(dict, parsed->dump());
  return add(dict, value, references_of(dict, *parsed));
}

int64_t DictionaryTable::overflow(Dict dict) {
  ++overflows_;
  Table& table = tables_[index(dict)];
  if (table.overflow_id == 0) {
    table.overflow_id =
        add(dict, holds_objects(dict) ? R"({"overflow":true})" : kOverflowValue, {});
  }
  return table.overflow_id;
}

int64_t DictionaryTable::add(Dict dict, std::string_view value,
                             std::vector<DictReference> references) {
  Table& table = tables_[index(dict)];
  const int64_t id = static_cast<int64_t>(table.values.size()) + 1;
  // Before the first change: out of memory the table is as it was.
  make_room(table.values);
  make_room(table.references);
  const auto [entry, inserted] = table.ids.try_emplace(std::string(value), id);
  if (!inserted) return entry->second;
  table.values.push_back(&entry->first);
  table.bytes += value.size();
  if (holds_objects(dict)) table.references.push_back(std::move(references));
  return id;
}

std::span<const DictReference> DictionaryTable::references(Dict dict, int64_t id) const {
  if (!holds_objects(dict)) return {};
  return tables_[index(dict)].references[static_cast<size_t>(id - 1)];
}

size_t FileDefinitions::define_for(const Batch& batch, const DictionaryTable& table,
                                   std::string& out) {
  const auto& columns = batch.kind_spec().columns;
  bool any_missing = false;
  for (size_t i = 0; i < columns.size(); ++i) {
    const Dict dict = columns[i].dict;
    if (dict == Dict::None || !batch.has(i)) continue;
    const std::vector<uint8_t>& defined = defined_[static_cast<size_t>(dict)];
    int64_t previous = 0;
    for (const int64_t id : batch.column(i)) {
      if (id == previous) continue;
      previous = id;
      if (static_cast<uint64_t>(id) < defined.size() && defined[static_cast<size_t>(id)]) continue;
      if (!table.contains(dict, id)) continue;
      require(table, dict, id);
      any_missing = true;
    }
  }
  if (!any_missing) return 0;
  size_t lines = 0;
  for (const Dict dict : kDefinitionOrder) lines += append_lines(table, dict, out);
  return lines;
}

void FileDefinitions::require(const DictionaryTable& table, Dict dict, int64_t id) {
  std::vector<uint8_t>& defined = defined_[static_cast<size_t>(dict)];
  std::vector<int64_t>& missing = missing_[static_cast<size_t>(dict)];
  const auto at = static_cast<size_t>(id);
  if (at >= defined.size()) defined.resize(at + at / 2 + 16);
  if (defined[at]) return;
  // What is taken for defined is what rollback() knows of, also out of memory.
  make_room(missing);
  make_room(uncommitted_);
  defined[at] = 1;
  uncommitted_.push_back({dict, id});
  missing.push_back(id);
  for (const DictReference& reference : table.references(dict, id)) {
    if (table.contains(reference.dict, reference.id)) {
      require(table, reference.dict, reference.id);
    }
  }
}

size_t FileDefinitions::append_lines(const DictionaryTable& table, Dict dict, std::string& out) {
  std::vector<int64_t>& ids = missing_[static_cast<size_t>(dict)];
  size_t lines = 0;
  for (size_t begin = 0; begin < ids.size();) {
    size_t end = begin;
    for (size_t bytes = 0; end < ids.size() && bytes < kDefinitionLineBytes; ++end) {
      bytes += table.value(dict, ids[end]).size();
    }
    out += R"({"type":"dict","dict":")";
    out += to_string(dict);
    out += R"(","ids":[)";
    for (size_t i = begin; i < end; ++i) {
      if (i != begin) out += ',';
      out += std::to_string(ids[i]);
    }
    out += R"(],"values":[)";
    for (size_t i = begin; i < end; ++i) {
      if (i != begin) out += ',';
      const std::string& value = table.value(dict, ids[i]);
      if (holds_objects(dict)) {
        out += value;
      } else {
        base::append_json_string(out, value);
      }
    }
    out += "]}\n";
    ++lines;
    begin = end;
  }
  ids.clear();
  return lines;
}

void FileDefinitions::commit() { uncommitted_.clear(); }

void FileDefinitions::rollback() {
  for (const DictReference& entry : uncommitted_) {
    defined_[static_cast<size_t>(entry.dict)][static_cast<size_t>(entry.id)] = 0;
  }
  uncommitted_.clear();
  for (auto& ids : missing_) ids.clear();
}

void FileDefinitions::clear() {
  for (auto& flags : defined_) flags.clear();
  uncommitted_.clear();
}

}  // namespace gpufl::format
