// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// What follows from kinds.def and needs nothing else: the kinds, the column numbers of those that
// come in batches (kernel_column::kStart, ...), and the numbers that stand for words in some of
// them. Included through format/schema.hpp.
namespace gpufl::format {

enum class Kind : uint8_t {
#define GPUFL_OBJECT(Id, name, channel) Id,
#define GPUFL_KIND(Id, name, ...) Id,
#include "format/kinds.def"
};

inline constexpr size_t kKindCount = 0
#define GPUFL_OBJECT(Id, name, channel) +1
#define GPUFL_KIND(Id, name, ...) +1
#include "format/kinds.def"
    ;

// namespace kernel_column { enum : size_t { kStart, kDuration, ..., kCount }; }, and so on.
#define GPUFL_KIND(Id, name, ...) \
  namespace name##_column {       \
    enum : size_t {
#define GPUFL_COLUMN(Id, ...) k##Id,
#define GPUFL_END_KIND(Id) \
  kCount                   \
  }                        \
  ;                        \
  }
#include "format/kinds.def"

#define GPUFL_WORDS(List) enum class List : int64_t {
#define GPUFL_WORD(Id, number, ...) Id = number,
#define GPUFL_END_WORDS(List) \
  }                           \
  ;
#include "format/kinds.def"

}  // namespace gpufl::format
