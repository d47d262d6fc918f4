// SPDX-License-Identifier: Apache-2.0
#include "cli/live_view.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "backend/metric_table.hpp"
#include "text/display.hpp"

namespace gpufl::cli {
namespace {

namespace metric = backend::metric;

LiveViewState example(int gpus) {
  LiveViewState state;
  state.name = "night shift";
  state.session_dir = "/var/log/gpufl/20261115T034512Z-1f2e3d4c5b6a7988";
  state.elapsed_ns = int64_t{3725} * 1'000'000'000;
  state.interval_ns = 500'000'000;
  auto& board = state.board;
  board.samples_taken = 7450;
  for (int i = 0; i < gpus; ++i) {
    backend::DeviceFacts facts;
    facts.device = i;
    facts.name = "Accelerator\x1b[2J";
    board.devices.push_back(facts);
    board.device_values.push_back({i, 0, metric::kGpuUtil, 50});
    board.device_values.push_back({i, 0, metric::kMemoryUsed, int64_t{20} << 30});
    board.device_values.push_back({i, 0, metric::kMemoryTotal, int64_t{80} << 30});
    board.device_values.push_back({i, 0, metric::kTemperature, 61});
    board.device_values.push_back({i, 0, metric::kPower, 312'500});
    board.device_values.push_back({i, 0, metric::kClockLimits, 0x21});
  }
  board.host_values = {{0, 0, metric::kCpuUtil, 340}, {0, 0, metric::kLoad1, 1500}};
  board.processes = {{0, 4242, "train\x07", int64_t{5} << 30}, {0, 43, "other", std::nullopt}};
  board.recent_events = {{0, "xid", 48, "double-bit error"}};
  return state;
}

std::string text_of(const LiveViewState& state, ScreenSize size, bool has_color = false) {
  const auto lines = live_view(state, size, has_color);
  return std::accumulate(
      lines.begin(), lines.end(), std::string(),
      [](const std::string& all, const std::string& l) { return all + l + "\n"; });
}

bool shows(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

TEST(LiveView, ShowsWhatIsKnown) {
  const std::string text = text_of(example(1), {100, 40});
  EXPECT_TRUE(shows(text, "night shift  01:02:05  every 500ms  7450 samples")) << text;
  EXPECT_TRUE(shows(text, "/var/log/gpufl/20261115T034512Z-1f2e3d4c5b6a7988"));
  EXPECT_TRUE(shows(text, "gpu [||||||||||||            ]  50%  61 C  312.5 W of -")) << text;
  EXPECT_TRUE(shows(text, "mem [||||||                  ]  25%  20.00 GiB of 80.00 GiB"));
  EXPECT_TRUE(shows(text, "slowed down by sw_thermal\n")) << "idle is no slowdown";
  EXPECT_TRUE(shows(text, "cpu [||||||||                ]  34%  load 1.50 - -"));
  EXPECT_TRUE(shows(text, "ram [        unknown         ]")) << "unknown is not zero";
  EXPECT_TRUE(shows(text, "GPU 0  xid  double-bit error"));
  EXPECT_TRUE(shows(text, "4242"));
  EXPECT_TRUE(shows(text, "q or Ctrl-C stops"));
  EXPECT_FALSE(shows(text, "missed"));
}

TEST(LiveView, SaysWhatIsMissing) {
  LiveViewState state = example(0);
  state.notice = "health: no driver";
  state.board.samples_missed = 3;
  const std::string text = text_of(state, {100, 40});
  EXPECT_TRUE(shows(text, "health: no driver"));
  EXPECT_TRUE(shows(text, "3 missed"));
}

TEST(LiveView, SaysThatTheLogIsPaused) {
  LiveViewState state = example(1);
  EXPECT_FALSE(shows(text_of(state, {100, 40}), "dropped"));
  state.board.log.dropped = {{"disk_floor", 40}, {"io_error", 2}};
  EXPECT_TRUE(shows(text_of(state, {100, 40}), "\n42 rows dropped\n"));
  state.board.log.paused = "disk_floor";
  EXPECT_TRUE(shows(text_of(state, {100, 40}), "log paused (disk_floor), 42 rows dropped"));
  EXPECT_TRUE(shows(live_line(state), "  log paused (disk_floor), 42 rows dropped"));
}

TEST(LiveView, NeverLeavesTheScreen) {
  for (size_t columns : {1u, 2u, 7u, 20u, 39u, 80u, 200u}) {
    for (size_t rows : {1u, 2u, 3u, 5u, 10u, 24u, 60u}) {
      for (int gpus : {0, 1, 8}) {
        const auto lines = live_view(example(gpus), {columns, rows}, false);
        EXPECT_LE(lines.size(), rows) << columns << "x" << rows;
        for (const auto& line : lines) EXPECT_LE(text::display_width(line), columns);
        EXPECT_EQ(lines.back(), text::fit("q or Ctrl-C stops", columns));
      }
    }
  }
  EXPECT_TRUE(live_view(example(1), {0, 0}, false).empty());
}

TEST(LiveView, CountsTheGpusThatDoNotFit) {
  EXPECT_TRUE(shows(text_of(example(8), {100, 24}), "... and 4 more"))
      << text_of(example(8), {100, 24});
  EXPECT_FALSE(shows(text_of(example(8), {100, 60}), "more"));
}

TEST(LiveView, NamesCannotSteerTheTerminal) {
  const std::string plain = text_of(example(1), {100, 40});
  EXPECT_FALSE(shows(plain, "\x1b")) << "no colour, no escape codes";
  EXPECT_FALSE(shows(plain, "\x07"));
  const std::string colored = text_of(example(1), {100, 40}, true);
  EXPECT_TRUE(shows(colored, "\x1b[31m"));
  EXPECT_FALSE(shows(colored, "\x1b[2J"));
}

TEST(LiveLine, IsOneLine) {
  EXPECT_EQ(live_line(example(1)),
            "01:02:05  gpu0 50% mem 20.00 GiB 61 C 312.5 W  host cpu 34.0% ram -");
}

}  // namespace
}  // namespace gpufl::cli
