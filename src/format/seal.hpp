// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.hpp"

// Sealing: a window of lines becomes an ordinary .zst file, and back. Called on the sealing
// thread and by readers; never on the host program's threads.
namespace gpufl::format {

struct SealedWindow {
  uint64_t lines = 0;
  uint64_t raw_bytes = 0;     // of the text inside
  uint64_t sealed_bytes = 0;  // of the .zst file
  uint64_t rows = 0;          // of all batches
  int64_t first_ns = 0;       // smallest and largest time of any row or line; 0 and 0 when none
  int64_t last_ns = 0;
  std::string hash;  // "xxh64:<16 hex digits>" of the .zst file's bytes
};

// Reads `raw` (NDJSON), gathers small batches into large ones (a batch may move behind lines that
// followed it, so definitions stay before their uses; `ledger` and `end` stay last), writes
// `sealed` through "<sealed>.tmp" with fsync and rename. Lines that are not understood are carried
// over as they are, a torn last line too. Batches that are large already are not even decoded.
base::Result<SealedWindow> seal_window(const std::filesystem::path& raw,
                                       const std::filesystem::path& sealed);
// The same into a file that nobody else looks at, whatever its name. What fails leaves a part.
base::Result<SealedWindow> seal_into(const std::filesystem::path& raw,
                                     const std::filesystem::path& file);

// Where a line stands in a file, so that it can be read without what is before it.
struct LinePlace {
  uint64_t frame = 0;  // byte of the file at which reading can begin: of a frame, in raw files any
  uint64_t skip = 0;   // bytes of text from there to the line
};

struct UnsealOutcome {
  uint64_t lines = 0;      // delivered
  uint64_t oversized = 0;  // longer than the bound: skipped
  bool torn = false;       // the text does not end with a newline
  std::string tail;        // what stands after the last newline then, up to the bound
  LinePlace end;           // behind the last whole line: where more of a live file will stand
  base::Status status;
};
// Calls `on_line` with each line (no newline) of a raw or sealed file, told apart by content. A
// torn last line is not delivered: it is the outcome's `tail`. Corrupt at the first byte that
// cannot be decompressed, after all lines before it have been delivered. Memory is bounded by
// `max_line_bytes` and some 1 MB. `on_line` returns false to stop early.
UnsealOutcome read_window(const std::filesystem::path& file,
                          const std::function<bool(std::string_view)>& on_line,
                          size_t max_line_bytes = size_t{64} << 20);
// The same from a place on that an earlier call gave, with the place of each line. `may_go_on` is
// asked after every piece of text, however long its lines are, with how much there was so far.
using PlacedLineVisitor = std::function<bool(std::string_view line, const LinePlace& place)>;
UnsealOutcome read_placed_lines(const std::filesystem::path& file, const LinePlace& from,
                                const PlacedLineVisitor& on_line,
                                size_t max_line_bytes = size_t{64} << 20,
                                const std::function<bool(uint64_t)>& may_go_on = nullptr);

}  // namespace gpufl::format
