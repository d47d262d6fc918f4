// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>

#include "base/status.hpp"
#include "format/capability.hpp"

// Names for the native frames of a session that took stacks, found out when it has ended, by the
// thread that ends it, with the libdw of this machine. What is not done in time, `gpufl symbolize`
// and `gpufl report` do later: nothing is lost. Neither throws.
namespace gpufl::capture {

struct SymbolLimits {
  std::chrono::milliseconds time{2000};
  uint64_t log_bytes = uint64_t{256} << 20;  // a larger log takes too long to read again
  bool keep_sources = true;                  // source text around the program's lines
};

// When the session starts: says that names come later where there is no libdw.
std::optional<format::Capability> symbols_note();

// After the log is closed. Unavailable without libdw; LimitReached for a log that is too large.
base::Status write_symbols(const std::filesystem::path& session_dir, const SymbolLimits& limits);

}  // namespace gpufl::capture
