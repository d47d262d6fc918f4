// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/json.hpp"

// A JSON document as text while it is made, for those that are too large to be held as a Json too:
// lists and objects are opened and closed, and what is small is put into them whole. The text is
// what Json::dump() of the same document gives. One thread.
namespace gpufl::base {

class JsonWriter {
 public:
  // Appends to `out`, which must outlive it.
  explicit JsonWriter(std::string& out) : out_(out) {}

  // The document itself, or the next item of the list that is open.
  void begin_object();
  void push(const Json& item);
  // The next member of the object that is open. Keys are not compared with those before.
  void begin_object(std::string_view key);
  void begin_array(std::string_view key);
  JsonWriter& set(std::string_view key, const Json& value);
  // Closes what was opened last.
  void end();

 private:
  void next();
  void next(std::string_view key);
  void open(char bracket, char closing);

  std::string& out_;
  std::string closing_;  // brackets of what is open
  bool is_first_ = true;
};

}  // namespace gpufl::base
