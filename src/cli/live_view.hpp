// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "capture/session.hpp"

// The monitor's screen as lines of text, and its one-line form. Pure: what is known goes in, text
// comes out, never wider or longer than the screen; terminal.hpp shows it. Any thread.
namespace gpufl::cli {

struct LiveViewState {
  std::string name;  // the session's
  std::string session_dir;
  std::string metrics_url;  // empty: not served
  std::string notice;       // why there are no GPU metrics; empty when there are
  int64_t elapsed_ns = 0;
  int64_t interval_ns = 0;
  capture::MetricBoard board;
};

// By the log, for whatever reason.
uint64_t rows_dropped(const capture::MetricBoard& board);

struct ScreenSize {
  size_t columns = 80;
  size_t rows = 24;
};

std::vector<std::string> live_view(const LiveViewState& state, ScreenSize size, bool has_color);

// For logs and pipes: "12s gpu0 54% 12.3/141.0 GiB 61C 312W | host cpu 34% ram 12.3 GiB".
std::string live_line(const LiveViewState& state);

}  // namespace gpufl::cli
