// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "disassembly/disassembly_file.hpp"
#include "disassembly/nvdisasm.hpp"
#include "format/session_reader.hpp"
#include "symbols/source_lines.hpp"

// From the images that a session keeps to instructions, lines and source text, after the fact and
// wherever the session was copied to: `gpufl disassemble` keeps them beside the log, `gpufl report
// --kernel` makes what it needs. Starts child processes. One thread per session.
namespace gpufl::disassembly {

struct DisassembleOptions {
  // None: images are described, not disassembled.
  std::optional<Nvdisasm> tool;
  symbols::SourceOptions sources;  // recorded_wall_ns is set from the log
  // Most instructions to keep; images beyond have the state "over_limit".
  uint64_t max_instructions = 20'000'000;
};

// A `module` line of the log.
struct KeptModule {
  uint64_t id = 0;
  std::string hash;     // 16 hex digits; empty: there is no image
  std::string missing;  // why
  std::string path;     // where it was found, if in a file
};
// In the order of the log.
std::vector<KeptModule> read_modules(const format::SessionReader& session);

// Functions that ran or were sampled, as the log names them.
std::set<std::string, std::less<>> read_functions(const format::SessionReader& session);

// Code, PTX and source of the functions of that name; null: all of every image. Writes nothing.
DisassemblyFile disassemble(const format::SessionReader& session,
                            const std::vector<KeptModule>& modules,
                            const std::set<std::string, std::less<>>* functions,
                            const DisassembleOptions& options);

// Replaces the session's disassembly.ndjson.zst. `all_functions`: also of those that did not run.
// A session without modules gets none. Fails as SessionReader::open does, or when the file cannot
// be written.
base::Result<DisassemblyFile> disassemble_session(const std::filesystem::path& session_dir,
                                                  bool all_functions,
                                                  const DisassembleOptions& options);

}  // namespace gpufl::disassembly
