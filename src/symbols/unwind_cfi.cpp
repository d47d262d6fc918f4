// SPDX-License-Identifier: Apache-2.0
#include "symbols/unwind_cfi.hpp"

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

#include "symbols/address.hpp"
#include "symbols/dwarf_reader.hpp"

namespace gpufl::symbols {

namespace {

// DWARF's numbers of the registers that a step follows.
constexpr uint64_t kRbx = 3, kRbp = 6, kRsp = 7, kReturnAddress = 16;
constexpr int kReturnAddressOffset = -8;

struct Cie {
  uint64_t code_alignment = 1;
  int64_t data_alignment = 1;
  uint8_t pointer_encoding = 0;  // absolute, eight bytes
  bool is_signal_frame = false;
  bool has_augmentation_data = false;
  DwarfReader instructions;
};

struct Fde {
  Cie cie;
  uintptr_t begin = 0;
  DwarfReader instructions;
};

struct Rule {
  enum class Kind : uint8_t { SameValue, Undefined, Offset, Expression, Other };
  Kind kind = Kind::SameValue;
  int64_t offset = 0;      // Offset: of the CFA
  DwarfReader expression;  // Expression: gives the address
};

struct Row {
  uint64_t cfa_register = kRsp;
  int64_t cfa_offset = 0;
  bool cfa_is_expression = false;
  DwarfReader cfa_expression;
  Rule rbp, rbx, return_address;

  Rule* rule(uint64_t dwarf_register) {
    switch (dwarf_register) {
      case kRbp: return &rbp;
      case kRbx: return &rbx;
      case kReturnAddress: return &return_address;
      default: return nullptr;  // a register that no step needs
    }
  }
};

bool read_augmentation(DwarfReader& reader, const char* augmentation, Cie& cie) {
  if (*augmentation == '\0') return true;
  if (*augmentation != 'z') return false;
  cie.has_augmentation_data = true;
  DwarfReader data = reader.take(reader.uleb());
  for (const char* c = augmentation + 1; *c != '\0'; ++c) {
    switch (*c) {
      case 'R': cie.pointer_encoding = data.u8(); break;
      case 'L': data.u8(); break;
      case 'P': data.encoded(data.u8(), 0); break;
      case 'S': cie.is_signal_frame = true; break;
      default: return false;
    }
  }
  return data.is_ok();
}

std::optional<Cie> read_cie(DwarfReader reader) {
  const uint32_t length = reader.u32();
  reader = reader.take(length);
  if (reader.u32() != 0) return std::nullopt;
  const uint8_t version = reader.u8();
  if (version != 1 && version != 3) return std::nullopt;
  Cie cie;
  const char* augmentation = reader.c_string();
  if (augmentation == nullptr) return std::nullopt;
  cie.code_alignment = reader.uleb();
  cie.data_alignment = reader.sleb();
  const uint64_t return_register = version == 1 ? reader.u8() : reader.uleb();
  if (return_register != kReturnAddress || !read_augmentation(reader, augmentation, cie) ||
      !reader.is_ok()) {
    return std::nullopt;
  }
  cie.instructions = reader;
  return cie;
}

std::optional<Fde> read_fde(const CodeModule& module, uintptr_t address, uintptr_t pc) {
  if (!module.contains(address)) return std::nullopt;
  DwarfReader reader(address, module.end);
  const uint32_t length = reader.u32();
  reader = reader.take(length);
  const uintptr_t cie_field = reader.position();
  const uint32_t cie_delta = reader.u32();
  if (!reader.is_ok() || cie_delta == 0 || !module.contains(cie_field - cie_delta)) {
    return std::nullopt;
  }
  const auto cie = read_cie(DwarfReader(cie_field - cie_delta, module.end));
  if (!cie) return std::nullopt;
  Fde fde;
  fde.cie = *cie;
  fde.begin = reader.encoded(cie->pointer_encoding, 0);
  const uintptr_t size = reader.encoded(cie->pointer_encoding & kPointerFormatMask, 0);
  if (cie->has_augmentation_data) reader.take(reader.uleb());
  if (!reader.is_ok() || pc < fde.begin || pc - fde.begin >= size) return std::nullopt;
  fde.instructions = reader;
  return fde;
}

// The linker's sorted table of (function, entry), both 32 bits relative to the header: what every
// linker writes. Another form, or none, is no table.
uintptr_t find_fde(const CodeModule& module, uintptr_t pc) {
  constexpr uint8_t kVersion = 1, kUdata4 = 0x03, kDatarelSdata4 = 0x3b;
  struct TableEntry {
    int32_t function, fde;
  };
  if (!module.contains(module.eh_frame_hdr)) return 0;
  DwarfReader reader(module.eh_frame_hdr, module.end);
  const uint8_t version = reader.u8(), pointer_encoding = reader.u8(), count_encoding = reader.u8(),
                table_encoding = reader.u8();
  if (version != kVersion || count_encoding != kUdata4 || table_encoding != kDatarelSdata4) {
    return 0;
  }
  reader.encoded(pointer_encoding, module.eh_frame_hdr);
  const uint32_t count = reader.u32();
  DwarfReader table = reader.take(uint64_t{count} * sizeof(TableEntry));
  if (!table.is_ok() || count == 0) return 0;
  const auto entry_at = [&](size_t i) {
    TableEntry entry;
    std::memcpy(&entry, at_address(table.position() + i * sizeof(entry)), sizeof(entry));
    return entry;
  };
  const auto wanted = static_cast<int64_t>(pc - module.eh_frame_hdr);
  size_t low = 0, high = count;
  while (high - low > 1) {
    const size_t middle = low + (high - low) / 2;
    (entry_at(middle).function <= wanted ? low : high) = middle;
  }
  return module.eh_frame_hdr + static_cast<intptr_t>(entry_at(low).fde);
}

// Runs call frame instructions up to the row that is in force at an address.
class RowProgram {
 public:
  RowProgram(const Cie& cie, uintptr_t begin, uintptr_t pc) : cie_(cie), at_(begin), pc_(pc) {}

