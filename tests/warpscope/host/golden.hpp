// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope_host.hpp>

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"

// The files of tests/warpscope/golden: words written down by hand, and what they decode to. Its
// README.md describes both.
namespace gpufl::warp_golden {

struct Golden {
  std::vector<uint64_t> words;
  ws::DecodeOptions options;
  bool is_capture = false;
  std::string error;  // a line that is not understood
};

// Every NAME that has a NAME.txt, sorted.
std::vector<std::string> names();
Golden load(const std::string& name);
ws::Trace decode(const Golden& golden);

// NAME.json with its members in a fixed order and what is missing by default filled in; and a trace
// in the same form. `lanes` is there as far as the file has it.
base::Json expected(const std::string& name);
base::Json shown(const ws::Trace& trace, const base::Json& expected);

}  // namespace gpufl::warp_golden
