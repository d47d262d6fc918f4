// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "disassembly/disassemble_session.hpp"

// Lines of code from the images that a session keeps, without a disassembler: instructions have
// their offsets and lines, and no text. Reads what is asked for, once. One thread.
namespace gpufl::disassembly {

class CodeLines {
 public:
  explicit CodeLines(std::filesystem::path session_dir) : dir_(std::move(session_dir)) {}

  // The section that has the function; null: no image of that module has it, or none is there.
  // Where images share an id, of the last that has it, as in a report of the kernel.
  const KernelCode* find(uint64_t module, const std::string& function);

 private:
  // The sections of an image; empty: it is not there, or damaged.
  const std::vector<KernelCode>& image(const std::string& hash);

  std::filesystem::path dir_;
  bool is_open_ = false;
  std::vector<KeptModule> modules_;
  std::map<std::string, std::vector<KernelCode>> images_;  // by hash
};

}  // namespace gpufl::disassembly
