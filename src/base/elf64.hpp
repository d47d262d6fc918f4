// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

// A little-endian 64-bit ELF image in memory: its sections and symbols, and which code of a GPU it
// is. Nothing in the image is trusted: what points outside of it is empty. All views are into the
// image, which must outlive this. One thread at a time; parsing takes some 20 ns a section.
namespace gpufl::base {

struct ElfSection {
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0, address = 0, offset = 0, size = 0;
  uint32_t link = 0, info = 0;
  uint64_t entry_size = 0;
};

struct ElfSymbol {
  std::string_view name;
  uint8_t type = 0, binding = 0, other = 0;
  uint16_t section = 0;  // 0: defined elsewhere
  uint64_t value = 0, size = 0;
};

class Elf64 {
 public:
  static constexpr uint16_t kCudaMachine = 190;
  static constexpr size_t kMaxSections = size_t{1} << 22;

  // Nothing for what is no such image, or one with more sections than kMaxSections.
  static std::optional<Elf64> parse(std::string_view image);

  uint16_t machine() const { return machine_; }
  uint32_t flags() const { return flags_; }
  const std::vector<ElfSection>& sections() const { return sections_; }
  const ElfSection* find_section(std::string_view name) const;  // null: none
  // Empty where it is not in the image.
  std::string_view content(const ElfSection& section) const;

  // Calls visit(symbol) with each of the symbol table. `visit` returns false to stop.
  template <typename Visit>
  void for_each_symbol(Visit&& visit) const {
    for (size_t i = 0; i < symbol_count_; ++i) {
      if (!visit(symbol(i))) return;
    }
  }
  // Whether a symbol is a kernel or a device function with code in this image.
  static bool is_function(const ElfSymbol& symbol) {
    return symbol.type == kFunction && symbol.section != 0;
  }

 private:
  static constexpr uint8_t kFunction = 2;

  bool read_sections(uint64_t offset, uint64_t count, uint64_t names);
  void find_symbols();
  ElfSymbol symbol(size_t index) const;

  std::string_view image_;
  uint16_t machine_ = 0;
  uint32_t flags_ = 0;
  std::vector<ElfSection> sections_;
  std::string_view symbols_, symbol_names_;
  size_t symbol_count_ = 0;
};

}  // namespace gpufl::base
