// SPDX-License-Identifier: Apache-2.0
#include "cli/suggestion.hpp"

#include <algorithm>
#include <cstddef>

#include "text/near_names.hpp"

namespace gpufl::cli {

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr size_t kLongestWord = 64;
  std::string_view best;
  if (word.empty() || word.size() > kLongestWord) return best;
  size_t best_edits = std::max<size_t>(1, word.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    const size_t distance = text::edits_between(word, candidate);
    if (distance < best_edits) {
      best = candidate;
      best_edits = distance;
    }
  }
  return best;
}

}  // namespace gpufl::cli
