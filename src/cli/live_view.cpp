// SPDX-License-Identifier: Apache-2.0
#include "cli/live_view.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "analysis/figures/clock_limits.hpp"
#include "backend/metric_table.hpp"
#include "text/display.hpp"
#include "text/quantity.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

namespace metric = backend::metric;

constexpr size_t kBarColumns = 24;
constexpr size_t kMaxProcesses = 12;
constexpr size_t kMaxEvents = 5;

enum class Color { None, Dim, Bold, Green, Yellow, Red };

std::string_view code(Color color) {
  switch (color) {
    case Color::None: return "";
    case Color::Dim: return "\x1b[2m";
    case Color::Bold: return "\x1b[1m";
    case Color::Green: return "\x1b[32m";
    case Color::Yellow: return "\x1b[33m";
    case Color::Red: return "\x1b[31m";
  }
  return "";
}

// One line of the screen: what no longer fits its columns is cut, escape codes take none.
class Line {
 public:
  Line(size_t columns, bool has_color) : left_(columns), has_color_(has_color) {}

  Line& add(std::string_view text, Color color = Color::None) {
    const std::string shown = text::fit(text::make_harmless(text), left_);
    left_ -= std::min(left_, text::display_width(shown));
    const bool colored = has_color_ && color != Color::None && !shown.empty();
    text_ += colored ? fmt::format("{}{}\x1b[0m", code(color), shown) : shown;
    return *this;
  }
  std::string take() { return std::move(text_); }

 private:
  size_t left_;
  bool has_color_;
  std::string text_;
};

// The values of one device, or of the host.
class Readings {
 public:
  void set(const backend::MetricValue& value) {
    if (value.index == 0) values_[value.metric] = value.value;
  }
  std::optional<int64_t> get(std::string_view name) const {
    const auto found = values_.find(name);
    return found == values_.end() ? std::nullopt : std::optional(found->second);
  }
  // In words, or "-" when unknown.
  std::string text(std::string_view name) const {
    const auto value = get(name);
    return value ? text::metric_value(name, static_cast<double>(*value)) : "-";
  }
  std::optional<double> share(std::string_view part, std::string_view whole) const {
    const auto a = get(part), b = get(whole);
    if (!a || !b || *b <= 0) return std::nullopt;
    return static_cast<double>(*a) / static_cast<double>(*b);
  }

 private:
  std::map<std::string_view, int64_t> values_;
};

std::map<int64_t, Readings> readings_by_device(const std::vector<backend::MetricValue>& values) {
  std::map<int64_t, Readings> devices;
  for (const auto& value : values) devices[value.device].set(value);
  return devices;
}

Readings host_readings(const capture::MetricBoard& board) {
  Readings host;
  for (const auto& value : board.host_values) host.set(value);
  return host;
}

// A busy GPU is what it was bought for; a full memory is a warning.
enum class Bar { Busy, Full };

void add_bar(Line& line, Bar bar, std::optional<double> share) {
  if (!share) {
    line.add("[").add(fmt::format("{:^{}}", "unknown", kBarColumns), Color::Dim).add("]");
    return;
  }
  const double clamped = std::clamp(*share, 0.0, 1.0);
  const auto filled = static_cast<size_t>(std::lround(clamped * kBarColumns));
  const bool is_fine = bar == Bar::Busy || clamped < 0.8;
  const Color color = is_fine ? Color::Green : clamped < 0.95 ? Color::Yellow : Color::Red;
  line.add("[")
      .add(std::string(filled, '|'), color)
      .add(std::string(kBarColumns - filled, ' '))
      .add(fmt::format("] {:3.0f}%", clamped * 100));
}

std::string throttle_text(const Readings& gpu) {
  const auto bits = static_cast<uint64_t>(gpu.get(metric::kClockLimits).value_or(0));
  std::string names;
  for (const analysis::ClockLimit& reason : analysis::kClockLimits) {
    if (!reason.is_slowdown || (bits & reason.bit) == 0) continue;
    names += names.empty() ? "" : ", ";
    names += reason.name;
  }
  return names;
}

