// SPDX-License-Identifier: Apache-2.0
#include "disassembly/line_table.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace gpufl::disassembly {
namespace {

using base::Elf64;
using base::ElfSection;
using base::ElfSymbol;

constexpr size_t kMaxChain = 64;

// Reads forward, and knows when it went beyond the end.
class Bytes {
 public:
  explicit Bytes(std::string_view bytes) : bytes_(bytes) {}

  size_t at() const { return at_; }
  bool is_good() const { return is_good_; }
  bool has_more() const { return is_good_ && at_ < bytes_.size(); }
  void go_to(size_t at) {
    is_good_ = is_good_ && at <= bytes_.size();
    if (is_good_) at_ = at;
  }
  template <typename T>
  T take() {
    T value{};
    if (!is_good_ || bytes_.size() - at_ < sizeof(T)) {
      is_good_ = false;
      return value;
    }
    std::memcpy(&value, bytes_.data() + at_, sizeof(T));
    at_ += sizeof(T);
    return value;
  }
  uint64_t unsigned_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; is_good_; shift += 7) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      if ((byte & 0x80U) == 0) break;
    }
    return value;
  }
  int64_t signed_leb() {
    uint64_t value = 0;
    for (unsigned shift = 0; is_good_;) {
      const auto byte = take<uint8_t>();
      if (shift < 64) value |= uint64_t{byte & 0x7fU} << shift;
      shift += 7;
      if ((byte & 0x80U) != 0) continue;
      if (shift < 64 && (byte & 0x40U) != 0) value |= ~uint64_t{0} << shift;
      break;
    }
    return static_cast<int64_t>(value);
  }
  std::string_view text() {
    const size_t end = is_good_ ? bytes_.find('\0', at_) : std::string_view::npos;
    if (end == std::string_view::npos) {
      is_good_ = false;
      return {};
    }
    const std::string_view found = bytes_.substr(at_, end - at_);
    at_ = end + 1;
    return found;
  }

 private:
  std::string_view bytes_;
  size_t at_ = 0;
  bool is_good_ = true;
};

struct Row {
  uint64_t address = 0;
  uint64_t file = 1;
  int64_t line = 1;
  uint64_t caller = 0;  // number of a row of the same sequence, from 1 on; 0: not inlined
  bool operator==(const Row&) const = default;
};

// The rows of one section, in the order of the table.
struct Sequence {
  std::string section;  // without ".text."
  std::vector<Row> rows;
};

class TableReader {
 public:
  explicit TableReader(const Elf64& elf) : elf_(elf) {}

  // Of all files of the table, by Row::file.
  const std::vector<std::string>& files() const { return all_files_; }

  // By section. Empty where any of it makes no sense.
  std::map<std::string, std::vector<Row>> read() {
    const ElfSection* section = elf_.find_section(".debug_line");
    if (section == nullptr) return {};
    read_relocations();
    bytes_ = Bytes(elf_.content(*section));
    while (bytes_.has_more()) {
      if (!read_unit()) return {};
    }
    return std::move(sections_);
  }

 private:
  // Which code the addresses of the table are of.
  void read_relocations() {
    struct Relocation {
      uint64_t offset, info;
      int64_t addend;
    };
    const ElfSection* section = elf_.find_section(".rela.debug_line");
    if (section == nullptr) return;
    std::vector<std::pair<std::string, uint64_t>> symbols;  // section's name, address in it
    elf_.for_each_symbol([&](const ElfSymbol& symbol) {
      const auto& sections = elf_.sections();
      symbols.emplace_back(
          symbol.section < sections.size() ? sections[symbol.section].name : std::string_view(),
          symbol.value);
      return true;
    });
    Bytes bytes(elf_.content(*section));
    while (bytes.has_more()) {
      const auto relocation = bytes.take<Relocation>();
      const uint64_t symbol = relocation.info >> 32;
      if (!bytes.is_good() || symbol >= symbols.size()) continue;
      auto [name, address] = symbols[symbol];
      address += static_cast<uint64_t>(relocation.addend);
      relocations_.emplace(relocation.offset, std::pair(std::move(name), address));
    }
  }

