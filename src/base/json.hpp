// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.hpp"

// A small JSON document: for the irregular lines of a log and for configuration files, never for
// long columns. Parsing is bounded (depth, size), never throws, and says line and column of the
// first mistake. Integers that fit int64 stay exact. Objects keep their order; duplicates keep the
// first. Not thread-safe while being built; const access is.
namespace gpufl::base {

class Json {
 public:
  enum class Type : unsigned char { Null, Bool, Integer, Number, String, Array, Object };
  using Member = std::pair<std::string, Json>;

  Json() = default;
  // Implicit, so that documents can be written down as they are.
  // NOLINTBEGIN(google-explicit-constructor)
  Json(bool value) : type_(Type::Bool), integer_(value) {}
  Json(int64_t value) : type_(Type::Integer), integer_(value) {}
  Json(int value) : Json(int64_t{value}) {}
  Json(uint32_t value) : Json(int64_t{value}) {}
  Json(uint64_t value) : Json(static_cast<int64_t>(value)) {}
  Json(double value) : type_(Type::Number), number_(value) {}
  Json(std::string value) : type_(Type::String), string_(std::move(value)) {}
  Json(std::string_view value) : Json(std::string(value)) {}
  Json(const char* value) : Json(std::string(value)) {}
  // NOLINTEND(google-explicit-constructor)

  static Json array() { return Json(Type::Array); }
  static Json object() { return Json(Type::Object); }
  // Refuses text over `max_bytes`, nesting over 64, trailing text and invalid UTF-8 in strings.
  static Result<Json> parse(std::string_view text, size_t max_bytes = size_t{1} << 30);

  Type type() const { return type_; }
  bool is_null() const { return type_ == Type::Null; }
  bool is_bool() const { return type_ == Type::Bool; }
  bool is_integer() const { return type_ == Type::Integer; }
  bool is_number() const { return type_ == Type::Integer || type_ == Type::Number; }
  bool is_string() const { return type_ == Type::String; }
  bool is_array() const { return type_ == Type::Array; }
  bool is_object() const { return type_ == Type::Object; }

  // Each returns the fallback when the type is another one.
  bool as_bool(bool fallback = false) const { return is_bool() ? integer_ != 0 : fallback; }
  int64_t as_integer(int64_t fallback = 0) const { return is_integer() ? integer_ : fallback; }
  double as_number(double fallback = 0) const;
  const std::string& as_string() const;  // empty when not a string

  const std::vector<Json>& items() const { return items_; }
  const std::vector<Member>& members() const { return members_; }
  // The member's value, or a shared null. `find` tells absent from null.
  const Json& operator[](std::string_view key) const;
  const Json* find(std::string_view key) const;

  Json& push(Json value);                       // array: appends
  Json& set(std::string_view key, Json value);  // object: appends or replaces; returns *this

  // 1-based line on which this value began in the parsed text; 0 for values built in code.
  int line() const { return line_; }

  void dump_to(std::string& out) const;
  std::string dump() const;

 private:
  explicit Json(Type type) : type_(type) {}
  friend class JsonParser;

  Type type_ = Type::Null;
  int line_ = 0;
  int64_t integer_ = 0;
  double number_ = 0;
  std::string string_;
  std::vector<Json> items_;
  std::vector<Member> members_;
};

// Appends `text` as a JSON string with its quotes; invalid UTF-8 becomes U+FFFD.
void append_json_string(std::string& out, std::string_view text);

}  // namespace gpufl::base
