// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "analysis/math/intervals.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/session_data.hpp"
#include "analysis/session/work_rows.hpp"

// Times in which a GPU had nothing to do between two pieces of work, whoever asked for them. What
// comes before the first and after the last is no gap: a program's start and end are not a pause of
// its work. Nor is what touches time that was not recorded: nobody knows what the GPU did then.
// Where the options choose a scope, its gaps are those that work of it ended.
namespace gpufl::analysis {

struct Gap {
  int64_t device = -1;
  Interval span;
  WorkRow before;  // the one that ended last
  WorkRow after;   // the one that ended it
};

// The gaps of one device in order of time, in nine bytes each: where one begins and ends, the rows
// before and after it tell. Borrows the tables.
class GapList {
 public:
  GapList() = default;
  // `window`: that spans of rows are cut to.
  GapList(const Tables& tables, int64_t device, Interval window);

  void reserve(size_t gaps);
  void push_back(const Gap& gap);
  size_t size() const { return after_.size(); }
  bool empty() const { return after_.empty(); }
  Gap operator[](size_t i) const {
    const WorkRow before{static_cast<WorkKind>(kinds_[i] & kKindMask), before_[i]};
    const WorkRow after{static_cast<WorkKind>(kinds_[i] >> kKindBits), after_[i]};
    const Interval span{std::min(table_of(before).end(before.row), window_.end),
                        std::max(table_of(after).start[after.row], window_.start)};
    return {device_, span, before, after};
  }
  // How many of the first ones `is_before` is true of: of all up to some place, and none after it.
  template <class IsBefore>
  size_t count_first(IsBefore is_before) const {
    size_t from = 0, to = size();
    while (from < to) {
      const size_t middle = from + (to - from) / 2;
      if (is_before((*this)[middle])) {
        from = middle + 1;
      } else {
        to = middle;
      }
    }
    return from;
  }

  class Iterator {
   public:
    Iterator(const GapList& list, size_t i) : list_(&list), i_(i) {}
    Gap operator*() const { return (*list_)[i_]; }
    Iterator& operator++() {
      ++i_;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const GapList* list_;
    size_t i_;
  };
  Iterator begin() const { return {*this, 0}; }
  Iterator end() const { return {*this, size()}; }

 private:
  static constexpr unsigned kKindBits = 2, kKindMask = 3;
  const Work& table_of(WorkRow row) const { return *tables_[static_cast<size_t>(row.kind)]; }

  std::array<const Work*, 4> tables_{};
  int64_t device_ = -1;
  Interval window_;
  std::vector<uint32_t> before_, after_;
  std::vector<uint8_t> kinds_;
};

struct GapClass {
  int64_t from_ns = 0, to_ns = 0;  // [from, to); the last one has no end: INT64_MAX
  uint64_t count = 0;
  int64_t total_ns = 0;
};

struct IdleTime {
  uint64_t count = 0;        // gaps of at least options.minimum_gap_ns
  int64_t total_ns = 0;      // of those
  int64_t short_ns = 0;      // of the shorter ones
  std::vector<Gap> longest;  // options.top of them, longest first
  std::array<GapClass, 8>
      classes{};  // by length: up to 1 us, 10 us, 100 us, 1, 10, 100 ms, 1 s, more
};

// All gaps of at least options.minimum_gap_ns, in order of device and time.
std::vector<Gap> idle_gaps(const SessionData& session, const AnalysisOptions& options);
// The same, by device, in little memory: for those who ask for every gap of many rows.
std::map<int64_t, GapList> idle_gaps_by_device(const SessionData& session,
                                               const AnalysisOptions& options);

// The union of one device's work, which comes in order of its start.
class CoveredTime {
 public:
  // The gap before it, where there is one; its device is the caller's to fill in. An empty span
  // covers nothing.
  std::optional<Gap> add(Interval span, WorkRow row) {
    std::optional<Gap> gap;
    if (span.end <= span.start) return gap;
    if (!has_any_) {
      has_any_ = true;
      first_ns_ = end_ns_ = span.start;
    } else if (span.start > end_ns_) {
      gap = Gap{-1, {end_ns_, span.start}, last_, row};
    }
    if (span.end <= end_ns_) return gap;
    total_ns_ += span.end - std::max(span.start, end_ns_);
    end_ns_ = span.end;
    last_ = row;
    return gap;
  }
  int64_t total_ns() const { return total_ns_; }
  int64_t first_ns() const { return first_ns_; }
  int64_t end_ns() const { return end_ns_; }  // of what was added so far

 private:
  int64_t total_ns_ = 0, first_ns_ = 0, end_ns_ = 0;
  WorkRow last_;
  bool has_any_ = false;
};

// The gaps of one device, whose whole work is added in order of its start.
class GapFinder {
 public:
  // `unrecorded` (see spans_without_rows()) must outlive it.
  explicit GapFinder(const Intervals& unrecorded) : unrecorded_(&unrecorded) {}
  // As CoveredTime::add().
  std::optional<Gap> add(Interval span, WorkRow row) {
    std::optional<Gap> gap = covered_.add(span, row);
    if (!gap) return gap;
    while (next_ < unrecorded_->size() && (*unrecorded_)[next_].end <= gap->span.start) ++next_;
    if (next_ < unrecorded_->size() && (*unrecorded_)[next_].start < gap->span.end) gap.reset();
    return gap;
  }

 private:
  CoveredTime covered_;
  const Intervals* unrecorded_;
  size_t next_ = 0;  // the first that no gap so far begins after
};

// Gathers the gaps of one device as they come.
class GapCollector {
 public:
  explicit GapCollector(const AnalysisOptions& options);
  void add(const Gap& gap);
  IdleTime finish();

 private:
  size_t top_;
  int64_t minimum_ns_;
  IdleTime idle_;  // `longest` is a heap: the shortest in front
};

}  // namespace gpufl::analysis
