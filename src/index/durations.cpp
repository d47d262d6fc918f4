// SPDX-License-Identifier: Apache-2.0
#include "index/durations.hpp"

#include <algorithm>
#include <bit>

namespace gpufl::index {
namespace {

constexpr size_t kMaxExact = 4096;                // distinct durations of one name
constexpr size_t kMaxDistinct = size_t{1} << 20;  // of all names; beyond that each has fewer
constexpr size_t kMaxExactOfMany = 64;
constexpr unsigned kClassBits = 6;      // classes of a power of two: 64
constexpr size_t kMaxNames = 1U << 18;  // of an index that is read

}  // namespace

int64_t duration_class(int64_t duration_ns) {
  if (duration_ns < int64_t{2} << kClassBits) return duration_ns;
  const auto bits = static_cast<unsigned>(std::bit_width(static_cast<uint64_t>(duration_ns)));
  const unsigned shift = bits - 1 - kClassBits;
  return ((duration_ns >> shift) << shift) + (int64_t{1} << shift) / 2;
}

void Durations::add_to(Counter& counter, int64_t duration_ns) {
  ++counter.events;
  counter.total_ns += static_cast<uint64_t>(duration_ns);
  counter.min_ns = std::min(counter.min_ns, duration_ns);
  counter.max_ns = std::max(counter.max_ns, duration_ns);
  const size_t before = counter.counts.size();
  counter.counts.add(counter.is_exact ? duration_ns : duration_class(duration_ns));
  distinct_ += counter.counts.size() - before;
  const size_t most = distinct_ > kMaxDistinct ? kMaxExactOfMany : kMaxExact;
  if (counter.is_exact && counter.counts.size() > most) make_classes(counter);
}

void Durations::make_classes(Counter& counter) {
  CountTable classes;
  for (const auto& [duration, count] : counter.counts.sorted()) {
    classes.add(duration_class(duration), count);
  }
  counter.counts = std::move(classes);
  counter.is_exact = false;
}

DurationStats Durations::of(TrackKind kind, std::span<const uint32_t> names) const {
  Counter all;
  const Counter* only = nullptr;  // most names have one configuration, and need no copy
  for (const uint32_t name : names) {
    const auto found = names_.find((static_cast<uint64_t>(kind) << 32) | name);
    if (found == names_.end()) continue;
    if (names.size() == 1) {
      only = &found->second;
    } else {
      add_all(found->second, all);
    }
  }
  const Counter& counter = only != nullptr ? *only : all;
  DurationStats result;
  if (counter.events == 0) return result;
  result.stats = analysis::stats_of(std::span<const analysis::ValueCount>(counter.counts.sorted()));
  if (counter.is_exact) return result;
  result.relative_error = 1.0 / (2 << kClassBits);
  result.stats.total = static_cast<int64_t>(std::min<uint64_t>(counter.total_ns, INT64_MAX));
  result.stats.min = counter.min_ns;
  result.stats.max = counter.max_ns;
  result.stats.mean = static_cast<double>(counter.total_ns) / static_cast<double>(counter.events);
  return result;
}

bool Durations::is_full() const { return names_.size() >= kMaxNames; }

uint64_t Durations::events(TrackKind kind, uint32_t name) const {
  const auto found = names_.find((static_cast<uint64_t>(kind) << 32) | name);
  return found == names_.end() ? 0 : found->second.events;
}

std::vector<std::pair<TrackKind, uint32_t>> Durations::names() const {
  std::vector<std::pair<TrackKind, uint32_t>> all;
  all.reserve(names_.size());
  for (const auto& [key, counter] : names_) {
    all.emplace_back(static_cast<TrackKind>(key >> 32), static_cast<uint32_t>(key));
  }
  return all;
}

std::vector<uint32_t> Durations::names(TrackKind kind) const {
  std::vector<uint32_t> of_kind;
  for (const auto& [of, name] : names()) {
    if (of == kind) of_kind.push_back(name);
  }
  return of_kind;
}

void Durations::write(ByteWriter& out) const {
  out.put(names_.size());
  for (const auto& [key, counter] : names_) {
    out.put(key);
    out.put(counter.total_ns);
    out.put_signed(counter.min_ns);
    out.put_signed(counter.max_ns);
    out.put(counter.is_exact ? 1 : 0);
    out.put(counter.counts.size());
    int64_t before = 0;
    for (const auto& [duration, count] : counter.counts.sorted()) {
      out.put(static_cast<uint64_t>(duration - before));
      out.put(count);
      before = duration;
    }
  }
}

Durations Durations::read(ByteReader& in) {
  Durations durations;
  const uint64_t names = in.get_count(kMaxNames);
  for (uint64_t i = 0; i < names && !in.failed(); ++i) {
    const uint64_t key = in.get();
    if (key >> 32 >= kTrackKinds) in.fail();
    Counter& counter = durations.names_[key];
    counter.total_ns = in.get();
    counter.min_ns = in.get_signed();
    counter.max_ns = in.get_signed();
    counter.is_exact = in.get() != 0;
    const uint64_t count = in.get_count_of(2);
    int64_t duration = 0;
    for (uint64_t j = 0; j < count && !in.failed(); ++j) {
      duration = static_cast<int64_t>(static_cast<uint64_t>(duration) + in.get());
      const uint64_t events = in.get();
      if (duration < 0 || events == 0) in.fail();
      if (!in.failed()) counter.counts.add(duration, events);
      counter.events += events;
    }
  }
  return durations;
}

void Durations::add_all(const Counter& from, Counter& to) {
  to.events += from.events;
  to.total_ns += from.total_ns;
  to.min_ns = std::min(to.min_ns, from.min_ns);
  to.max_ns = std::max(to.max_ns, from.max_ns);
  if (to.is_exact && !from.is_exact) make_classes(to);
  for (const auto& [duration, count] : from.counts.sorted()) {
    to.counts.add(to.is_exact ? duration : duration_class(duration), count);
  }
}

void Durations::merge(const Durations& other) {
  for (const auto& [key, counter] : other.names_) {
    Counter& own = names_[key];
    add_all(counter, own);
    if (own.is_exact && own.counts.size() > kMaxExact) make_classes(own);
  }
}

}  // namespace gpufl::index
