// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/ledger.hpp"

// What a session that has ended holds, for benchmarks of what it cost. One thread.
namespace gpufl::bench {

struct SessionFigures {
  uint64_t kernels = 0;       // rows
  uint64_t at_user_line = 0;  // of those, whose stack has a frame with a line of the user's file
  // Of those, whose thread has none and launches for one that does: analysis::InheritedLines.
  uint64_t at_inherited_line = 0;
  uint64_t raw_bytes = 0;     // lines as they were written, of all channels
  uint64_t sealed_bytes = 0;  // of the device channel
  format::Ledger ledger;
  std::string losses;  // why the session is not complete; empty: it is

  // Every launch has its record: exactly `launches` of them, nothing dropped, no impossible time.
  bool is_exact(uint64_t launches) const;
};

// Of the only session under `logs`. `user_file`: how the path of the program's own source ends;
// empty where stacks do not matter.
base::Result<SessionFigures> read_session(const std::filesystem::path& logs,
                                          std::string_view user_file = {});

}  // namespace gpufl::bench