  bool read_unit() {
    const auto length = bytes_.take<uint32_t>();
    const size_t end = bytes_.at() + length;
    const auto version = bytes_.take<uint16_t>();
    if (version < 2 || version > 4) return false;
    const auto header_length = bytes_.take<uint32_t>();
    const size_t program = bytes_.at() + header_length;
    min_length_ = bytes_.take<uint8_t>();
    if (version == 4) bytes_.take<uint8_t>();
    bytes_.take<uint8_t>();                        // is_stmt
    const int line_base = bytes_.take<uint8_t>();  // a signed byte
    line_base_ = line_base < 128 ? line_base : line_base - 256;
    line_range_ = bytes_.take<uint8_t>();
    opcode_base_ = bytes_.take<uint8_t>();
    if (line_range_ == 0 || opcode_base_ == 0) return false;
    operands_.assign(1, 0);
    for (unsigned i = 1; i < opcode_base_; ++i) operands_.push_back(bytes_.take<uint8_t>());
    read_files();
    bytes_.go_to(program);
    begin_sequence();
    while (bytes_.is_good() && bytes_.at() < end) step();
    bytes_.go_to(end);
    return bytes_.is_good();
  }

  void read_files() {
    std::vector<std::string_view> folders{""};
    for (auto folder = bytes_.text(); !folder.empty(); folder = bytes_.text()) {
      folders.push_back(folder);
    }
    files_.assign(1, 0);
    for (auto name = bytes_.text(); !name.empty(); name = bytes_.text()) {
      const uint64_t folder = bytes_.unsigned_leb();
      bytes_.unsigned_leb();  // its time
      bytes_.unsigned_leb();  // its size
      const std::string_view in = folder < folders.size() ? folders[folder] : std::string_view();
      const bool is_whole = in.empty() || name.starts_with('/');
      files_.push_back(all_files_.size());
      all_files_.push_back(is_whole ? std::string(name)
                                    : std::string(in) + "/" + std::string(name));
    }
  }

  void begin_sequence() {
    row_ = Row();
    sequence_ = Sequence();
  }

  // Joins what other sequences, and units with other files, say of the same section.
  void end_sequence() {
    if (!sequence_.section.empty()) {
      std::vector<Row>& rows = sections_[sequence_.section];
      const size_t before = rows.size();
      for (Row row : sequence_.rows) {
        row.file = row.file < files_.size() ? files_[row.file] : 0;
        if (row.caller != 0) row.caller += before;
        rows.push_back(row);
      }
    }
    begin_sequence();
  }

  void emit() {
    // A row that says what the one before says has no number.
    if (sequence_.rows.empty() || sequence_.rows.back() != row_) sequence_.rows.push_back(row_);
  }

  void step() {
    const auto opcode = bytes_.take<uint8_t>();
    if (opcode >= opcode_base_) {
      const unsigned special = opcode - opcode_base_;
      row_.address += uint64_t{special / line_range_} * min_length_;
      row_.line += line_base_ + static_cast<int64_t>(special % line_range_);
      emit();
      return;
    }
    switch (opcode) {
      case 0: extended(); break;
      case 1: emit(); break;
      case 2: row_.address += bytes_.unsigned_leb() * min_length_; break;
      case 3: row_.line += bytes_.signed_leb(); break;
      case 4: row_.file = bytes_.unsigned_leb(); break;
      case 8: row_.address += uint64_t{(255U - opcode_base_) / line_range_} * min_length_; break;
      case 9: row_.address += bytes_.take<uint16_t>(); break;
      default:
        for (unsigned i = 0; i < operands_[opcode]; ++i) bytes_.unsigned_leb();
    }
  }