  // False: an instruction is unknown, or the table ends in the middle of one.
  bool run(DwarfReader code) {
    while (code.is_ok() && !code.is_at_end() && at_ <= pc_) {
      if (!execute(code)) return false;
    }
    return code.is_ok();
  }

  // What `restore` goes back to.
  void end_of_initial() { initial_ = row; }

  Row row;

 private:
  bool execute(DwarfReader& code);
  bool execute_extended(uint8_t opcode, DwarfReader& code);

  void advance(uint64_t delta) { at_ += delta * cie_.code_alignment; }
  int64_t factored(uint64_t value) const {
    return static_cast<int64_t>(value) * cie_.data_alignment;
  }
  void set(uint64_t dwarf_register, const Rule& rule) {
    if (Rule* place = row.rule(dwarf_register)) *place = rule;
  }
  void set_offset(uint64_t dwarf_register, int64_t offset) {
    set(dwarf_register, {Rule::Kind::Offset, offset, {}});
  }
  void restore(uint64_t dwarf_register) {
    if (const Rule* rule = initial_.rule(dwarf_register)) set(dwarf_register, *rule);
  }
  void define_cfa(uint64_t dwarf_register, int64_t offset) {
    row.cfa_is_expression = false;
    row.cfa_register = dwarf_register;
    row.cfa_offset = offset;
  }

