// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/json.hpp"

// A `capability` line: something that was asked for, and what the session has of it. Whoever writes
// or reads such a line does it through this. Reports print those that are not as asked first.
namespace gpufl::format {

struct Capability {
  std::string feature;  // "profiling_engine", "enable_stack_trace", "health", ...
  std::string asked, got;
  std::string reason = {};   // a stable word; empty when asked == got
  std::string detail = {};   // a sentence
  std::string hint = {};     // what to do about it; empty when there is nothing
  std::string backend = {};  // whose it is; empty: of none in particular

  bool is_as_asked() const { return asked == got; }
  bool operator==(const Capability&) const = default;

  base::Json to_json() const;
  static Capability from_json(const base::Json& line);  // what is missing is empty
};

}  // namespace gpufl::format
