// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "symbols/libdw_api.hpp"

// One ELF file on disk: who it is, where its debug information lies, and its symbols. Nothing in
// the file is trusted. One thread. The file is mapped, not read: opening costs microseconds, the
// first find_symbol() a walk of the symbol tables (some 20 ns a symbol).
namespace gpufl::symbols {

class ElfFile {
 public:
  // NotFound, PermissionDenied, or Corrupt for what is no ELF file.
  static base::Result<std::unique_ptr<ElfFile>> open(const LibdwApi& libdw,
                                                     const std::filesystem::path& path);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const std::filesystem::path& path() const { return path_; }
  const std::string& build_id() const { return build_id_; }  // lower-case hex; empty: it has none
  int64_t modified_wall_ns() const { return modified_wall_ns_; }

  // What the .gnu_debuglink of a stripped file says.
  struct DebugLink {
    std::string name;
    uint32_t crc = 0;
  };
  std::optional<DebugLink> debug_link() const;
  // Of the whole file, as debug links have it.
  uint32_t crc() const;

  bool has_symbols();
  // The function whose code `address` is part of, mangled as it stands; empty: none.
  std::string find_symbol(uint64_t address);

  Elf* handle() const { return elf_; }

 private:
  struct Symbol {
    uint64_t begin = 0, end = 0;
    uint32_t name = 0, strings = 0;  // place in the string table, and which
    uint8_t rank = 0;                // of several at one address the highest is shown
    bool is_sized = false;           // else it reaches to the next one: an assembler's
  };

  ElfFile(const LibdwApi& libdw, std::filesystem::path path)
      : libdw_(libdw), path_(std::move(path)) {}
  std::string read_build_id() const;
  std::string build_id_in(Elf_Data* notes) const;
  void read_symbols();
  void read_symbols(Elf_Scn* section, const GElf_Shdr& header);

  const LibdwApi& libdw_;
  std::filesystem::path path_;
  int fd_ = -1;
  Elf* elf_ = nullptr;
  std::string build_id_;
  int64_t modified_wall_ns_ = 0;
  bool symbols_read_ = false;
  std::vector<Symbol> symbols_;  // by begin
};

}  // namespace gpufl::symbols
