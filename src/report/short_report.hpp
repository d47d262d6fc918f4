// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <span>

#include "report/page.hpp"
#include "report/session_report.hpp"

// What `gpufl report` prints unless it is asked for everything: on one screen what to do first, and
// the figures that it rests on. Lists are as long as was asked for, else as kMaxShortLines lines of
// text allow. Any thread.
namespace gpufl::report {

inline constexpr size_t kMaxShortLines = 45;
// Between the first line and the findings, so that the first of these is on the tenth at the
// latest.
inline constexpr size_t kMaxHeadLines = 6;

// How much of everything a short report shows.
struct ShortSize {
  size_t rows = 1;
  size_t findings = 1;
  size_t paragraph_lines = 0;  // 0: any number
  size_t head_lines = 0;       // below its first line; 0: any number
  size_t parts = 6;            // the most needed ones; what has no place among them stays
};
// How many lines what `write_head` writes may have below the first one, so that a HIGH finding is
// not too late; 0: any number.
size_t head_lines(const TextOptions& options, std::span<const analysis::Insight> insights,
                  const std::function<void(Page&)>& write_head);
// The most with which what `write` writes has at most `lines` lines of text; else the least.
ShortSize size_that_fits(const TextOptions& options, size_t lines,
                         const std::function<void(Page&, const ShortSize&)>& write);

void write_short_report(Page& page, const SessionReport& report, const TextOptions& options);

}  // namespace gpufl::report
