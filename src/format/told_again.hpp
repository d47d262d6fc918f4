// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <unordered_set>

#include "base/json.hpp"
#include "format/schema.hpp"

// Which lines are told once at the beginning of a session and again, with `"again":true`, in each
// later window of their channel. Writer and reader ask it; they must agree.
namespace gpufl::format {

inline bool is_told_again(Kind kind, const base::Json& line) {
  return kind == Kind::Capability || kind == Kind::Device ||
         (kind == Kind::Event && line["name"].as_string() == "host_facts");
}

// Takes the lines of a session one after the other, and leaves out those that were there before.
class FirstTold {
 public:
  // The line without its mark; none: it only repeats another.
  std::optional<base::Json> take(Kind kind, base::Json line) {
    if (!is_told_again(kind, line)) return line;
    base::Json original = base::Json::object();
    for (const auto& [name, value] : line.members()) {
      if (name != "again") original.set(name, value);
    }
    const bool is_new = seen_.insert(original.dump()).second;
    if (!is_new && line["again"].as_bool()) return {};
    return original;
  }

 private:
  std::unordered_set<std::string> seen_;
};

}  // namespace gpufl::format
