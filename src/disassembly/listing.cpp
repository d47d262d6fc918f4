// SPDX-License-Identifier: Apache-2.0
#include "disassembly/listing.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <optional>
#include <utility>

namespace gpufl::disassembly {
namespace {

constexpr std::string_view kPtxFile = ".nv_debug_ptx_txt";
constexpr std::string_view kTextSection = ".text.";
constexpr size_t kMaxChain = 64;  // functions inlined into each other

std::string_view trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

template <typename Integer>
std::optional<Integer> number(std::string_view text, int base = 10) {
  Integer value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

// `.section .text.NAME,"ax",@progbits`: NAME, if the line is that.
std::optional<std::string_view> section_of(std::string_view line) {
  constexpr std::string_view kDirective = ".section";
  if (!line.starts_with(kDirective)) return std::nullopt;
  std::string_view name = trim(line.substr(kDirective.size()));
  // Names with odd characters stand in quotes.
  if (name.starts_with('"')) {
    name = name.substr(1, name.find('"', 1) - 1);
  } else {
    name = name.substr(0, name.find(','));
  }
  if (!name.starts_with(kTextSection)) return std::string_view();
  return name.substr(kTextSection.size());
}

struct NotedLine {
  std::string_view file;
  uint32_t line = 0;
};

// `//## File "a.cu", line 2 inlined at "b.cu", line 14`: where the instruction is.
std::optional<NotedLine> note_of(std::string_view line) {
  constexpr std::string_view kBegin = "//## File \"", kLine = "\", line ";
  if (!line.starts_with(kBegin)) return std::nullopt;
  line.remove_prefix(kBegin.size());
  const size_t end = line.find(kLine);
  if (end == std::string_view::npos) return std::nullopt;
  const auto value = number<uint32_t>(line.substr(end + kLine.size()));
  if (!value) return std::nullopt;
  return NotedLine{line.substr(0, end), *value};
}

// `/*00b0*/  @!P0 LDG.E R0, desc[UR6][R2.64] ;  // |   6   |`: its parts.
struct PrintedInstruction {
  uint32_t offset = 0;
  std::string_view text, remark;
};
std::optional<PrintedInstruction> instruction_of(std::string_view line) {
  if (!line.starts_with("/*")) return std::nullopt;
  const size_t end = line.find("*/");
  if (end == std::string_view::npos) return std::nullopt;
  const auto offset = number<uint32_t>(line.substr(2, end - 2), 16);
  if (!offset) return std::nullopt;
  std::string_view rest = line.substr(end + 2);
  const size_t remark = rest.find("//");
  std::string_view text = trim(rest.substr(0, remark));
  const size_t semicolon = text.rfind(';');
  if (semicolon != std::string_view::npos) text = trim(text.substr(0, semicolon));
  if (text.empty()) return std::nullopt;
  return PrintedInstruction{
      *offset, text, remark == std::string_view::npos ? std::string_view() : rest.substr(remark)};
}

// The label that an instruction names: "`(.L_x_3)".
std::string_view label_in(std::string_view text) {
  const size_t begin = text.find("`(");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin + 2, text.find(')', begin) - begin - 2);
}

// Without the predicate: "@!P0 BRA" is "BRA".
bool returns(std::string_view text) {
  if (text.starts_with('@')) text = trim(text.substr(std::min(text.find(' '), text.size())));
  return text.starts_with("RET");
}

class SectionBuilder {
 public:
  explicit SectionBuilder(std::string_view name) { code_.name = name; }

  void add_label(std::string_view name) { pending_labels_.emplace_back(name); }

  // Notes that follow each other are one chain; those of PTX stand between them or behind.
  void add_note(const NotedLine& note) {
    if (note.file.ends_with(kPtxFile)) {
      ptx_line_ = note.line;
      return;
    }
    if (!in_notes_) chain_.clear();
    in_notes_ = true;
    if (chain_.size() < kMaxChain) chain_.push_back({file(note.file), note.line});
  }

