// SPDX-License-Identifier: Apache-2.0
#include "disassembly/code_lines.hpp"

#include <algorithm>
#include <utility>

#include "base/elf64.hpp"
#include "disassembly/cubin.hpp"
#include "disassembly/line_table.hpp"
#include "format/module_files.hpp"

namespace gpufl::disassembly {
namespace {

// From Volta on every instruction has as many bytes.
constexpr uint32_t kInstructionBytes = 16;
constexpr uint64_t kMaxSectionBytes = uint64_t{1} << 28;

std::vector<KernelCode> lined_sections(const std::string& image) {
  const auto cubin = read_cubin(image);
  const auto elf = base::Elf64::parse(image);
  if (!cubin || !elf) return {};
  std::vector<KernelCode> sections;
  for (const CubinSection& section : cubin->sections) {
    KernelCode& code = sections.emplace_back();
    code.name = section.name;
    code.is_kernel = section.is_kernel;
    code.routines = section.routines;
    const auto bytes = static_cast<uint32_t>(std::min(section.bytes, kMaxSectionBytes));
    for (uint32_t offset = 0; offset < bytes; offset += kInstructionBytes) {
      code.instructions.emplace_back().offset = offset;
    }
  }
  add_line_chains(*elf, sections);
  return sections;
}

}  // namespace

const std::vector<KernelCode>& CodeLines::image(const std::string& hash) {
  const auto [place, is_new] = images_.try_emplace(hash);
  if (!is_new) return place->second;
  if (const auto image = format::read_module(dir_, hash)) place->second = lined_sections(*image);
  return place->second;
}

const KernelCode* CodeLines::find(uint64_t module, const std::string& function) {
  if (!std::exchange(is_open_, true)) {
    if (const auto session = format::SessionReader::open(dir_)) modules_ = read_modules(*session);
  }
  const KernelCode* found = nullptr;
  for (const KeptModule& kept : modules_) {
    if (kept.id != module || kept.hash.empty()) continue;
    for (const KernelCode& code : image(kept.hash)) {
      if (code.name == function || code.find_routine(function) != nullptr) found = &code;
    }
  }
  return found;
}

}  // namespace gpufl::disassembly
