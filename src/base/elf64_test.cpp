// SPDX-License-Identifier: Apache-2.0
#include "base/elf64.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace gpufl::base {
namespace {

// Sections: none, names, symbols' names, symbols, code.
class SmallElf {
 public:
  SmallElf() {
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_machine = Elf64::kCudaMachine;
    header.e_flags = 0x5a;
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = 5;
    header.e_shstrndx = 1;
    add(sections[1], 1, SHT_STRTAB, std::string("\0.n\0.s\0.t\0.text.k\0", 18));
    add(sections[2], 4, SHT_STRTAB, std::string("\0kernel\0other\0", 14));
    Elf64_Sym symbols[3]{};
    symbols[1] = {1, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0x10, 4, 16, 32};
    symbols[2] = {8, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC), 0, SHN_UNDEF, 0, 0};
    add(sections[3], 7, SHT_SYMTAB, {reinterpret_cast<const char*>(symbols), sizeof(symbols)});
    sections[3].sh_link = 2;
    sections[3].sh_entsize = sizeof(Elf64_Sym);
    add(sections[4], 10, SHT_PROGBITS, "code");
  }

  std::string bytes() {
    header.e_shoff = sizeof(header) + content_.size();
    std::string all(reinterpret_cast<const char*>(&header), sizeof(header));
    all += content_;
    return all.append(reinterpret_cast<const char*>(sections), sizeof(sections));
  }

  Elf64_Ehdr header{};
  Elf64_Shdr sections[5]{};

 private:
  void add(Elf64_Shdr& section, uint32_t name, uint32_t type, const std::string& content) {
    section.sh_name = name;
    section.sh_type = type;
    section.sh_offset = sizeof(header) + content_.size();
    section.sh_size = content.size();
    content_ += content;
  }
  std::string content_;
};

size_t functions_of(const Elf64& elf) {
  size_t count = 0;
  elf.for_each_symbol([&](const ElfSymbol& symbol) {
    count += Elf64::is_function(symbol) ? 1 : 0;
    return true;
  });
  return count;
}

TEST(Elf64Test, ReadsSectionsAndSymbols) {
  const std::string image = SmallElf().bytes();
  const auto elf = Elf64::parse(image);
  ASSERT_TRUE(elf);
  EXPECT_EQ(elf->machine(), Elf64::kCudaMachine);
  EXPECT_EQ(elf->flags(), 0x5au);
  ASSERT_NE(elf->find_section(".text.k"), nullptr);
  EXPECT_EQ(elf->content(*elf->find_section(".text.k")), "code");
  EXPECT_EQ(elf->find_section(".data"), nullptr);
  ElfSymbol kernel;
  elf->for_each_symbol([&](const ElfSymbol& symbol) {
    if (Elf64::is_function(symbol)) kernel = symbol;
    return true;
  });
  EXPECT_EQ(kernel.name, "kernel");
  EXPECT_EQ(kernel.section, 4);
  EXPECT_EQ(kernel.value, 16u);
  EXPECT_EQ(kernel.size, 32u);
  EXPECT_EQ(functions_of(*elf), 1u);
}

TEST(Elf64Test, StopsWhereTheVisitorHasSeenEnough) {
  const std::string image = SmallElf().bytes();
  size_t seen = 0;
  Elf64::parse(image)->for_each_symbol([&](const ElfSymbol&) { return ++seen < 2; });
  EXPECT_EQ(seen, 2u);
}

TEST(Elf64Test, WhatIsNoImageIsNone) {
  EXPECT_FALSE(Elf64::parse(""));
  EXPECT_FALSE(
      Elf64::parse("\x7f"
                   "ELF"));
  SmallElf narrow;
  narrow.header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_FALSE(Elf64::parse(narrow.bytes()));
  SmallElf text;
  text.header.e_ident[0] = 'E';
  EXPECT_FALSE(Elf64::parse(text.bytes()));
}

TEST(Elf64Test, WhatPointsOutsideIsEmpty) {
  SmallElf damaged;
  damaged.sections[4].sh_offset = UINT64_MAX - 1;
  damaged.sections[4].sh_name = UINT32_MAX;
  damaged.sections[2].sh_size = UINT64_MAX;
  const std::string image = damaged.bytes();
  const auto elf = Elf64::parse(image);
  ASSERT_TRUE(elf);
  EXPECT_EQ(elf->sections()[4].name, "");
  EXPECT_EQ(elf->content(elf->sections()[4]), "");
  EXPECT_EQ(functions_of(*elf), 1u);
  elf->for_each_symbol([](const ElfSymbol& symbol) { return symbol.name.empty(); });

  SmallElf many;
  many.header.e_shnum = 0;
  many.sections[0].sh_size = UINT64_MAX / 8;
  EXPECT_FALSE(Elf64::parse(many.bytes()));
}

TEST(Elf64Test, ACutImageNeverLeadsOutside) {
  const std::string whole = SmallElf().bytes();
  for (size_t size = 0; size < whole.size(); ++size) {
    const std::string cut = whole.substr(0, size);  // its end is the sanitizer's to watch
    EXPECT_FALSE(Elf64::parse(cut)) << size;
  }
}

}  // namespace
}  // namespace gpufl::base
