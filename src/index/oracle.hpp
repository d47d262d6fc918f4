// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "format/columns.hpp"
#include "format/session_reader.hpp"
#include "index/track.hpp"

// What tests compare an index with: every event of a session, held and added up one by one. For
// tests only.
namespace gpufl::index::testing {

struct Span {
  int64_t start, end;
  auto operator<=>(const Span&) const = default;
};

// Every event of a session by its track, read as plainly as can be.
class Oracle : public format::Visitor {
 public:
  explicit Oracle(const std::filesystem::path& dir) {
    const auto reader = format::SessionReader::open(dir);
    EXPECT_TRUE(reader);
    reader->read(*this);
    for (const auto& [track, calls] : calls_) {
      events_[track].assign(calls.begin(), calls.end());
    }
  }

  // Scopes that have not ended, as far as they are known to reach.
  void add_open(int64_t until) {
    for (const auto& [id, scope] : open_) {
      events_[scope.first].push_back({scope.second, std::max(scope.second, until)});
    }
  }

  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    for (size_t row = 0; row < batch.rows(); ++row) {
      const auto at = [&](size_t column) { return batch.at(column, row, -1); };
      const auto add = [&](const TrackKey& key, int64_t start, int64_t duration) {
        events_[key].push_back({start, start + duration});
      };
      if (batch.kind() == format::Kind::Kernel) {
        namespace column = format::kernel_column;
        add({TrackKind::Kernels, at(column::kDevice), at(column::kContext), at(column::kStream)},
            at(column::kStart), at(column::kDuration));
        const auto config =
            base::Json::parse(dictionaries.get(format::Dict::Config, at(column::kConfig)));
        starts_[config ? (*config)["name"].as_integer() : 0].insert(at(column::kStart));
        add_call(TrackKind::KernelCalls, at(column::kThread), at(column::kApiStart),
                 at(column::kApiDuration));
      } else if (batch.kind() == format::Kind::Memcpy) {
        namespace column = format::memcpy_column;
        add({TrackKind::Copies, at(column::kDevice), at(column::kContext), at(column::kStream)},
            at(column::kStart), at(column::kDuration));
        add_call(TrackKind::CopyCalls, at(column::kThread), at(column::kApiStart),
                 at(column::kApiDuration));
      } else if (batch.kind() == format::Kind::Scope) {
        namespace column = format::scope_column;
        add({TrackKind::Scopes, at(column::kThread)}, at(column::kStart), at(column::kDuration));
        starts_[at(column::kName)].insert(at(column::kStart));
        ended_.insert(at(column::kId));
        open_.erase(at(column::kId));
      } else if (batch.kind() == format::Kind::ScopeOpen) {
        namespace column = format::scope_open_column;
        if (ended_.contains(at(column::kId))) continue;
        open_[at(column::kId)] = {{TrackKind::Scopes, at(column::kThread)}, at(column::kStart)};
      } else if (batch.kind() == format::Kind::Marker) {
        namespace column = format::marker_column;
        add({TrackKind::Markers, at(column::kThread), batch.at(column::kDomain, row, 0)},
            at(column::kStart), at(column::kDuration));
        starts_[at(column::kName)].insert(at(column::kStart));
      } else if (batch.kind() == format::Kind::Sync) {
        namespace column = format::sync_column;
        add({TrackKind::Waits, at(column::kThread)}, at(column::kStart), at(column::kDuration));
      }
    }
  }

  const std::map<TrackKey, std::vector<Span>>& events() const { return events_; }
  std::vector<TrackKey> tracks() const {
    std::vector<TrackKey> keys;
    for (const auto& [key, spans] : events_) keys.push_back(key);
    return keys;
  }
  // Events that begin in [from, to), and nanoseconds of it that they take.
  std::pair<uint64_t, uint64_t> sums(const TrackKey& key, int64_t from, int64_t to) const {
    std::pair<uint64_t, uint64_t> sums;
    for (const Span& span : events_.at(key)) {
      if (span.start >= from && span.start < to) ++sums.first;
      const int64_t busy = std::min(span.end, to) - std::max(span.start, from);
      if (busy > 0) sums.second += static_cast<uint64_t>(busy);
    }
    return sums;
  }
  // Events that began before and reach into it.
  uint64_t reaching(const TrackKey& key, int64_t from, int64_t to) const {
    const auto& spans = events_.at(key);
    return static_cast<uint64_t>(std::count_if(spans.begin(), spans.end(), [&](const Span& span) {
      return from < to && span.start < from && span.end > from;
    }));
  }
  // When kernels, scopes and markers of a name begin; without those that are open.
  const std::multiset<int64_t>& starts(int64_t name) { return starts_[name]; }
  // What reaches into it.
  std::multiset<Span> within(const TrackKey& key, int64_t from, int64_t to) const {
    std::multiset<Span> found;
    for (const Span& span : events_.at(key)) {
      const int64_t reach = span.end > span.start ? span.end : span.start + 1;
      if (span.start < to && reach > from) found.insert(span);
    }
    return found;
  }

 private:
  // Rows of one call are one event.
  void add_call(TrackKind kind, int64_t thread, int64_t start, int64_t duration) {
    if (start >= 0 && duration >= 0) calls_[{kind, thread}].insert({start, start + duration});
  }

  std::map<TrackKey, std::vector<Span>> events_;
  std::map<TrackKey, std::set<Span>> calls_;
  std::map<int64_t, std::multiset<int64_t>> starts_;      // by name
  std::map<int64_t, std::pair<TrackKey, int64_t>> open_;  // by id
  std::set<int64_t> ended_;
};

}  // namespace gpufl::index::testing
