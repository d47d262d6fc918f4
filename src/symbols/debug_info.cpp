// SPDX-License-Identifier: Apache-2.0
#include "symbols/debug_info.hpp"

#include <dwarf.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "symbols/demangle.hpp"

namespace gpufl::symbols {
namespace {

constexpr int kMaxDepth = 64;  // of nested namespaces or inlined functions
constexpr size_t kMaxSpans = size_t{1} << 24;
// Spans before an address that are looked at: they overlap where code was folded or discarded.
constexpr size_t kMaxOverlap = 32;

}  // namespace

std::unique_ptr<DebugInfo> DebugInfo::open(const LibdwApi& libdw, const ElfFile& file) {
  Dwarf* dwarf = libdw.dwarf_begin_elf(file.handle(), DWARF_C_READ, nullptr);
  if (dwarf == nullptr) return nullptr;
  std::unique_ptr<DebugInfo> info(new DebugInfo(libdw, dwarf));
  info->read_units();
  return info->units_.empty() ? nullptr : std::move(info);
}

DebugInfo::~DebugInfo() { libdw_.dwarf_end(dwarf_); }

bool DebugInfo::add_spans(Dwarf_Die& die, uint32_t index, Spans& spans) const {
  Dwarf_Addr base = 0, begin = 0, end = 0;
  bool found = false;
  for (ptrdiff_t at = 0; (at = libdw_.dwarf_ranges(&die, at, &base, &begin, &end)) > 0;) {
    if (begin >= end || spans.size() >= kMaxSpans) continue;
    spans.push_back({begin, end, index});
    found = true;
  }
  return found;
}

void DebugInfo::sort(Spans& spans) {
  std::sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end > b.end;
  });
}

const DebugInfo::Span* DebugInfo::find(const Spans& spans, uint64_t address) {
  const auto after =
      std::upper_bound(spans.begin(), spans.end(), address,
                       [](uint64_t wanted, const Span& span) { return wanted < span.begin; });
  const auto count = std::min<ptrdiff_t>(after - spans.begin(), kMaxOverlap);
  for (auto at = after; at != after - count;) {
    --at;
    if (address < at->end) return &*at;
  }
  return nullptr;
}

// Not from .debug_aranges: clang writes none.
void DebugInfo::read_units() {
  Dwarf_CU* cu = nullptr;
  uint8_t type = 0;
  Dwarf_Die die;
  while (libdw_.dwarf_get_units(dwarf_, cu, &cu, nullptr, &type, &die, nullptr) == 0) {
    if (type != DW_UT_compile && type != DW_UT_skeleton) continue;
    if (add_spans(die, static_cast<uint32_t>(units_.size()), unit_spans_)) {
      Unit& unit = units_.emplace_back();
      unit.handle = cu;
      unit.die = die;
    }
  }
  sort(unit_spans_);
}

// Children stand behind each other in the file, so a list that does not go forward is a trap.
template <typename Visit>
void DebugInfo::for_each_child(Dwarf_Die& parent, Visit visit) const {
  Dwarf_Die child;
  if (libdw_.dwarf_child(&parent, &child) != 0) return;
  while (visit(child)) {
    Dwarf_Die next;
    if (libdw_.dwarf_siblingof(&child, &next) != 0 || next.addr <= child.addr) return;
    child = next;
  }
}

void DebugInfo::add_functions(Unit& unit, Dwarf_Die& parent, uint32_t scope, int depth) {
  for_each_child(parent, [&](Dwarf_Die& die) {
    const int tag = libdw_.dwarf_tag(&die);
    switch (tag) {
      case DW_TAG_subprogram:
        if (add_spans(die, static_cast<uint32_t>(unit.functions.size()), unit.spans)) {
          unit.functions.push_back(die);
        }
        if (scope != 0) unit.scope_of.emplace(die.addr, scope);
        break;
      case DW_TAG_namespace:
      case DW_TAG_module:
      case DW_TAG_class_type:
      case DW_TAG_structure_type:
      case DW_TAG_union_type: {
        if (depth == kMaxDepth) break;
        const char* name = libdw_.dwarf_diename(&die);
        const char* unnamed = tag == DW_TAG_namespace ? "(anonymous namespace)" : "{unnamed}";
        unit.scopes.push_back(unit.scopes[scope] + (name != nullptr ? name : unnamed) + "::");
        add_functions(unit, die, static_cast<uint32_t>(unit.scopes.size() - 1), depth + 1);
        break;
      }
      default: break;
    }
    return true;
  });
}

void DebugInfo::read_functions(Unit& unit) {
  unit.is_read = true;
  unit.full_die = unit.die;
  uint8_t type = 0;
  Dwarf_Die die, split;
  if (libdw_.dwarf_cu_info(unit.handle, nullptr, &type, &die, &split, nullptr, nullptr, nullptr) ==
          0 &&
      type == DW_UT_skeleton && split.addr != nullptr) {
    unit.full_die = split;
  }
  add_functions(unit, unit.full_die, 0, 0);
  sort(unit.spans);
}

