// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <unordered_map>

#include "analysis/figures/iterations.hpp"

namespace gpufl::analysis {

namespace {

// Hashes of parts of a sequence. Those of every 16th beginning are kept, so that one of any part
// takes a few steps whatever its length, and memory a fraction of the sequence's. One thread.
class PartHashes {
 public:
  explicit PartHashes(const std::vector<uint32_t>& sequence) : sequence_(sequence) {
    hashes_.reserve(sequence.size() / kStride + 1);
    hashes_.push_back(0);
    for (size_t end = kStride; end <= sequence.size(); end += kStride) {
      hashes_.push_back(extend(hashes_.back(), end - kStride, end));
    }
  }
  uint64_t of(size_t begin, size_t end) const {
    return up_to(end) - up_to(begin) * power(end - begin);
  }

 private:
  static constexpr uint64_t kBase = 0x9e3779b97f4a7c15u, kSpread = 0xbf58476d1ce4e5b9u;
  static constexpr size_t kStride = 16;

  uint64_t extend(uint64_t hash, size_t begin, size_t end) const {
    for (size_t i = begin; i < end; ++i) {
      hash = hash * kBase + (uint64_t{sequence_[i]} + 1) * kSpread;
    }
    return hash;
  }
  uint64_t up_to(size_t end) const {
    return extend(hashes_[end / kStride], end / kStride * kStride, end);
  }
  // kBase to the power of `length`. Parts that are asked for are mostly as long as the one before.
  uint64_t power(size_t length) const {
    if (length == last_length_) return last_power_;
    last_length_ = length;
    last_power_ = 1;
    for (uint64_t square = kBase; length != 0; length /= 2, square *= square) {
      if (length % 2 == 1) last_power_ *= square;
    }
    return last_power_;
  }

