// SPDX-License-Identifier: Apache-2.0
#include "bench/analysis/shapes.hpp"

#include <array>
#include <cstdint>
#include <string>

#include "bench/analysis/shape_log.hpp"

namespace gpufl::bench {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kUs = 1'000, kMs = 1'000'000;
constexpr int64_t kTurn = 10 * kUs;  // from one kernel's start to the next one's

// Scrambles: the same for the same number.
uint64_t dice(uint64_t number) {
  uint64_t z = number * 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  return z ^ (z >> 31);
}

int64_t duration_of(size_t i) { return 5 * kUs + static_cast<int64_t>(dice(i) % 2'000); }
int64_t start_of(size_t i) { return kMs + static_cast<int64_t>(i) * kTurn; }

// A few kernels that take turns, as a program's do.
std::array<int64_t, 16> few_configs(ShapeLog& log) {
  std::array<int64_t, 16> configs{};
  for (size_t i = 0; i < configs.size(); ++i) {
    configs[i] = log.config("kernel_" + std::to_string(i));
  }
  return configs;
}

// Writes what `fill` puts into a session.
template <typename Fill>
base::Status write_session(const fs::path& folder, Fill fill, int64_t number = 0) {
  auto log = ShapeLog::create(folder, number);
  if (!log) return log.status();
  fill(*log);
  return log->finish();
}

base::Status write_streams(const fs::path& folder, size_t n) {
  return write_session(folder, [n](ShapeLog& log) {
    const auto configs = few_configs(log);
    for (size_t i = 0; i < n; ++i) {
      log.kernel(start_of(i), duration_of(i), configs[i % configs.size()],
                 {.stream = 7 + static_cast<int64_t>(dice(i) % 8)});
    }
  });
}

base::Status write_scope_per_kernel(const fs::path& folder, size_t n) {
  return write_session(folder, [n](ShapeLog& log) {
    const auto configs = few_configs(log);
    for (size_t i = 0; i < n; ++i) {
      const int64_t scope = log.scope("step", start_of(i) - 6 * kUs, 5 * kUs);
      log.kernel(start_of(i), duration_of(i), configs[i % configs.size()], {.scope = scope});
    }
  });
}

// A loop that waits at a line after every fourth kernel; loops of other lines take turns with it.
base::Status write_waits(const fs::path& folder, size_t n) {
  constexpr size_t kWaitsPerLine = 400, kKernels = 4;
  return write_session(folder, [n](ShapeLog& log) {
    const auto configs = few_configs(log);
    const size_t lines = std::max<size_t>(1, n / kWaitsPerLine);
    for (size_t i = 0; i < n; ++i) {
      for (size_t k = i * kKernels; k < (i + 1) * kKernels; ++k) {
        log.kernel(start_of(k), duration_of(k), configs[k % configs.size()]);
      }
      log.wait(start_of((i + 1) * kKernels) - 5 * kUs, 3 * kUs,
               {.stack = log.stack_at(static_cast<int64_t>(10 + i % lines))});
    }
  });
}

// Paths that are open for 10 ms each, and counters that are seen to grow every tenth of the
// session. Both are four times as many in a session four times as large, so that pairs are 16 times
// as many.
base::Status write_counters(const fs::path& folder, size_t n) {
  constexpr size_t kPathsPerCounter = 20, kSamples = 10;
  return write_session(folder, [n](ShapeLog& log) {
    const auto configs = few_configs(log);
    for (size_t i = 0; i < n; ++i) {
      const int64_t start = kMs + static_cast<int64_t>(i) * 10 * kMs;
      const int64_t scope = log.scope("phase " + std::to_string(i), start, 9 * kMs);
      log.kernel(start + kMs, duration_of(i), configs[i % configs.size()], {.scope = scope});
    }
    const int64_t length = static_cast<int64_t>(n) * 10 * kMs;
    for (size_t sample = 0; sample <= kSamples; ++sample) {
      for (size_t i = 0; i < n / kPathsPerCounter; ++i) {
        log.counter(length / static_cast<int64_t>(kSamples) * static_cast<int64_t>(sample),
                    log.name("counter " + std::to_string(i)),
                    static_cast<int64_t>(1 + i + sample * 100));
      }
    }
  });
}

// Operators that begin and end in the same order, so that none is inside of another, all of them
// before the work that is asked for.
base::Status write_overlaps(const fs::path& folder, size_t n) {
  return write_session(folder, [n](ShapeLog& log) {
    const auto configs = few_configs(log);
    const int64_t op = log.name("aten::add");
    const auto half = static_cast<int64_t>(n) * kTurn;
    for (size_t i = 0; i < n; ++i) log.operation(start_of(i), half, op);
    for (size_t i = 0; i < n; ++i) {
      log.kernel(2 * half + start_of(i), duration_of(i), configs[i % configs.size()]);
    }
  });
}

base::Status write_names(const fs::path& folder, size_t n) {
  return write_session(folder, [n](ShapeLog& log) {
    for (size_t i = 0; i < n; ++i) {
      const std::string number = std::to_string(i);
      log.kernel(start_of(i), duration_of(i),
                 log.config("_ZN5fused" + std::to_string(number.size() + 7) + "kernel_" + number +
                            "IfLi4EEEvPKT_PS1_i"));
    }
  });
}

// Steps with the same kernels in each.
base::Status write_steps(const fs::path& folder, size_t n) {
  constexpr size_t kKernelsPerStep = 64;
  return write_session(folder, [n](ShapeLog& log) {
    const auto configs = few_configs(log);
    int64_t scope = 0;
    for (size_t i = 0; i < n; ++i) {
      if (i % kKernelsPerStep == 0) {
        scope = log.scope("step", start_of(i) - 6 * kUs, kKernelsPerStep * kTurn);
      }
      log.kernel(start_of(i), duration_of(i), configs[i % configs.size()], {.scope = scope});
    }
  });
}

base::Status write_small_sessions(const fs::path& folder, size_t n) {
  constexpr size_t kKernels = 20;
  for (size_t session = 0; session < n; ++session) {
    const auto fill = [](ShapeLog& log) {
      const auto configs = few_configs(log);
      for (size_t i = 0; i < kKernels; ++i)
        log.kernel(start_of(i), duration_of(i), configs[i % 16]);
    };
    const auto number = static_cast<int64_t>(session);
    const auto status = write_session(folder / std::to_string(session), fill, number);
    if (!status) return status;
  }
  return {};
}

const Shape kShapes[] = {
    {"streams", "kernels on 8 streams by turns: report", 500'000, write_streams, {"report"}},
    {"scopes", "a scope for each kernel: report", 200'000, write_scope_per_kernel, {"report"}},
    {"waits", "waits in loops, a line for every 400: report", 50'000, write_waits, {"report"}},
    {"counters", "paths, a counter for every 20: report", 5'000, write_counters, {"report"}},
    {"overlaps", "overlapping ranges of a framework: report", 50'000, write_overlaps, {"report"}},
    {"names", "kernel names: report", 25'000, write_names, {"report"}},
    {"json", "kernel names: report as JSON", 25'000, write_names, {"report", "--format", "json"}},
    {"halves", "kernels in steps: diff --halves", 200'000, write_steps, {"diff", "--halves"}},
    {"sessions", "small sessions: report of the run", 250, write_small_sessions, {"report"}},
};

}  // namespace

std::span<const Shape> shapes() { return kShapes; }

}  // namespace gpufl::bench
