// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

// The words that numbers of some columns stand for: the lists of kinds.def, kScopeEndingWords and
// so on. Constants; any thread.
namespace gpufl::format {

struct Word {
  int64_t number;
  std::string_view word;     // empty: nothing is said of that number
  std::string_view meaning;  // for people; empty: the word says it
};

#define GPUFL_WORDS(List) inline constexpr Word k##List##Words[] = {
#define GPUFL_WORD(Id, number, word, meaning) Word{number, word, meaning},
#define GPUFL_END_WORDS(List) \
  }                           \
  ;
#include "format/kinds.def"

// What the number stands for; empty: nothing that is known.
constexpr std::string_view word_of(std::span<const Word> words, int64_t number) {
  for (const Word& word : words) {
    if (word.number == number) return word.word;
  }
  return {};
}

}  // namespace gpufl::format