  const std::vector<uint32_t>& sequence_;
  std::vector<uint64_t> hashes_;
  mutable size_t last_length_ = 0;
  mutable uint64_t last_power_ = 1;
};

using Places = std::vector<uint32_t>;

// How well the sequence is cut at these places: how much of it is made of the same part.
struct Cut {
  Places places;
  size_t length = 0;     // of the part that comes most often
  uint64_t hash = 0;     // and its hash
  size_t explained = 0;  // symbols in such parts
};

Cut rate(Places places, const PartHashes& hashes, size_t size) {
  Cut cut;
  std::unordered_map<uint64_t, std::pair<size_t, size_t>> parts;  // by hash: length, count
  for (size_t i = 0; i + 1 < places.size(); ++i) {
    auto& [length, count] = parts[hashes.of(places[i], places[i + 1])];
    length = places[i + 1] - places[i];
    ++count;
  }
  for (const auto& [hash, part] : parts) {
    const auto [length, count] = part;
    // Where a step has the place twice, half of the parts are what lies between: no step either.
    const bool is_usual = count * 3 >= (places.size() - 1) * 2;
    if (count < 2 || !is_usual || length * count <= cut.explained) continue;
    cut.length = length;
    cut.hash = hash;
    cut.explained = length * count;
  }
  // The last part has no end to be seen by: it counts where it is as the others.
  if (cut.length != 0 && places.back() + cut.length <= size &&
      hashes.of(places.back(), places.back() + cut.length) == cut.hash) {
    cut.explained += cut.length;
  }
  cut.places = std::move(places);
  return cut;
}

// For each symbol, whether it comes often enough to be part of a run that does. Symbols are ids of
// names: small numbers.
std::vector<bool> frequent_symbols(const std::vector<uint32_t>& sequence) {
  if (sequence.empty()) return {};
  std::vector<uint32_t> counts(size_t{*std::max_element(sequence.begin(), sequence.end())} + 1);
  for (const uint32_t symbol : sequence) ++counts[symbol];
  std::vector<bool> is_frequent(counts.size());
  for (size_t i = 0; i < counts.size(); ++i) is_frequent[i] = counts[i] >= kMinIterations;
  return is_frequent;
}

// Where each run of `length` symbols stands, for runs that come at least kMinIterations times; one
// for each number of times, the one that reaches furthest: runs that come equally often cut the
// sequence into the same parts.
std::vector<Places> anchors(const std::vector<uint32_t>& sequence, const PartHashes& hashes,
                            const std::vector<bool>& is_frequent, size_t length) {
  if (sequence.size() < length) return {};
  struct Seen {
    size_t count = 0, first = 0, last = 0;
  };
  std::unordered_map<uint64_t, Seen> seen;
  const auto hash_at = [&](size_t i) {
    return length == 1 ? uint64_t{sequence[i]} : hashes.of(i, i + length);
  };
  const size_t end = sequence.size() - length + 1;
  for (size_t i = 0; i < end; ++i) {
    if (!is_frequent[sequence[i]]) continue;  // most of a session of many kernels, once each
    Seen& entry = seen[hash_at(i)];
    if (entry.count++ == 0) entry.first = i;
    entry.last = i;
  }
  std::map<size_t, std::pair<uint64_t, Seen>> by_count;
  for (const auto& [hash, entry] : seen) {
    if (entry.count < kMinIterations) continue;
    const auto [place, is_new] = by_count.try_emplace(entry.count, hash, entry);
    Seen& best = place->second.second;
    const size_t reach = entry.last - entry.first, best_reach = best.last - best.first;
    if (is_new || reach < best_reach || (reach == best_reach && entry.first >= best.first))
      continue;
    place->second = {hash, entry};
  }
  // The rarest: those that come more often than there can be steps are parts of steps.
  constexpr size_t kMaxCandidates = 128;
  std::unordered_map<uint64_t, size_t> candidates;
  std::vector<Places> out;
  for (const auto& [count, candidate] : by_count) {
    if (out.size() == kMaxCandidates) break;
    candidates.emplace(candidate.first, out.size());
    out.emplace_back().reserve(count);
  }
  if (out.empty()) return out;
  for (size_t i = 0; i < end; ++i) {
    if (!is_frequent[sequence[i]]) continue;
    const auto found = candidates.find(hash_at(i));
    if (found != candidates.end()) out[found->second].push_back(static_cast<uint32_t>(i));
  }
  return out;
}

}  // namespace

std::vector<Repeat> find_repeats(const std::vector<uint32_t>& sequence, size_t shortest) {
  constexpr size_t kMaxLong = size_t{1} << 20;  // above it, single symbols must do
  constexpr double kMinExplained = 0.5;
  constexpr double kNearlyAsMuch = 0.9;
  const PartHashes hashes(sequence);
  const std::vector<bool> is_frequent = frequent_symbols(sequence);
  std::vector<Cut> cuts;
  for (const size_t length : {1, 4, 16}) {
    if (length > 1 && sequence.size() > kMaxLong) break;
    for (Places& places : anchors(sequence, hashes, is_frequent, length)) {
      Cut cut = rate(std::move(places), hashes, sequence.size());
      if (cut.explained != 0 && cut.length >= shortest) cuts.push_back(std::move(cut));
    }
  }
  size_t most = 0;
  for (const Cut& cut : cuts) most = std::max(most, cut.explained);
  if (static_cast<double>(most) < kMinExplained * static_cast<double>(sequence.size())) return {};
  const Cut* best = nullptr;
  for (const Cut& cut : cuts) {
    if (static_cast<double>(cut.explained) < kNearlyAsMuch * static_cast<double>(most)) continue;
    if (best == nullptr || cut.length < best->length) best = &cut;
  }
  if (best == nullptr) return {};

  std::vector<Repeat> repeats;
  const Places& places = best->places;
  for (size_t i = 0; i < places.size(); ++i) {
    const bool is_last = i + 1 == places.size();
    const size_t end = is_last ? places[i] + best->length : size_t{places[i + 1]};
    if (end > sequence.size()) break;
    const size_t length = end - places[i];
    // A step that does half as much again is one still; the pause between two phases is not.
    const bool is_similar = length * 2 >= best->length && length * 2 <= best->length * 3;
    if (is_similar && (!is_last || hashes.of(places[i], end) == best->hash)) {
      repeats.push_back({places[i], end});
    }
  }
  return repeats.size() < kMinIterations ? std::vector<Repeat>() : repeats;
}

}  // namespace gpufl::analysis