std::string clock_text(int64_t elapsed_ns) {
  const int64_t seconds = elapsed_ns / 1'000'000'000;
  return fmt::format("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
}

std::string device_label(const backend::DeviceFacts& device) {
  return device.parent ? fmt::format("MIG {} of GPU {}", device.device, *device.parent)
                       : fmt::format("GPU {}", device.device);
}

// Why the log does not hold all that is shown; empty when it does.
std::string log_trouble(const capture::MetricBoard& board) {
  const uint64_t dropped = rows_dropped(board);
  if (!board.log.paused.empty()) {
    return fmt::format("log paused ({}), {} rows dropped", board.log.paused, dropped);
  }
  return dropped == 0 ? std::string() : fmt::format("{} rows dropped", dropped);
}

class Screen {
 public:
  Screen(const LiveViewState& state, ScreenSize size, bool has_color)
      : state_(state), board_(state.board), size_(size), has_color_(has_color) {}

  std::vector<std::string> draw() {
    header();
    host();
    gpus();
    events();
    processes();
    // The last row is the way out: it stays whatever else had to go.
    if (lines_.size() + 1 > size_.rows) lines_.resize(size_.rows - 1);
    line().add("q or Ctrl-C stops", Color::Dim);
    flush();
    return std::move(lines_);
  }

 private:
  Line& line() {
    flush();
    return current_.emplace(size_.columns, has_color_);
  }
  void flush() {
    if (current_) lines_.push_back(current_->take());
    current_.reset();
  }
  size_t rows_left() {
    flush();
    return size_.rows - std::min(size_.rows, lines_.size() + 1);
  }

  void header() {
    line()
        .add("GPUFlight monitor", Color::Bold)
        .add(fmt::format("  {}  {}  every {}  {} samples", state_.name,
                         clock_text(state_.elapsed_ns), text::typed_duration(state_.interval_ns),
                         board_.samples_taken))
        .add(board_.samples_missed == 0 ? "" : fmt::format("  {} missed", board_.samples_missed),
             Color::Yellow);
    line().add("session ", Color::Dim).add(state_.session_dir);
    if (const std::string trouble = log_trouble(board_); !trouble.empty()) {
      line().add(trouble, Color::Red);
    }
    if (!state_.metrics_url.empty()) line().add("metrics ", Color::Dim).add(state_.metrics_url);
    if (!state_.notice.empty()) line().add(state_.notice, Color::Yellow);
    line();
  }

  void host() {
    const Readings host = host_readings(board_);
    const auto cpu = host.get(metric::kCpuUtil);
    Line& first = line().add("Host   cpu ");
    add_bar(first, Bar::Busy, cpu ? std::optional(static_cast<double>(*cpu) / 1000) : std::nullopt);
    first.add(fmt::format("  load {} {} {}", host.text(metric::kLoad1), host.text(metric::kLoad5),
                          host.text(metric::kLoad15)));
    Line& second = line().add("       ram ");
    add_bar(second, Bar::Full, host.share(metric::kRamUsed, metric::kRamTotal));
    second.add(
        fmt::format("  {} of {}", host.text(metric::kRamUsed), host.text(metric::kRamTotal)));
    line();
  }

  void gpus() {
    const auto readings = readings_by_device(board_.device_values);
    constexpr size_t kRowsPerGpu = 4;
    size_t shown = 0;
    for (const backend::DeviceFacts& device : board_.devices) {
      if (rows_left() < kRowsPerGpu + 1) break;
      const auto found = readings.find(device.device);
      gpu(device, found == readings.end() ? Readings{} : found->second);
      ++shown;
    }
    if (shown < board_.devices.size()) {
      line().add(fmt::format("... and {} more", board_.devices.size() - shown), Color::Dim);
    }
  }

  void gpu(const backend::DeviceFacts& device, const Readings& now) {
    line().add(device_label(device), Color::Bold).add("  ").add(device.name);
    const auto util = now.get(metric::kGpuUtil);
    Line& first = line().add("       gpu ");
    add_bar(first, Bar::Busy,
            util ? std::optional(static_cast<double>(*util) / 100) : std::nullopt);
    first.add(fmt::format("  {}  {} of {}  sm {}", now.text(metric::kTemperature),
                          now.text(metric::kPower), now.text(metric::kPowerLimit),
                          now.text(metric::kComputeClock)));
    Line& second = line().add("       mem ");
    add_bar(second, Bar::Full, now.share(metric::kMemoryUsed, metric::kMemoryTotal));
    second.add(fmt::format("  {} of {}  mem {}", now.text(metric::kMemoryUsed),
                           now.text(metric::kMemoryTotal), now.text(metric::kMemoryClock)));
    const std::string throttle = throttle_text(now);
    if (throttle.empty()) {
      line();
    } else {
      line().add("       slowed down by " + throttle, Color::Red);
    }
  }

  void events() {
    const auto& events = board_.recent_events;
    const size_t count = std::min(events.size(), kMaxEvents);
    if (count == 0 || rows_left() < count + 2) return;
    line().add("Events", Color::Bold);
    for (size_t i = events.size() - count; i < events.size(); ++i) {
      line().add(fmt::format("  GPU {}  {}  {}", events[i].device, events[i].name, events[i].text),
                 Color::Yellow);
    }
    line();
  }

  void processes() {
    if (board_.processes.empty() || rows_left() < 2) return;
    const size_t room = std::min(kMaxProcesses, rows_left() - 1);
    line().add("GPU       PID      MEMORY  PROCESS", Color::Bold);
    for (size_t i = 0; i < std::min(room, board_.processes.size()); ++i) {
      const auto& process = board_.processes[i];
      const std::string memory =
          process.memory_bytes ? text::bytes(static_cast<double>(*process.memory_bytes)) : "-";
      line().add(fmt::format("{:>3}  {:>8}  {:>10}  {}", process.device, process.pid, memory,
                             process.name));
    }
  }

  const LiveViewState& state_;
  const capture::MetricBoard& board_;
  ScreenSize size_;
  bool has_color_;
  std::optional<Line> current_;
  std::vector<std::string> lines_;
};

}  // namespace

