// SPDX-License-Identifier: Apache-2.0
// Bytes that nobody meant to be an image of GPU code or a listing of one, given to what reads both.
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "base/elf64.hpp"
#include "disassembly/cubin.hpp"
#include "disassembly/line_table.hpp"
#include "disassembly/listing.hpp"

namespace gpufl::disassembly {
namespace {

void check(const std::vector<KernelCode>& code) {
  for (const KernelCode& section : code) {
    for (const Instruction& instruction : section.instructions) {
      if (instruction.chain == kNoChain) continue;
      for (const SourcePlace& place : section.chains.at(instruction.chain)) {
        if (place.file >= section.files.size()) abort();
      }
    }
  }
}

void read_image(std::string_view image) {
  const auto elf = base::Elf64::parse(image);
  const auto cubin = read_cubin(image);
  if (!elf || !cubin) return;
  std::vector<KernelCode> code;
  for (const CubinSection& section : cubin->sections) {
    KernelCode& made = code.emplace_back();
    made.name = section.name;
    for (uint32_t offset = 0; offset < 0x1000; offset += 16) {
      made.instructions.emplace_back().offset = offset;
    }
  }
  add_line_chains(*elf, code);
  check(code);
}

}  // namespace
}  // namespace gpufl::disassembly

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  namespace disassembly = gpufl::disassembly;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  disassembly::read_image(bytes);
  std::vector<disassembly::KernelCode> code = disassembly::parse_listing(bytes);
  disassembly::add_live_registers(bytes, code);
  disassembly::check(code);
  return 0;
}
