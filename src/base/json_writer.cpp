// SPDX-License-Identifier: Apache-2.0
#include "base/json_writer.hpp"

namespace gpufl::base {

void JsonWriter::next() {
  if (!is_first_) out_ += ',';
  is_first_ = false;
}

void JsonWriter::next(std::string_view key) {
  next();
  append_json_string(out_, key);
  out_ += ':';
}

void JsonWriter::open(char bracket, char closing) {
  out_ += bracket;
  closing_ += closing;
  is_first_ = true;
}

void JsonWriter::begin_object() {
  next();
  open('{', '}');
}

void JsonWriter::begin_object(std::string_view key) {
  next(key);
  open('{', '}');
}

void JsonWriter::begin_array(std::string_view key) {
  next(key);
  open('[', ']');
}

void JsonWriter::push(const Json& item) {
  next();
  item.dump_to(out_);
}

JsonWriter& JsonWriter::set(std::string_view key, const Json& value) {
  next(key);
  value.dump_to(out_);
  return *this;
}

void JsonWriter::end() {
  out_ += closing_.back();
  closing_.pop_back();
  is_first_ = false;
}

}  // namespace gpufl::base
