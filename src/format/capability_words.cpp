// SPDX-License-Identifier: Apache-2.0
#include "format/capability_words.hpp"

#include <algorithm>
#include <string_view>

namespace gpufl::format {

std::string feature_words(const Capability& note) {
  constexpr std::string_view kSwitch = "enable_";
  const std::string& name = note.feature;
  std::string words = name.starts_with(kSwitch) ? name.substr(kSwitch.size()) : name;
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string outcome_words(const Capability& note) {
  const bool is_plain = note.asked == "on" || note.asked == "auto";
  const std::string what = is_plain ? "asked for" : "asked for " + note.asked;
  if (note.got == "off" || note.got == "none" || note.got.empty()) return what + ", not available";
  return note.got == "in part" ? what + ", available only in part" : what + ", got " + note.got;
}

}  // namespace gpufl::format
