// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "disassembly/inductor_origin.hpp"
#include "disassembly/kernel_code.hpp"
#include "format/session_files.hpp"
#include "format/session_header.hpp"
#include "symbols/symbol_file.hpp"

// disassembly.ndjson.zst in a session's folder: the code of its kernels with lines, PTX and source
// text (SPEC.md, "disassembly.ndjson.zst"). No part of the log: it can be made again from the
// images that the session keeps. Read and replaced as a whole.
namespace gpufl::disassembly {

using format::kDisassemblyFileName;

// An image of the log, and what became of it.
struct ModuleNote {
  uint64_t id = 0;           // by which samples name it
  std::string hash;          // 16 hex digits; empty: there is no image
  std::string state;         // "disassembled", or why not: see SPEC.md
  std::string detail;        // a sentence, where there is more to say
  std::string architecture;  // "sm_90"
  uint64_t functions = 0;    // code sections in it
  bool operator==(const ModuleNote&) const = default;
};

struct DisassemblyFile {
  std::string tool;  // "nvdisasm 13.4.92"
  std::vector<ModuleNote> modules;
  std::vector<KernelCode> kernels;
  std::map<std::string, std::vector<std::string>> ptx;  // lines, by hash of the module
  std::vector<symbols::SourceText> sources;
  std::vector<CompiledOrigin> origins;  // of kernels that torch.compile wrote

  // Whether the code of a section is wanted, by module and name; null: all is.
  using Wanted = std::function<bool(std::string_view module, const std::string& name,
                                    const std::vector<Routine>& routines)>;
  // NotFound when there is none, Corrupt when it is another session's, TooNew for a later version.
  // Lines that make no sense are passed over.
  static base::Result<DisassemblyFile> read(const std::filesystem::path& session_dir,
                                            const std::string& session_id,
                                            const Wanted& wanted = nullptr);
  base::Status write(const std::filesystem::path& session_dir,
                     const format::SessionHeader& header) const;
};

}  // namespace gpufl::disassembly