uint64_t rows_dropped(const capture::MetricBoard& board) {
  uint64_t rows = 0;
  for (const auto& [reason, count] : board.log.dropped) rows += count;
  return rows;
}

std::vector<std::string> live_view(const LiveViewState& state, ScreenSize size, bool has_color) {
  if (size.rows == 0 || size.columns == 0) return {};
  return Screen(state, size, has_color).draw();
}

std::string live_line(const LiveViewState& state) {
  const Readings host = host_readings(state.board);
  std::string text = clock_text(state.elapsed_ns);
  const auto readings = readings_by_device(state.board.device_values);
  for (const backend::DeviceFacts& device : state.board.devices) {
    const auto found = readings.find(device.device);
    const Readings now = found == readings.end() ? Readings{} : found->second;
    text += fmt::format("  gpu{} {} mem {} {} {}", device.device, now.text(metric::kGpuUtil),
                        now.text(metric::kMemoryUsed), now.text(metric::kTemperature),
                        now.text(metric::kPower));
  }
  text +=
      fmt::format("  host cpu {} ram {}", host.text(metric::kCpuUtil), host.text(metric::kRamUsed));
  if (state.board.samples_missed > 0)
    text += fmt::format("  missed {}", state.board.samples_missed);
  if (const std::string trouble = log_trouble(state.board); !trouble.empty())
    text += "  " + trouble;
  return text;
}

}  // namespace gpufl::cli
