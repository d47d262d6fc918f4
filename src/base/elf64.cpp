// SPDX-License-Identifier: Apache-2.0
#include "base/elf64.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>

namespace gpufl::base {
namespace {

template <typename T>
bool read_at(std::string_view bytes, uint64_t offset, T& value) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return false;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return true;
}

std::string_view part(std::string_view bytes, uint64_t offset, uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) return {};
  return bytes.substr(offset, size);
}

// Up to its zero; one without is no name.
std::string_view text_at(std::string_view texts, uint64_t offset) {
  if (offset >= texts.size()) return {};
  const size_t end = texts.find('\0', offset);
  return end == std::string_view::npos ? std::string_view() : texts.substr(offset, end - offset);
}

}  // namespace

std::optional<Elf64> Elf64::parse(std::string_view image) {
  Elf64_Ehdr header;
  if (!read_at(image, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return {};
  }
  Elf64 elf;
  elf.image_ = image;
  elf.machine_ = header.e_machine;
  elf.flags_ = header.e_flags;
  if (header.e_shoff == 0) return elf;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return {};
  uint64_t count = header.e_shnum, names = header.e_shstrndx;
  // More sections than the header has room for are counted in the first of them.
  Elf64_Shdr first;
  if (!read_at(image, header.e_shoff, first)) return {};
  if (count == 0) count = first.sh_size;
  if (names == SHN_XINDEX) names = first.sh_link;
  if (!elf.read_sections(header.e_shoff, count, names)) return {};
  elf.find_symbols();
  return elf;
}

bool Elf64::read_sections(uint64_t offset, uint64_t count, uint64_t names) {
  if (count > kMaxSections || part(image_, offset, count * sizeof(Elf64_Shdr)).empty()) {
    return count == 0;
  }
  Elf64_Shdr header;
  const bool has_names = names < count && read_at(image_, offset + names * sizeof(header), header);
  const std::string_view texts =
      has_names ? part(image_, header.sh_offset, header.sh_size) : std::string_view();
  sections_.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    read_at(image_, offset + i * sizeof(header), header);
    sections_.push_back({text_at(texts, header.sh_name), header.sh_type, header.sh_flags,
                         header.sh_addr, header.sh_offset, header.sh_size, header.sh_link,
                         header.sh_info, header.sh_entsize});
  }
  return true;
}

void Elf64::find_symbols() {
  const auto table = std::find_if(sections_.begin(), sections_.end(), [](const ElfSection& one) {
    return one.type == SHT_SYMTAB && one.entry_size == sizeof(Elf64_Sym);
  });
  if (table == sections_.end() || table->link >= sections_.size()) return;
  symbols_ = content(*table);
  symbol_names_ = content(sections_[table->link]);
  symbol_count_ = symbols_.size() / sizeof(Elf64_Sym);
}

ElfSymbol Elf64::symbol(size_t index) const {
  Elf64_Sym symbol;
  std::memcpy(&symbol, symbols_.data() + index * sizeof(symbol), sizeof(symbol));
  return {text_at(symbol_names_, symbol.st_name),
          static_cast<uint8_t>(ELF64_ST_TYPE(symbol.st_info)),
          static_cast<uint8_t>(ELF64_ST_BIND(symbol.st_info)),
          symbol.st_other,
          symbol.st_shndx,
          symbol.st_value,
          symbol.st_size};
}

const ElfSection* Elf64::find_section(std::string_view name) const {
  const auto found = std::find_if(sections_.begin(), sections_.end(),
                                  [&](const ElfSection& one) { return one.name == name; });
  return found != sections_.end() ? &*found : nullptr;
}

std::string_view Elf64::content(const ElfSection& section) const {
  return section.type == SHT_NOBITS ? std::string_view()
                                    : part(image_, section.offset, section.size);
}

}  // namespace gpufl::base
