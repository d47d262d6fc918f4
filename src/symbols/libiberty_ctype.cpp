// SPDX-License-Identifier: Apache-2.0
#include <libiberty/safe-ctype.h>

#include <array>
#include <cstddef>

// libiberty's demanglers, which may be linked into anything, ask its table of character classes,
// which is plain LGPL. Our own in its place keeps that one out of what we link.
namespace gpufl::symbols {
namespace {

constexpr bool is_within(int c, int first, int last) { return c >= first && c <= last; }

// Of ASCII; no other character has a class.
constexpr unsigned short classes_of(int c) {
  const bool is_digit = is_within(c, '0', '9');
  const bool is_lower = is_within(c, 'a', 'z');
  const bool is_upper = is_within(c, 'A', 'Z');
  const bool is_hex_letter = is_within(c, 'a', 'f') || is_within(c, 'A', 'F');
  const bool is_printed = is_within(c, ' ', '~');
  const bool is_line_end = c == '\n' || c == '\r';
  const bool is_other_space = c == ' ' || c == '\t' || c == '\f' || c == '\v';
  int classes = 0;
  if (c == ' ' || c == '\t') classes |= _sch_isblank;
  if (is_within(c, 0, 31) || c == 127) classes |= _sch_iscntrl;
  if (is_digit) classes |= _sch_isdigit;
  if (is_lower) classes |= _sch_islower;
  if (is_upper) classes |= _sch_isupper;
  if (is_digit || is_hex_letter) classes |= _sch_isxdigit;
  if (is_printed) classes |= _sch_isprint;
  if (is_printed && c != ' ' && !is_digit && !is_lower && !is_upper) classes |= _sch_ispunct;
  if (is_line_end || is_other_space) classes |= _sch_isspace;
  if (is_lower || is_upper || c == '_') classes |= _sch_isidst;
  if (is_line_end) classes |= _sch_isvsp;
  if (is_other_space || c == 0) classes |= _sch_isnvsp;
  return static_cast<unsigned short>(classes);
}

using Table = std::array<unsigned short, 256>;

constexpr Table make_table() {
  Table table{};
  for (int c = 0; c < 128; ++c) table[static_cast<std::size_t>(c)] = classes_of(c);
  return table;
}

}  // namespace

extern const Table kCharacterClasses asm("_sch_istable");
constinit const Table kCharacterClasses = make_table();

}  // namespace gpufl::symbols
