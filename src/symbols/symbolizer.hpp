// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/code_location.hpp"
#include "symbols/debug_info.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/libdw_api.hpp"

// Return addresses of one program or library, as functions, files and lines. Off every hot path:
// reads files. A file that is not the one that ran is not used. One thread.
namespace gpufl::symbols {

// What a frame says of the file that its code came from.
struct Binary {
  std::string path;
  std::string build_id;  // hex; empty: it has none
  auto operator<=>(const Binary&) const = default;
};

// Where to look, and what the log knows of the time.
struct BinarySearch {
  // Beside /usr/lib/debug: each may hold `.build-id/xx/yyyy[.debug]`, the recorded paths below it,
  // or just the files.
  std::vector<std::filesystem::path> debug_dirs;
  // A file without a build id can only be trusted when it is not newer than this; 0: never mind.
  int64_t recorded_wall_ns = 0;
};

class Symbolizer {
 public:
  // How much could be found out, and if it is nothing, why.
  enum class State : uint8_t {
    DebugInfo,           // functions, files, lines
    Symbols,             // functions only
    NoSymbols,           // the file is there, and tells nothing
    NotFound,            // no such file
    Unreadable,          // it may not be read
    NotElf,              // it is something else, or damaged
    BuildIdMismatch,     // it was built anew since
    NewerThanRecording,  // it has no build id and was written since
  };

  static Symbolizer open(const LibdwApi& libdw, const Binary& binary, const BinarySearch& search);
  Symbolizer(Symbolizer&&) = default;
  // Not to be assigned: debug information must go before the files that it is read from.
  Symbolizer& operator=(Symbolizer&&) = delete;

  State state() const { return state_; }
  // The files that were read; empty where there is none.
  std::filesystem::path file() const;
  std::filesystem::path debug_file() const;  // empty: the same
  // `offset` is of a return address, so the call lies before it. Innermost first; empty: unknown.
  std::vector<CodeLocation> resolve(uint64_t offset);

 private:
  Symbolizer() = default;

  std::unique_ptr<ElfFile> file_;          // its symbols are asked when debug information has none
  std::unique_ptr<ElfFile> debug_file_;    // what was split off from it
  std::unique_ptr<DebugInfo> debug_info_;  // of either
  State state_ = State::NotFound;
};

std::string_view to_string(Symbolizer::State state);  // "debug_info", "build_id_mismatch"

}  // namespace gpufl::symbols