  void extended() {
    constexpr uint8_t kEnd = 1, kAddress = 2, kInlined = 0x90;
    const uint64_t length = bytes_.unsigned_leb();
    const size_t end = bytes_.at() + length;
    if (length == 0) return;  // nvcc writes some
    switch (bytes_.take<uint8_t>()) {
      case kEnd: end_sequence(); break;
      case kAddress: set_address(); break;
      case kInlined: row_.caller = bytes_.unsigned_leb(); break;
      default: break;
    }
    bytes_.go_to(end);
  }

  void set_address() {
    constexpr std::string_view kCode = ".text.";
    const auto found = relocations_.find(bytes_.at());
    row_.address = bytes_.take<uint64_t>();
    if (found == relocations_.end()) return;
    const auto& [section, address] = found->second;
    row_.address += address;
    if (section.starts_with(kCode)) sequence_.section = section.substr(kCode.size());
  }

  const Elf64& elf_;
  Bytes bytes_{std::string_view()};
  std::unordered_map<uint64_t, std::pair<std::string, uint64_t>> relocations_;
  unsigned min_length_ = 1, line_range_ = 1, opcode_base_ = 1;
  int line_base_ = 0;
  std::vector<uint8_t> operands_;
  std::vector<size_t> files_;               // of the unit: places in all_files_
  std::vector<std::string> all_files_{""};  // 0: none
  Row row_;
  Sequence sequence_;
  std::map<std::string, std::vector<Row>> sections_;
};

// Puts the lines of one section into its instructions.
class ChainBuilder {
 public:
  ChainBuilder(const std::vector<Row>& rows, const std::vector<std::string>& files,
               KernelCode& code)
      : rows_(rows), names_(files), code_(code) {
    code_.files.clear();
    code_.chains.clear();
  }

  void run() {
    std::vector<uint32_t> order;  // rows by address; of equal ones the last counts
    for (uint32_t i = 0; i < rows_.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(),
                     [&](uint32_t a, uint32_t b) { return rows_[a].address < rows_[b].address; });
    size_t next = 0;
    uint32_t chain = kNoChain;
    for (Instruction& instruction : code_.instructions) {
      std::optional<uint32_t> row;
      while (next < order.size() && rows_[order[next]].address <= instruction.offset) {
        row = order[next++];
      }
      if (row) chain = chain_of(*row);
      instruction.chain = chain;
    }
  }

 private:
  uint32_t chain_of(uint32_t row) {
    InlineChain chain;
    for (uint64_t at = row + uint64_t{1}; at != 0 && chain.size() < kMaxChain;) {
      if (at > rows_.size()) break;
      const Row& place = rows_[at - 1];
      if (place.file != 0 && place.line > 0) {
        chain.push_back({file(names_[place.file]), static_cast<uint32_t>(place.line)});
      }
      if (place.caller >= at) break;  // callers come before what they call
      at = place.caller;
    }
    if (chain.empty()) return kNoChain;
    const auto [number, is_new] = chains_.emplace(chain, code_.chains.size());
    if (is_new) code_.chains.push_back(std::move(chain));
    return number->second;
  }
  uint32_t file(const std::string& name) {
    const auto [number, is_new] = files_.emplace(name, code_.files.size());
    if (is_new) code_.files.push_back(name);
    return number->second;
  }

  const std::vector<Row>& rows_;
  const std::vector<std::string>& names_;
  KernelCode& code_;
  std::map<std::string, uint32_t> files_;
  std::map<InlineChain, uint32_t> chains_;
};

}  // namespace

void add_line_chains(const Elf64& elf, std::vector<KernelCode>& code) {
  TableReader table(elf);
  const auto rows = table.read();
  for (KernelCode& section : code) {
    const auto found = rows.find(section.name);
    if (found != rows.end()) ChainBuilder(found->second, table.files(), section).run();
  }
}

}  // namespace gpufl::disassembly
