// SPDX-License-Identifier: Apache-2.0
#include "disassembly/cubin.hpp"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/elf64.hpp"

namespace gpufl::disassembly {
namespace {

using base::Elf64;
using base::ElfSection;
using base::ElfSymbol;

constexpr std::string_view kCode = ".text.";
constexpr uint8_t kEntry = 0x10;  // in `other` of a symbol: a kernel

template <typename T>
bool take(std::string_view& bytes, T& value) {
  if (bytes.size() < sizeof(T)) return false;
  std::copy_n(bytes.begin(), sizeof(T), reinterpret_cast<char*>(&value));
  bytes.remove_prefix(sizeof(T));
  return true;
}

// The attributes of .nv.info: format, name, then a value or a size and so many bytes. Those that
// matter name a symbol and a number.
template <typename OnAttribute>
void for_each_attribute(std::string_view info, OnAttribute on_attribute) {
  constexpr uint8_t kSized = 4;
  uint8_t format = 0, attribute = 0;
  uint16_t value = 0;
  while (take(info, format) && take(info, attribute) && take(info, value)) {
    if (format != kSized) continue;
    if (value > info.size()) return;
    std::string_view content = info.substr(0, value);
    info.remove_prefix(value);
    uint32_t symbol = 0, number = 0;
    if (take(content, symbol) && take(content, number)) on_attribute(attribute, symbol, number);
  }
}

class Reader {
 public:
  explicit Reader(const Elf64& elf) : elf_(elf) {}

  Cubin read() {
    for (size_t i = 0; i < elf_.sections().size(); ++i) {
      const ElfSection& section = elf_.sections()[i];
      if (!section.name.starts_with(kCode)) continue;
      by_number_.emplace(i, cubin_.sections.size());
      CubinSection code;
      code.name = section.name.substr(kCode.size());
      code.bytes = section.size;
      by_name_.emplace(code.name, cubin_.sections.size());
      cubin_.sections.push_back(std::move(code));
    }
    read_symbols();
    read_sizes();
    read_attributes();
    read_ptx();
    return std::move(cubin_);
  }

 private:
  void read_symbols() {
    uint32_t number = 0;
    elf_.for_each_symbol([&](const ElfSymbol& symbol) {
      const uint32_t its_number = number++;
      const auto found = by_number_.find(symbol.section);
      if (!Elf64::is_function(symbol) || found == by_number_.end()) return true;
      CubinSection& section = cubin_.sections[found->second];
      by_symbol_.emplace(its_number, found->second);
      section.routines.push_back({std::string(symbol.name), static_cast<uint32_t>(symbol.value),
                                  static_cast<uint32_t>(symbol.size)});
      if (symbol.name == section.name) {
        section.symbol = its_number;
        section.is_kernel = (symbol.other & kEntry) != 0;
      }
      return true;
    });
    for (CubinSection& section : cubin_.sections) {
      std::sort(section.routines.begin(), section.routines.end(),
                [](const Routine& a, const Routine& b) {
                  return std::pair(a.offset, b.size) < std::pair(b.offset, a.size);
                });
    }
  }

  // Of sections that belong to a kernel by their name.
  void read_sizes() {
    const auto set = [&](std::string_view name, std::string_view beginning,
                         std::optional<int64_t> Resources::* member, uint64_t size) {
      if (!name.starts_with(beginning)) return;
      const auto found = by_name_.find(std::string(name.substr(beginning.size())));
      if (found == by_name_.end()) return;
      cubin_.sections[found->second].resources.*member = static_cast<int64_t>(size);
    };
    for (const ElfSection& section : elf_.sections()) {
      set(section.name, ".nv.shared.", &Resources::shared_bytes, section.size);
      set(section.name, ".nv.constant0.", &Resources::constant_bytes, section.size);
      set(section.name, ".nv.local.", &Resources::local_bytes, section.size);
    }
  }

  void read_attributes() {
    constexpr uint8_t kFrameBytes = 0x11, kRegisters = 0x2f;
    const ElfSection* info = elf_.find_section(".nv.info");
    if (info == nullptr) return;
    for_each_attribute(elf_.content(*info), [&](uint8_t name, uint32_t symbol, uint32_t value) {
      const auto found = by_symbol_.find(symbol);
      if (found == by_symbol_.end()) return;
      CubinSection& section = cubin_.sections[found->second];
      if (symbol != section.symbol) return;
      if (name == kRegisters) section.resources.registers = value;
      if (name == kFrameBytes) section.resources.stack_bytes = value;
    });
  }

  // Lines that each end with a zero.
  void read_ptx() {
    const ElfSection* section = elf_.find_section(".nv_debug_ptx_txt");
    if (section == nullptr) return;
    std::string_view text = elf_.content(*section);
    while (!text.empty()) {
      const size_t end = text.find('\0');
      cubin_.ptx.emplace_back(text.substr(0, end));
      text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    }
  }

  const Elf64& elf_;
  Cubin cubin_;
  std::unordered_map<size_t, size_t> by_number_;     // of the ELF section
  std::unordered_map<std::string, size_t> by_name_;  // of the code
  std::unordered_map<uint32_t, size_t> by_symbol_;
};

}  // namespace

const CubinSection* Cubin::find(std::string_view function) const {
  const auto has_name = [&](const auto& named) { return named.name == function; };
  const auto found = std::find_if(sections.begin(), sections.end(), has_name);
  if (found != sections.end()) return &*found;
  const auto around = std::find_if(sections.begin(), sections.end(), [&](const auto& section) {
    return std::any_of(section.routines.begin(), section.routines.end(), has_name);
  });
  return around != sections.end() ? &*around : nullptr;
}

base::Result<Cubin> read_cubin(std::string_view image) {
  const auto elf = Elf64::parse(image);
  if (!elf || elf->machine() != Elf64::kCudaMachine) {
    return base::Status(base::Code::Corrupt, "it is not an NVIDIA code image");
  }
  return Reader(*elf).read();
}

}  // namespace gpufl::disassembly