  void add(const PrintedInstruction& printed) {
    in_notes_ = false;
    for (std::string& label : pending_labels_) labels_.emplace(std::move(label), printed.offset);
    pending_labels_.clear();
    Instruction instruction;
    instruction.offset = printed.offset;
    instruction.text = printed.text;
    instruction.chain = chain_.empty() ? kNoChain : chain();
    instruction.ptx_line = ptx_line_;
    code_.instructions.push_back(std::move(instruction));
  }

  KernelCode finish() {
    for (Instruction& instruction : code_.instructions) {
      const auto found = labels_.find(label_in(instruction.text));
      if (found != labels_.end() && !returns(instruction.text)) instruction.target = found->second;
    }
    return std::move(code_);
  }

 private:
  uint32_t file(std::string_view name) {
    const auto [found, is_new] = files_.emplace(name, static_cast<uint32_t>(code_.files.size()));
    if (is_new) code_.files.emplace_back(name);
    return found->second;
  }
  uint32_t chain() {
    const auto [found, is_new] =
        chains_.emplace(chain_, static_cast<uint32_t>(code_.chains.size()));
    if (is_new) code_.chains.push_back(chain_);
    return found->second;
  }

  KernelCode code_;
  InlineChain chain_;
  uint32_t ptx_line_ = 0;
  bool in_notes_ = false;
  std::vector<std::string> pending_labels_;
  std::map<std::string, uint32_t, std::less<>> labels_, files_;
  std::map<InlineChain, uint32_t> chains_;
};

template <typename OnLine>
void for_each_line(std::string_view text, OnLine on_line) {
  while (!text.empty()) {
    const size_t newline = text.find('\n');
    on_line(trim(text.substr(0, newline)));
    text.remove_prefix(newline == std::string_view::npos ? text.size() : newline + 1);
  }
}

// "// |   6   |   1   |": of the first column, which is the general registers'.
std::optional<int32_t> live_registers(std::string_view remark) {
  const size_t begin = remark.find('|');
  if (begin == std::string_view::npos) return std::nullopt;
  remark.remove_prefix(begin + 1);
  const std::string_view cell = trim(remark.substr(0, remark.find('|')));
  return cell.empty() ? std::optional<int32_t>(0) : number<int32_t>(cell);
}

}  // namespace

std::vector<KernelCode> parse_listing(std::string_view listing) {
  std::vector<KernelCode> sections;
  std::optional<SectionBuilder> builder;
  const auto close = [&] {
    if (builder) sections.push_back(builder->finish());
    builder.reset();
  };
  for_each_line(listing, [&](std::string_view line) {
    if (const auto section = section_of(line)) {
      close();
      if (!section->empty()) builder.emplace(*section);
    } else if (!builder || line.empty()) {
      return;
    } else if (const auto note = note_of(line)) {
      builder->add_note(*note);
    } else if (const auto instruction = instruction_of(line)) {
      builder->add(*instruction);
    } else if (line.ends_with(':')) {
      builder->add_label(line.substr(0, line.size() - 1));
    }
  });
  close();
  return sections;
}

std::string listed_target(std::string_view listing) {
  constexpr std::string_view kTarget = ".target";
  const size_t at = listing.find(kTarget);
  if (at == std::string_view::npos) return {};
  listing.remove_prefix(at + kTarget.size());
  return std::string(trim(listing.substr(0, listing.find_first_of("\n,"))));
}

void add_live_registers(std::string_view listing, std::vector<KernelCode>& code) {
  KernelCode* section = nullptr;
  size_t next = 0;  // instructions come in the same order
  for_each_line(listing, [&](std::string_view line) {
    if (const auto name = section_of(line)) {
      const auto found = std::find_if(code.begin(), code.end(), [&](const KernelCode& candidate) {
        return candidate.name == *name;
      });
      section = found != code.end() ? &*found : nullptr;
      next = 0;
      return;
    }
    const auto printed = section != nullptr ? instruction_of(line) : std::nullopt;
    if (!printed) return;
    auto& instructions = section->instructions;
    while (next < instructions.size() && instructions[next].offset < printed->offset) ++next;
    if (next == instructions.size() || instructions[next].offset != printed->offset) return;
    instructions[next].live_registers = live_registers(printed->remark).value_or(-1);
  });
}

}  // namespace gpufl::disassembly