  const Cie& cie_;
  uintptr_t at_;
  const uintptr_t pc_;
  Row initial_;
  std::array<Row, 8> remembered_;
  size_t remembered_count_ = 0;
};

bool RowProgram::execute(DwarfReader& code) {
  const uint8_t byte = code.u8();
  const uint8_t operand = byte & 0x3f;
  switch (byte >> 6) {
    case 1: advance(operand); return true;
    case 2: set_offset(operand, factored(code.uleb())); return true;
    case 3: restore(operand); return true;
    default: return execute_extended(byte, code);
  }
}

bool RowProgram::execute_extended(uint8_t opcode, DwarfReader& code) {
  // DWARF's numbers: first what does not begin with a register, then what does.
  switch (opcode) {
    case 0x00: return true;
    case 0x01: at_ = code.encoded(cie_.pointer_encoding, 0); return true;
    case 0x02: advance(code.u8()); return true;
    case 0x03: advance(code.u16()); return true;
    case 0x04: advance(code.u32()); return true;
    case 0x0a:
      if (remembered_count_ == remembered_.size()) return false;
      remembered_[remembered_count_++] = row;
      return true;
    case 0x0b:
      if (remembered_count_ == 0) return false;
      row = remembered_[--remembered_count_];
      return true;
    case 0x0e: row.cfa_offset = static_cast<int64_t>(code.uleb()); return true;
    case 0x0f:
      row.cfa_is_expression = true;
      row.cfa_expression = code.take(code.uleb());
      return true;
    case 0x13: row.cfa_offset = code.sleb() * cie_.data_alignment; return true;
    case 0x2e: code.uleb(); return true;  // bytes of pushed arguments: nothing for a walk
    default: break;
  }
  const uint64_t target = code.uleb();
  switch (opcode) {
    case 0x05: set_offset(target, factored(code.uleb())); return true;
    case 0x06: restore(target); return true;
    case 0x07: set(target, {Rule::Kind::Undefined, 0, {}}); return true;
    case 0x08: set(target, {}); return true;
    case 0x0c: define_cfa(target, static_cast<int64_t>(code.uleb())); return true;
    case 0x0d: define_cfa(target, row.cfa_offset); return true;
    case 0x10: set(target, {Rule::Kind::Expression, 0, code.take(code.uleb())}); return true;
    case 0x11: set_offset(target, code.sleb() * cie_.data_alignment); return true;
    case 0x12: define_cfa(target, code.sleb() * cie_.data_alignment); return true;
    case 0x2f: set_offset(target, -factored(code.uleb())); return true;
    case 0x09:  // in another register
    case 0x14:  // the value itself is CFA + offset
    case 0x15:
      code.uleb();
      set(target, {Rule::Kind::Other, 0, {}});
      return true;
    case 0x16:
      code.take(code.uleb());
      set(target, {Rule::Kind::Other, 0, {}});
      return true;
    default: return false;
  }
}

// What an expression comes to, as far as a step can hold it.
struct Term {
  enum class Kind : uint8_t { Constant, Register, Loaded };
  Kind kind = Kind::Constant;
  uint64_t base = 0;  // DWARF's number; Register: value is base + offset; Loaded: *(base + offset)
  int64_t offset = 0;
};

// The expressions that compilers and linkers write: "rbp - 8, loaded" of functions that realign
// their stack, "rbp + 0" for where they save it, and the arithmetic on rip in PLT entries.
std::optional<Term> evaluate_expression(DwarfReader code, uintptr_t pc) {
  constexpr uint8_t kLit0 = 0x30, kBreg0 = 0x70, kBregLast = 0x8f;
  std::array<Term, 8> stack;
  size_t depth = 0;
  while (!code.is_at_end()) {
    const uint8_t op = code.u8();
    if (op >= kLit0 && op < kLit0 + 32) {
      if (depth == stack.size()) return std::nullopt;
      stack[depth++] = {Term::Kind::Constant, 0, op - kLit0};
    } else if (op >= kBreg0 && op <= kBregLast) {
      if (depth == stack.size()) return std::nullopt;
      const int64_t offset = code.sleb();
      const uint64_t base = op - kBreg0;
      stack[depth++] = base == kReturnAddress
                           ? Term{Term::Kind::Constant, 0, static_cast<int64_t>(pc) + offset}
                           : Term{Term::Kind::Register, base, offset};
    } else if (op == 0x06) {  // deref
      if (depth == 0 || stack[depth - 1].kind != Term::Kind::Register) return std::nullopt;
      stack[depth - 1].kind = Term::Kind::Loaded;
    } else if (op == 0x23) {  // plus a constant
      const auto addend = static_cast<int64_t>(code.uleb());
      if (depth == 0 || stack[depth - 1].kind == Term::Kind::Loaded) return std::nullopt;
      stack[depth - 1].offset += addend;
    } else {
      if (depth < 2 || stack[depth - 1].kind != Term::Kind::Constant) return std::nullopt;
      const int64_t right = stack[--depth].offset;
      Term& left = stack[depth - 1];
      if (op == 0x22 && left.kind != Term::Kind::Loaded) {  // plus
        left.offset += right;
        continue;
      }
      if (left.kind != Term::Kind::Constant) return std::nullopt;
      switch (op) {
        case 0x1a: left.offset &= right; break;
        case 0x24: left.offset <<= right & 63; break;
        case 0x2a: left.offset = left.offset >= right ? 1 : 0; break;
        default: return std::nullopt;
      }
    }
    if (!code.is_ok()) return std::nullopt;
  }
  if (depth != 1) return std::nullopt;
  return stack[0];
}

bool fits_step(int64_t offset) { return offset == static_cast<int32_t>(offset); }

std::optional<StepBase> step_base(uint64_t dwarf_register) {
  switch (dwarf_register) {
    case kRsp: return StepBase::Rsp;
    case kRbp: return StepBase::Rbp;
    case kRbx: return StepBase::Rbx;
    default: return std::nullopt;
  }
}

SavedRegister saved_register(const Rule& rule, uintptr_t pc) {
  if (rule.kind == Rule::Kind::SameValue) return {SavedAt::Nowhere, 0};
  if (rule.kind == Rule::Kind::Offset && fits_step(rule.offset)) {
    return {SavedAt::Cfa, static_cast<int32_t>(rule.offset)};
  }
  if (rule.kind == Rule::Kind::Expression) {
    const auto term = evaluate_expression(rule.expression, pc);
    if (term && term->kind == Term::Kind::Register && term->base == kRbp &&
        fits_step(term->offset)) {
      return {SavedAt::Rbp, static_cast<int32_t>(term->offset)};
    }
  }
  return {SavedAt::Lost, 0};
}

UnwindStep make_step(const Row& row, uintptr_t pc) {
  if (row.return_address.kind == Rule::Kind::Undefined) return {.kind = StepKind::End};
  if (row.return_address.kind != Rule::Kind::Offset ||
      row.return_address.offset != kReturnAddressOffset) {
    return {};
  }
  Term cfa{Term::Kind::Register, row.cfa_register, row.cfa_offset};
  if (row.cfa_is_expression) {
    const auto term = evaluate_expression(row.cfa_expression, pc);
    if (!term || term->kind == Term::Kind::Constant) return {};
    cfa = *term;
  }
  const auto base = step_base(cfa.base);
  if (!base || !fits_step(cfa.offset)) return {};
  return {cfa.kind == Term::Kind::Loaded ? StepKind::CfiDeref : StepKind::Cfi, *base,
          static_cast<int32_t>(cfa.offset), saved_register(row.rbp, pc),
          saved_register(row.rbx, pc)};
}

}  // namespace

UnwindStep evaluate_cfi(const CodeModule& module, uintptr_t pc) noexcept {
  const auto fde = read_fde(module, find_fde(module, pc), pc);
  if (!fde) return {};
  // Where the kernel leaves the registers is its ABI; the table would only say the same at length.
  if (fde->cie.is_signal_frame) return {.kind = StepKind::Signal};
  RowProgram program(fde->cie, fde->begin, pc);
  if (!program.run(fde->cie.instructions)) return {};
  program.end_of_initial();
  if (!program.run(fde->instructions)) return {};
  return make_step(program.row, pc);
}

}  // namespace gpufl::symbols
