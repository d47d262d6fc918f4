// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/session_files.hpp"
#include "format/session_header.hpp"
#include "symbols/code_location.hpp"

// symbols.ndjson in a session's folder: what its native frames are called, and source text around
// the lines that matter (SPEC.md, "symbols.ndjson"). No part of the log: it can be made again where
// the binaries are. Read and replaced as a whole; a reader finds the old one or the new one.
namespace gpufl::symbols {

using format::kSymbolFileName;

// A program or library that frames lie in, and what could be found out about it.
struct BinaryNote {
  std::string path, build_id;
  std::string state;       // to_string(Symbolizer::State)
  std::string file;        // read; empty: none
  std::string debug_file;  // read besides; empty: none
  uint64_t frames = 0, resolved = 0;
  bool operator==(const BinaryNote&) const = default;
};

// Consecutive lines of a source file.
struct SourceText {
  std::string path;      // as frames name it
  std::string language;  // "python", "cpp", "cuda", ...
  int64_t first_line = 1;
  bool is_newer = false;  // changed after the recording began: may not be what ran
  std::vector<std::string> lines;
  bool operator==(const SourceText&) const = default;
};
// As a `source` line, and back.
base::Json to_json(const SourceText& source);
SourceText source_text_of(const base::Json& line);

struct SymbolFile {
  std::unordered_map<int64_t, std::vector<CodeLocation>> frames;  // by id; innermost first
  std::vector<BinaryNote> binaries;
  std::vector<SourceText> sources;
  std::string incomplete;  // why not everything was tried: "time_limit"; empty: it was

  // NotFound when there is none, Corrupt when it is another session's. Lines that make no sense
  // are passed over.
  static base::Result<SymbolFile> read(const std::filesystem::path& session_dir,
                                       const std::string& session_id);
  base::Status write(const std::filesystem::path& session_dir,
                     const format::SessionHeader& header) const;
};

}  // namespace gpufl::symbols
