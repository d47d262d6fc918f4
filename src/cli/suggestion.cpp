// SPDX-License-Identifier: Apache-2.0
#include "cli/suggestion.hpp"

#include <algorithm>
#include <cstddef>

namespace gpufl::cli {
namespace {

size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1), last(b.size() + 1), now(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        now[j] = std::min(now[j], before[j - 2] + 1);
      }
    }
    before.swap(last);
    last.swap(now);
  }
  return last[b.size()];
}

}  // namespace

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  constexpr size_t kLongestWord = 64;
  std::string_view best;
  if (word.empty() || word.size() > kLongestWord) return best;
  size_t best_edits = std::max<size_t>(1, word.size() / 3) + 1;
  for (std::string_view candidate : candidates) {
    const size_t distance = edits(word, candidate);
    if (distance < best_edits) {
      best = candidate;
      best_edits = distance;
    }
  }
  return best;
}

}  // namespace gpufl::cli
