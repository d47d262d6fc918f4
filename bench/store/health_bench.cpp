// SPDX-License-Identifier: Apache-2.0
// Packed health of a server's store.
//
//   health_bench [--json FILE]
//
// Of an hour of a machine with eight GPUs, read once a second (thirteen metrics that change as
// those of a busy GPU do, twelve that seldom change), in six windows: how large its blobs are, how
// fast they are packed on a disk that syncs, and how long a question of one GPU takes. Not timed:
// writing the windows and taking them.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "base/temp_dir.hpp"
#include "bench/one_core.hpp"
#include "bench/report.hpp"
#include "store/test_health.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;
using namespace gpufl::store;
using store::testing::kSecond_ns;
using store::testing::kStart_s;

constexpr int kGpus = 8;
constexpr int kWindows = 6;
constexpr int64_t kWindow_s = 600;
constexpr int kQuestions = 200;

// One second of every GPU.
std::vector<store::testing::TestReading> readings_at(int64_t second, std::mt19937_64& random) {
  std::vector<store::testing::TestReading> readings;
  const auto near = [&](int64_t middle, uint64_t width) {
    return middle + static_cast<int64_t>(random() % width);
  };
  const int64_t time_ns = second * kSecond_ns + static_cast<int64_t>(random() % 1'000'000);
  for (int gpu = 0; gpu < kGpus; ++gpu) {
    const auto add = [&](const char* metric, int64_t value) {
      readings.push_back({time_ns, gpu, metric, value});
    };
    const int64_t used = near(60, 4) << 30;
    add("gpu_util_pct", near(90, 11));
    add("memory_util_pct", near(40, 20));
    add("memory_used_bytes", used);
    add("memory_free_bytes", (int64_t{140} << 30) - used);
    add("temperature_c", near(60, 6));
    add("memory_temperature_c", near(70, 4));
    add("power_mw", near(600'000, 90'000));
    add("power_instant_mw", near(560'000, 140'000));
    add("compute_clock_mhz", near(1700, 280));
    add("graphics_clock_mhz", near(1700, 280));
    add("energy_mj", second * 600'000 + near(0, 1000));
    add("pcie_rx_bytes_per_s", near(10'000'000, 90'000'000));
    add("pcie_tx_bytes_per_s", near(10'000'000, 90'000'000));
    for (const char* metric :
         {"memory_total_bytes", "power_limit_mw", "memory_clock_mhz", "video_clock_mhz",
          "performance_state", "clock_limits_bits", "pcie_generation", "pcie_width_lanes",
          "ecc_corrected_volatile_count", "ecc_uncorrected_volatile_count",
          "remapped_rows_corrected_count", "remapped_rows_pending"}) {
      add(metric, second < kWindow_s ? 1 : 2);
    }
  }
  return readings;
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("health_bench", argc, argv);
  const base::TempDir folder;
  StoreLimits limits;
  limits.health.pace = std::chrono::hours(1);
  const auto store = store::testing::open_store(folder.path(), limits);
  if (!store) return 2;
  std::mt19937_64 random(1);
  uint64_t sent = 0;
  for (int window = 0; window < kWindows; ++window) {
    const std::string id = store::testing::session_id(1);
    const auto number = static_cast<uint64_t>(window) + 1;
    store::testing::HealthText text(id, number, kGpus);
    for (int64_t second = window * kWindow_s; second < (window + 1) * kWindow_s; ++second) {
      text.add(readings_at(second, random));
    }
    sent += text.text().size();
    const Outcome outcome = (*store)->take(
        store::testing::window_piece(**store, id, format::Channel::System, number, text.text()));
    if (outcome.what != Outcome::What::Stored) return 2;
  }
  const double cpu_before_s = bench::cpu_s();
  const auto begin = std::chrono::steady_clock::now();
  if (!(*store)->health().pack_all((kStart_s + kHour_s) * 1000)) return 2;
  const double wall_s = seconds_since(begin), cpu_s = bench::cpu_s() - cpu_before_s;
  const auto readings = static_cast<double>((*store)->health().counts(1).readings);
  double bytes = 0, finest = 0;
  for (const auto& entry :
       fs::recursive_directory_iterator(folder.path() / "workspaces/1/health")) {
    if (!entry.is_regular_file()) continue;
    bytes += static_cast<double>(entry.file_size());
    if (entry.path().filename().string().find(".1.") != std::string::npos) {
      finest += static_cast<double>(entry.file_size());
    }
  }
  std::vector<double> times_ms;
  for (int i = 0; i < kQuestions; ++i) {
    const auto asked = std::chrono::steady_clock::now();
    const auto answer = (*store)->health().read({.workspace = 1,
                                                 .device = i % kGpus + 1,
                                                 .from_s = kStart_s,
                                                 .to_s = kStart_s + kHour_s,
                                                 .points = 400,
                                                 .metrics = {},
                                                 .now_s = kStart_s + kHour_s});
    if (!answer || answer->series.empty()) return 2;
    times_ms.push_back(seconds_since(asked) * 1000);
  }
  std::sort(times_ms.begin(), times_ms.end());
  report.note("readings", readings);
  report.note("bytes_sent", static_cast<double>(sent));
  report.value("packed, all levels", bytes / readings, "bytes a reading", bench::at_most(2.0));
  report.value("packed, of 1 s alone", finest / readings, "bytes a reading");
  report.value("packing, one thread", readings / cpu_s / 1e6, "million readings a second of CPU",
               bench::at_least(0.5));
  report.value("packing, with its syncs", readings / wall_s / 1e6, "million readings a second");
  report.value("an hour of a GPU in 400 points, p95", times_ms[times_ms.size() * 95 / 100], "ms",
               bench::at_most(50));
  return report.finish();
}
