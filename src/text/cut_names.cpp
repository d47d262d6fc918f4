// SPDX-License-Identifier: Apache-2.0
#include "text/cut_names.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "text/display.hpp"

namespace gpufl::text {
namespace {

constexpr std::string_view kEllipsis = "...";

bool is_letter_or_digit(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

// Where all of them begin to differ, or a little before: at the beginning of that word.
size_t first_difference(const std::set<std::string_view>& names) {
  // Between the first and the last of sorted ones lie all others.
  const std::string_view first = *names.begin();
  const std::string_view last = *names.rbegin();
  const auto [end, ignored] = std::mismatch(first.begin(), first.end(), last.begin(), last.end());
  const auto differs = static_cast<size_t>(end - first.begin());
  constexpr size_t kMaxWord = 12;
  size_t at = differs;
  while (at > 0 && differs - at < kMaxWord && is_letter_or_digit(first[at - 1])) --at;
  if (at > 0 && is_letter_or_digit(first[at - 1])) at = differs;  // no word but a long name
  const auto is_inside = [&](size_t byte) {                       // of a character of several bytes
    return byte < first.size() && (static_cast<unsigned char>(first[byte]) & 0xC0) == 0x80;
  };
  while (at > 0 && is_inside(at)) --at;
  return at;
}

// An ellipsis of its own at a cut would look like two.
std::string joined(std::string_view head, std::string_view tail) {
  head = head.substr(0, head.find_last_not_of('.') + 1);
  tail.remove_prefix(std::min(tail.find_first_not_of('.'), tail.size()));
  return std::string(head).append(kEllipsis).append(tail);
}

std::string_view head_of(std::string_view text, size_t width) {
  return text.substr(0, prefix_bytes(text, width));
}

// The beginning, and what begins where the names differ. `rest`: columns of the longest such rest.
std::string keep_difference(std::string_view name, size_t at, size_t rest, size_t width) {
  const size_t kept = width - kEllipsis.size();
  const size_t head = std::max(kept / 3, kept - std::min(kept, rest));
  if (display_width(name.substr(0, at)) <= head + kEllipsis.size()) return fit(name, width);
  return joined(head_of(name, head), fit(name.substr(at), kept - head));
}

// The beginning, some of what begins where the names differ, and the end.
std::string keep_difference_and_end(std::string_view name, size_t at, size_t width) {
  const size_t kept = width - kEllipsis.size();
  const size_t head = kept / 4;
  if (display_width(name.substr(0, at)) <= head + kEllipsis.size()) return fit_ends(name, width);
  return joined(head_of(name, head), fit_ends(name.substr(at), kept - head));
}

using Cuts = std::map<std::string_view, std::string>;  // by whole name

size_t distinct_of(const Cuts& cuts) {
  std::set<std::string_view> distinct;
  for (const auto& [name, cut] : cuts) distinct.insert(cut);
  return distinct.size();
}

// Of names that begin alike.
Cuts cut_alike(const std::set<std::string_view>& names, size_t width) {
  constexpr size_t kTooNarrow = 16;  // for three parts
  Cuts ends, difference, both;
  const size_t at = first_difference(names);
  size_t rest = 0;
  for (const std::string_view name : names) rest = std::max(rest, display_width(name.substr(at)));
  for (const std::string_view name : names) ends[name] = fit_ends(name, width);
  if (width < kTooNarrow) return ends;
  for (const std::string_view name : names) {
    difference[name] = keep_difference(name, at, rest, width);
    both[name] = keep_difference_and_end(name, at, width);
  }
  Cuts* best = &difference;
  for (Cuts* other : {&ends, &both}) {
    if (distinct_of(*other) > distinct_of(*best)) best = other;
  }
  return std::move(*best);
}

}  // namespace

std::string fit_ends(std::string_view text, size_t width) {
  const size_t all = display_width(text);
  if (all <= width || width <= kEllipsis.size() + 1) return fit(text, width);
  const size_t kept = width - kEllipsis.size();
  const size_t tail = kept / 2;
  // A wide character may lie across the cut: the tail is then a column shorter.
  size_t from = prefix_bytes(text, all - tail);
  if (display_width(text.substr(from)) > tail) from += prefix_bytes(text.substr(from), 2);
  return joined(head_of(text, kept - tail), text.substr(from));
}

std::vector<std::string> cut_names(std::span<const std::string> names, size_t width) {
  std::map<std::string, std::set<std::string_view>> by_beginning;
  for (const std::string& name : names) by_beginning[fit(name, width)].insert(name);
  Cuts cuts;
  for (const auto& [beginning, alike] : by_beginning) {
    if (alike.size() == 1) {
      cuts[*alike.begin()] = beginning;
    } else {
      cuts.merge(cut_alike(alike, width));
    }
  }
  std::vector<std::string> cut;
  cut.reserve(names.size());
  for (const std::string& name : names) cut.push_back(cuts[name]);
  return cut;
}

}  // namespace gpufl::text
