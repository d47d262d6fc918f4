// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/code_location.hpp"
#include "symbols/elf_file.hpp"
#include "symbols/libdw_api.hpp"

// The DWARF of one file: which functions and which line an address belongs to. DWARF 2 to 5, split
// and shared (dwz) as far as libdw follows them. Nothing in it is trusted. One thread. Opening
// reads the head of each compilation unit; a unit's functions and lines are read when first asked
// for.
namespace gpufl::symbols {

class DebugInfo {
 public:
  // Null when the file has none. `file` outlives it.
  static std::unique_ptr<DebugInfo> open(const LibdwApi& libdw, const ElfFile& file);
  ~DebugInfo();
  DebugInfo(const DebugInfo&) = delete;
  DebugInfo& operator=(const DebugInfo&) = delete;

  struct Found {
    // The functions around an address, innermost first, each with the line it is at. Empty when no
    // unit claims the address.
    std::vector<CodeLocation> locations;
    // The outermost one has its linker's name, with all parameters; else a symbol table knows
    // better.
    bool is_named_whole = false;
  };
  Found find(uint64_t address);

 private:
  struct Span {
    uint64_t begin = 0, end = 0;
    uint32_t index = 0;
  };
  using Spans = std::vector<Span>;  // by begin
  struct Unit {
    Dwarf_CU* handle = nullptr;
    Dwarf_Die die{};       // where lines are looked up
    Dwarf_Die full_die{};  // the same, unless the unit is split off into a file of its own
    bool is_read = false;
    std::vector<Dwarf_Die> functions;
    Spans spans;  // of the functions
    // Namespaces and classes, "a::b::", and which one a function stands in, by where it is told.
    std::vector<std::string> scopes = {""};
    std::unordered_map<const void*, uint32_t> scope_of;
  };

  DebugInfo(const LibdwApi& libdw, Dwarf* dwarf) : libdw_(libdw), dwarf_(dwarf) {}
  void read_units();
  void read_functions(Unit& unit);
  void add_functions(Unit& unit, Dwarf_Die& parent, uint32_t scope, int depth);
  bool add_spans(Dwarf_Die& die, uint32_t index, Spans& spans) const;
  static void sort(Spans& spans);
  // The shortest span that holds `address`, or null.
  static const Span* find(const Spans& spans, uint64_t address);
  void find_inlined(Dwarf_Die& parent, uint64_t address, int depth,
                    std::vector<Dwarf_Die>& chain) const;
  template <typename Visit>
  void for_each_child(Dwarf_Die& parent, Visit visit) const;
  // Demangled; empty: it has none.
  std::string linkage_name_of(Dwarf_Die& die) const;
  // With the namespaces and classes around it, without parameters.
  std::string plain_name_of(const Unit& unit, Dwarf_Die& die) const;
  CodeLocation line_at(Unit& unit, uint64_t address) const;
  CodeLocation call_site(Unit& unit, Dwarf_Die& inlined) const;
  // As an absolute path without detours, where the unit says what it is relative to.
  std::string path_of(Unit& unit, const char* file) const;

  const LibdwApi& libdw_;
  Dwarf* dwarf_;
  std::vector<Unit> units_;
  Spans unit_spans_;
};

}  // namespace gpufl::symbols
