// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/status.hpp"
#include "format/schema.hpp"
#include "symbols/symbolize_session.hpp"

// The events of one kind as lines of flat JSON: kernels demangled, stacks with symbols, each worked
// out once. Memory does not follow the rows. One thread.
namespace gpufl::workbench {

struct RowsRequest {
  std::filesystem::path session;  // its folder
  format::Kind kind = format::Kind::Kernel;
  bool whole_stacks = false;                 // every frame; else the line of the program only
  bool mangled_names = false;                // as the log has them
  const symbols::LibdwApi* libdw = nullptr;  // as OpenOptions has it
};

// Lines, each with its newline, in pieces of some 256 KiB. False: no more of them.
using TakeRows = std::function<bool(std::string_view lines)>;

// How many problems there were while reading. Fails as SessionReader::open does.
base::Result<uint64_t> read_rows(const RowsRequest& request, const TakeRows& take);

}  // namespace gpufl::workbench
