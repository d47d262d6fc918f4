// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

#include <warpscope/problems.hpp>
#include <warpscope/side_block.hpp>
#include <warpscope/trace.hpp>

// Relatives of wire format v1, rewritten as v1 slot by slot.
namespace ws {
namespace detail {

// Records as v1 has them.
enum class RecordType : uint32_t { Begin = 0, End = 1, Instant = 2, Finalize = 3 };
inline constexpr uint32_t kEvents = 1024;

inline RecordType record_type(uint64_t word) { return static_cast<RecordType>(word & 3); }
inline uint32_t record_event(uint64_t word) { return (low_half(word) >> 2) & (kEvents - 1); }
inline uint32_t record_lane(uint64_t word) { return low_half(word) >> 12; }

inline constexpr uint64_t kExtToken = uint64_t{1} << 62;
inline constexpr uint64_t kExtPayload = uint64_t{1} << 63;
inline uint32_t ext_payload(uint64_t word) { return low_half(word); }
inline uint32_t ext_token(uint64_t word) { return high_half(word) & 0x3fffffff; }

// The tag's fields, from bit 2 up; a width of 0: the dialect has no such field.
struct TagFields {
  const char* name;
  uint32_t event_bits, lane_bits, number_bits, sm_bits;
  bool finalizes;
};
inline constexpr TagFields kDialects[] = {{"v1", 10, 20, 0, 0, true},
                                          {"flashinfer-2025-03", 10, 20, 0, 0, false},
                                          {"flashinfer-2025-07", 10, 12, 0, 8, false},
                                          {"mirage-transpiler", 10, 12, 8, 0, false},
                                          {"mirage-persistent", 9, 8, 13, 0, false}};
inline const TagFields& fields_of(Dialect dialect) {
  return kDialects[static_cast<size_t>(dialect)];
}

struct Converted {
  std::vector<uint64_t> words;
  std::vector<uint64_t>
      extension;  // where records are numbered: the number, and a token made of it
  std::vector<uint16_t> sm_of_lane;  // where records tell their SM
};

// The lane of a record that tells its block only: these kernels place lanes one beside the other,
// so the slot tells the group.
inline uint32_t lane_by_slot(size_t slot, uint32_t block, uint64_t header, ProblemTally& problems) {
  const uint64_t groups = high_half(header), lanes = groups * low_half(header);
  if (groups <= 1 || lanes == 0 || lanes > kMaxLanes) return block;
  const uint64_t lane = (slot - 1) % lanes;
  if (lane / groups == block) return static_cast<uint32_t>(lane);
  const uint64_t first = block * groups;
  problems.add(ProblemKind::GroupUnknown, 1, static_cast<uint32_t>(first));
  return static_cast<uint32_t>(std::min(first, kMaxLanes - 1));
}

inline Converted convert(const uint64_t* words, size_t n, Dialect from, ProblemTally& problems) {
  const TagFields& fields = fields_of(from);
  const auto field = [](uint32_t tag, uint32_t shift, uint32_t bits) {
    return (tag >> shift) & ((1U << bits) - 1);
  };
  Converted converted;
  converted.words.assign(words, words + n);
  if (fields.number_bits != 0) converted.extension.resize(n);
  for (size_t slot = 1; slot < n; ++slot) {
    uint64_t& word = converted.words[slot];
    if (word == 0) continue;
    const uint32_t tag = low_half(word);
    const uint32_t event = field(tag, 2, fields.event_bits);
    uint32_t lane = field(tag, 2 + fields.event_bits, fields.lane_bits);
    const uint32_t rest = 2 + fields.event_bits + fields.lane_bits;
    if (fields.sm_bits != 0) {
      lane = lane_by_slot(slot, lane, words[0], problems);
      if (lane >= converted.sm_of_lane.size()) converted.sm_of_lane.resize(lane + 1, kUnknownSm);
      converted.sm_of_lane[lane] = static_cast<uint16_t>(field(tag, rest, fields.sm_bits));
    }
    if (fields.number_bits != 0) {
      const uint64_t number = field(tag, rest, fields.number_bits);
      const uint64_t token = (uint64_t{event} << fields.number_bits) | number;
      converted.extension[slot] = kExtPayload | kExtToken | (token << 32) | number;
    }
    if (record_type(word) == RecordType::Finalize && !fields.finalizes) {
      problems.add(ProblemKind::UnknownType, 1, lane);
      word = 0;
      continue;
    }
    word = joined((lane << 12) | (event << 2) | (tag & 3), high_half(word));
  }
  return converted;
}

}  // namespace detail

inline const char* dialect_name(Dialect dialect) { return detail::fields_of(dialect).name; }

inline std::optional<Dialect> dialect_named(std::string_view name) {
  for (size_t i = 0; i < std::size(detail::kDialects); ++i) {
    if (name == detail::kDialects[i].name) return static_cast<Dialect>(i);
  }
  return std::nullopt;
}

// A buffer of another dialect as wire format v1. What v1 has no place for (SM, numbers of events)
// is lost; decode with DecodeOptions::dialect keeps it.
inline std::vector<uint64_t> convert(const uint64_t* words, size_t n, Dialect from) {
  detail::ProblemTally ignored;
  return detail::convert(words, n, from, ignored).words;
}
inline std::vector<uint64_t> convert(const std::vector<uint64_t>& words, Dialect from) {
  return convert(words.data(), words.size(), from);
}

}  // namespace ws