void DebugInfo::find_inlined(Dwarf_Die& parent, uint64_t address, int depth,
                             std::vector<Dwarf_Die>& chain) const {
  for_each_child(parent, [&](Dwarf_Die& die) {
    const int tag = libdw_.dwarf_tag(&die);
    const bool is_inlined = tag == DW_TAG_inlined_subroutine;
    if (!is_inlined && tag != DW_TAG_lexical_block && tag != DW_TAG_try_block &&
        tag != DW_TAG_catch_block) {
      return true;
    }
    if (libdw_.dwarf_haspc(&die, address) <= 0) return true;
    if (is_inlined) chain.push_back(die);
    if (depth < kMaxDepth) find_inlined(die, address, depth + 1, chain);
    return false;
  });
}

std::string DebugInfo::linkage_name_of(Dwarf_Die& die) const {
  for (const unsigned kind : {DW_AT_linkage_name, DW_AT_MIPS_linkage_name}) {
    Dwarf_Attribute attribute;
    const char* name = libdw_.dwarf_attr_integrate(&die, kind, &attribute) != nullptr
                           ? libdw_.dwarf_formstring(&attribute)
                           : nullptr;
    if (name != nullptr) return demangle(name);
  }
  return {};
}

// Compilers leave the linker's name out where no other file can see the function. What it stands
// in is known where it is told first.
std::string DebugInfo::plain_name_of(const Unit& unit, Dwarf_Die& die) const {
  const char* name = libdw_.dwarf_diename(&die);
  if (name == nullptr) return {};
  Dwarf_Die origin = die;
  for (int step = 0; step < kMaxDepth; ++step) {
    const auto scope = unit.scope_of.find(origin.addr);
    if (scope != unit.scope_of.end()) return unit.scopes[scope->second] + name;
    Dwarf_Attribute attribute;
    Dwarf_Die next;
    if ((libdw_.dwarf_attr(&origin, DW_AT_abstract_origin, &attribute) == nullptr &&
         libdw_.dwarf_attr(&origin, DW_AT_specification, &attribute) == nullptr) ||
        libdw_.dwarf_formref_die(&attribute, &next) == nullptr) {
      break;
    }
    origin = next;
  }
  return name;
}

std::string DebugInfo::path_of(Unit& unit, const char* file) const {
  std::filesystem::path path = file;
  Dwarf_Attribute attribute;
  if (path.is_relative() && libdw_.dwarf_attr(&unit.die, DW_AT_comp_dir, &attribute) != nullptr) {
    const char* folder = libdw_.dwarf_formstring(&attribute);
    if (folder != nullptr) path = folder / path;
  }
  return path.lexically_normal().string();
}

CodeLocation DebugInfo::line_at(Unit& unit, uint64_t address) const {
  CodeLocation place;
  Dwarf_Line* line = libdw_.dwarf_getsrc_die(&unit.die, address);
  if (line == nullptr) return place;
  const char* file = libdw_.dwarf_linesrc(line, nullptr, nullptr);
  int number = 0;
  if (file != nullptr) place.file = path_of(unit, file);
  if (libdw_.dwarf_lineno(line, &number) == 0 && number > 0) place.line = number;
  return place;
}

CodeLocation DebugInfo::call_site(Unit& unit, Dwarf_Die& inlined) const {
  CodeLocation place;
  const auto number = [&](unsigned kind, Dwarf_Word& value) {
    Dwarf_Attribute attribute;
    return libdw_.dwarf_attr(&inlined, kind, &attribute) != nullptr &&
           libdw_.dwarf_formudata(&attribute, &value) == 0;
  };
  Dwarf_Word file = 0, line = 0;
  if (number(DW_AT_call_line, line) && line <= INT32_MAX) place.line = static_cast<int64_t>(line);
  Dwarf_Die holder;  // the unit or what was split off from it
  Dwarf_Files* files = nullptr;
  size_t count = 0;
  if (number(DW_AT_call_file, file) &&
      libdw_.dwarf_diecu(&inlined, &holder, nullptr, nullptr) != nullptr &&
      libdw_.dwarf_getsrcfiles(&holder, &files, &count) == 0 && file < count) {
    const char* path = libdw_.dwarf_filesrc(files, file, nullptr, nullptr);
    if (path != nullptr) place.file = path_of(unit, path);
  }
  return place;
}

DebugInfo::Found DebugInfo::find(uint64_t address) {
  const Span* span = find(unit_spans_, address);
  if (span == nullptr) return {};
  Unit& unit = units_[span->index];
  if (!unit.is_read) read_functions(unit);
  Found found;
  CodeLocation place = line_at(unit, address);
  const Span* in = find(unit.spans, address);
  if (in == nullptr) {
    found.locations.push_back(std::move(place));
    return found;
  }
  std::vector<Dwarf_Die> chain = {unit.functions[in->index]};  // outermost first
  find_inlined(chain.front(), address, 0, chain);
  for (size_t i = chain.size(); i-- > 0;) {
    place.function = linkage_name_of(chain[i]);
    found.is_named_whole = !place.function.empty();
    if (!found.is_named_whole) place.function = plain_name_of(unit, chain[i]);
    place.inlined = i > 0;
    found.locations.push_back(
        std::exchange(place, i > 0 ? call_site(unit, chain[i]) : CodeLocation{}));
  }
  return found;
}

}  // namespace gpufl::symbols
