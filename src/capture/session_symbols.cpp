// SPDX-License-Identifier: Apache-2.0
#include "capture/session_symbols.hpp"

#include <exception>
#include <string>
#include <system_error>

#include "symbols/libdw_api.hpp"
#include "symbols/symbolize_session.hpp"

namespace gpufl::capture {
namespace {

namespace fs = std::filesystem;

uint64_t bytes_in(const fs::path& folder) {
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::directory_iterator file(folder, error), end; !error && file != end;
       file.increment(error)) {
    std::error_code unreadable;
    const uint64_t size = file->file_size(unreadable);
    if (!unreadable) bytes += size;
  }
  return bytes;
}

base::Status write_in_time(const fs::path& session_dir, const SymbolLimits& limits) {
  const auto deadline = std::chrono::steady_clock::now() + limits.time;
  const auto libdw = symbols::opened_libdw();
  if (!libdw) return libdw.status();
  if (bytes_in(session_dir) > limits.log_bytes) {
    return {base::Code::LimitReached, "the log is too large to be read again now"};
  }
  symbols::SymbolizeOptions options;
  options.libdw = *libdw;
  options.deadline = deadline;
  options.sources.enabled = limits.keep_sources;
  const auto outcome = symbols::symbolize_session(session_dir, options);
  return outcome ? base::Status::ok() : outcome.status();
}

}  // namespace

std::optional<format::Capability> symbols_note() {
  const auto libdw = symbols::opened_libdw();
  if (libdw) return std::nullopt;
  return format::Capability{
      "symbols",
      "on",
      "later",
      "no_libdw",
      "the program ends before its native frames are named: " + libdw.status().message(),
      "`gpufl trace` names them right after, `gpufl symbolize` and `gpufl report` at any time; to "
      "name them at shutdown, install libdw (Debian: libdw1)"};
}

base::Status write_symbols(const fs::path& session_dir, const SymbolLimits& limits) {
  try {
    return write_in_time(session_dir, limits);
  } catch (const std::exception& error) {
    return {base::Code::Internal, error.what()};
  }
}

}  // namespace gpufl::capture
