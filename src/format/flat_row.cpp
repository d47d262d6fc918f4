// SPDX-License-Identifier: Apache-2.0
#include "format/flat_row.hpp"

#include "format/occupancy_unit.hpp"

namespace gpufl::format {
namespace {

using base::Json;

void append_key(std::string_view name, std::string& out) {
  base::append_json_string(out, name);
  out += ':';
}

void append_member(std::string_view name, const Json& value, std::string& out) {
  append_key(name, out);
  value.dump_to(out);
  out += ',';
}

// Ends the object that was begun with '{' and filled with members that each end in a comma.
void end_line(std::string& out) {
  if (out.back() == ',') out.pop_back();
  out += "}\n";
}

// "matmul at model.py:12", as far as the frame is known.
std::string frame_text(const Json& frame, const Dictionaries& dictionaries) {
  const auto text = [&](std::string_view field, Dict dict) {
    const int64_t id = frame[field].as_integer(0);
    return id != 0 ? std::string(dictionaries.get(dict, id)) : std::string();
  };
  std::string out = text("function", Dict::Name);
  const std::string file = text("file", Dict::Text);
  const std::string module = text("module", Dict::Text);
  if (out.empty()) {
    out = module.empty() ? "?" : module;
    if (frame["offset"].is_integer()) out += "+" + std::to_string(frame["offset"].as_integer());
  }
  if (file.empty()) return out;
  out += " at " + file;
  if (frame["line"].is_integer()) out += ":" + std::to_string(frame["line"].as_integer());
  return out;
}

// Fields of object lines that hold nanoseconds.
bool is_time_field(Kind kind, std::string_view name) {
  if (name == "time" || name == "since") return true;
  return kind == Kind::Clock && (name == "wall" || name == "gpu" || name == "error");
}

}  // namespace

std::string_view flat_name(const ColumnSpec& column) {
  return column.is_time() ? column.title : column.name;
}

const FlatRows::ConfigText& FlatRows::config(int64_t id, const Dictionaries& dictionaries) {
  const auto [entry, is_new] = configs_.try_emplace(id);
  ConfigText& text = entry->second;
  const std::string* value = is_new ? dictionaries.find(Dict::Config, id) : nullptr;
  if (value == nullptr) return text;
  const auto parsed = Json::parse(*value);
  if (!parsed) return text;
  for (const auto& [name, field] : parsed->members()) {
    if (name == "name") {
      const std::string_view kernel = dictionaries.get(Dict::Name, field.as_integer());
      append_member(name, texts_ != nullptr ? Json(texts_->function(kernel)) : Json(kernel),
                    text.name);
    } else if (name == "occupancy" && field.is_number()) {
      append_member(name, Json(field.as_number() / kWholeOccupancy), text.rest);
    } else {
      append_member(name, field, text.rest);
    }
  }
  return text;
}

void FlatRows::append_stack(int64_t id, const Dictionaries& dictionaries, std::string& out) {
  out += '[';
  const auto stack = Json::parse(dictionaries.get(Dict::Stack, id, "{}"));
  if (stack) {
    for (const Json& frame_id : (*stack)["frames"].items()) {
      const auto frame = Json::parse(dictionaries.get(Dict::Frame, frame_id.as_integer(), "{}"));
      base::append_json_string(out, frame ? frame_text(*frame, dictionaries) : "?");
      out += ',';
    }
  }
  if (out.back() == ',') out.pop_back();
  out += ']';
}

void FlatRows::append_value(const Batch& batch, size_t column, size_t row,
                            const Dictionaries& dictionaries, std::string& out) {
  const ColumnSpec& spec = batch.kind_spec().columns[column];
  const int64_t value = batch.column(column)[row];
  // Where there is none, the log's number says so.
  const bool is_said = spec.absence == Absence::None && spec.dict == Dict::None;
  if (spec.is_lacking(value) && !is_said) return;
  if (spec.dict == Dict::Config) {
    out += config(value, dictionaries).rest;
    return;
  }
  if (spec.dict == Dict::Stack && texts_ != nullptr) return texts_->append_stack(spec, value, out);
  append_key(flat_name(spec), out);
  if (spec.dict == Dict::Stack) {
    append_stack(value, dictionaries, out);
  } else if (spec.dict != Dict::None) {
    base::append_json_string(out, dictionaries.get(spec.dict, value));
  } else if (spec.type == ColumnType::Id64) {
    out += '"' + std::to_string(static_cast<uint64_t>(value)) + '"';
  } else {
    out += std::to_string(value);
  }
  out += ',';
}

void FlatRows::append(const Batch& batch, const Dictionaries& dictionaries, std::string& out) {
  const auto& columns = batch.kind_spec().columns;
  for (size_t row = 0; row < batch.rows(); ++row) {
    out += '{';
    // Whatever a row is called comes first: a reader's eye looks for it there.
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!batch.has(i)) continue;
      if (columns[i].name == "name") append_value(batch, i, row, dictionaries, out);
      if (columns[i].dict == Dict::Config) out += config(batch.column(i)[row], dictionaries).name;
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      if (!batch.has(i) || columns[i].name == "name") continue;
      append_value(batch, i, row, dictionaries, out);
    }
    end_line(out);
  }
}

void FlatRows::append(Kind kind, const Json& line, std::string& out) {
  if (kind == Kind::Dict) {
    const auto& ids = line["ids"].items();
    const auto& values = line["values"].items();
    for (size_t i = 0; i < ids.size() && i < values.size(); ++i) {
      std::string text = "{";
      append_member("dict", line["dict"], text);
      append_member("id", ids[i], text);
      append_member("value", values[i], text);
      end_line(text);
      if (defined_.insert(text).second) out += text;
    }
    return;
  }
  out += '{';
  for (const auto& [name, value] : line.members()) {
    if (name == "type") continue;
    append_member(is_time_field(kind, name) ? name + "_ns" : name, value, out);
  }
  end_line(out);
}

}  // namespace gpufl::format
