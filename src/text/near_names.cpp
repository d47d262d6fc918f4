// SPDX-License-Identifier: Apache-2.0
#include "text/near_names.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace gpufl::text {

namespace {

constexpr size_t kCompared = 64;  // longer ones are told apart by their beginnings

std::string plain(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kCompared)) {
    if (c != '*' && c != '?') {
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return out;
}

}  // namespace

size_t edits_between(std::string_view a, std::string_view b) {
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

std::string_view nearest(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string_view best;
  if (word.empty() || word.size() > kCompared) return best;
  const std::string wanted = plain(word);
  size_t best_edits = std::max<size_t>(1, word.size() / 3) + 1;
  for (const std::string_view candidate : candidates) {
    const size_t distance = edits_between(wanted, plain(candidate));
    if (distance < best_edits) {
      best = candidate;
      best_edits = distance;
    }
  }
  return best;
}

std::string not_one_of(std::string_view word, const std::vector<std::string_view>& candidates) {
  std::string text = "'" + std::string(word) + "' is not one of ";
  for (size_t i = 0; i < candidates.size(); ++i) {
    text.append(i == 0 ? "" : ", ").append(candidates[i]);
  }
  const std::string_view meant = nearest(word, candidates);
  if (!meant.empty()) text.append("; did you mean '").append(meant).append("'?");
  return text;
}

std::string nearest_listed(std::string_view pattern, std::vector<std::string> names, size_t most) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::string wanted = plain(pattern);
  std::vector<std::pair<size_t, std::string>> by_distance;
  for (std::string& name : names) {
    const std::string its = plain(name);
    const size_t distance = its.find(wanted) != std::string::npos ? 0 : edits_between(wanted, its);
    by_distance.emplace_back(distance, std::move(name));
  }
  std::sort(by_distance.begin(), by_distance.end());
  std::string text;
  for (size_t i = 0; i < std::min(most, by_distance.size()); ++i) {
    text += (i == 0 ? "" : ", ") + by_distance[i].second;
  }
  if (by_distance.size() > most) {
    text += " and " + std::to_string(by_distance.size() - most) + " more";
  }
  return text;
}

}  // namespace gpufl::text
