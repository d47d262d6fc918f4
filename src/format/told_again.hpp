// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "format/schema.hpp"

// Which lines are told once at the beginning of a session and again, with `"again":true`, in each
// later window of their channel. Writer and reader ask it; they must agree.
namespace gpufl::format {

inline bool is_told_again(Kind kind, const base::Json& line) {
  return kind == Kind::Capability || kind == Kind::Device ||
         (kind == Kind::Event && line["name"].as_string() == "host_facts");
}

}  // namespace gpufl::format
