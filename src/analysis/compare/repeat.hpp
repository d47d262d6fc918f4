// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/warp/warp_figures.hpp"

// What one repeat of a program gives to a comparison: its figures by what they are figures of. A
// repeat is a session, or all sessions of one launch together. Some hundred bytes for each thing
// that has a name, whatever the number of events. Plain data.
namespace gpufl::analysis::compare {

enum class Subject : uint8_t {
  Total,   // all of it
  Scope,   // scopes of one path of names and tags
  Kernel,  // kernels of one name
  Config,  // kernels of one name and configuration, launched in whatever scope
  Launch,  // kernels of one name and configuration, launched in scopes of one path
  Moved,   // launches of one name whose configuration or scope is another on the other side
};
std::string_view to_string(Subject subject);  // "kernel"

// The GPU's clock on NVIDIA hardware moves in steps of 32 ns.
inline constexpr double kClockStepNs = 32;
// Whether its durations were read off that clock; others are of the host's.
constexpr bool is_of_gpu_clock(Subject subject) {
  return subject != Subject::Total && subject != Subject::Scope;
}

enum class Metric : uint8_t {
  Median,  // of a kernel's or scope's durations (of a benchmark scope's iterations); of the
  Mean,    // program's iterations, of all of it; medians of kernels are finer than the clock's step
  P90,
  P99,
  Total,  // durations added up; of all of it: those of kernels
  Count,  // launches, scopes
  Busy,   // time in which a GPU worked for the scope, or at all
  Time,   // from the session's start to its end
};
inline constexpr size_t kMetrics = 8;
std::string_view to_string(Metric metric);  // "median"
// What a metric of the whole run is called: "GPU busy time".
std::string total_text(Metric metric);
std::optional<Metric> metric_named(std::string_view name);

// Whether such a figure adds up or counts work of the GPU over a session. Of sessions that were
// traced in phases, nobody knows it of the whole.
constexpr bool is_gpu_total(Subject subject, Metric metric) {
  const bool is_sum = metric == Metric::Total || metric == Metric::Count;
  return metric == Metric::Busy || (is_sum && subject != Subject::Scope);
}

struct Key {
  Subject subject = Subject::Total;
  std::string scope;   // path: "train > step / 3"; of a launch: "" in none
  std::string kernel;  // demangled, whole
  std::string config;  // "grid 128x1x1, block 256x1x1", with ", 64 B shared" where it has any
  auto operator<=>(const Key&) const = default;
};

// Of a launch configuration, what is known even where its shared memory is not.
std::string_view without_shared(std::string_view config);

struct Item {
  std::array<std::optional<double>, kMetrics> values;  // what has none is unknown
  const std::optional<double>& operator[](Metric metric) const {
    return values[static_cast<size_t>(metric)];
  }
  std::optional<double>& operator[](Metric metric) { return values[static_cast<size_t>(metric)]; }
};

// The iterations of a program, where all of them were recorded.
struct RepeatIterations {
  std::string label;      // how they were found, and what they are called: "scopes: train > step"
  bool is_named = false;  // by the program: a label means the same in every repeat
  size_t count = 0;       // all of them
  // For one of them: what begins within them, without those that warm up, and without the numbers
  // that tags of scopes give them.
  std::map<Key, Item> items;
};

struct Repeat {
  std::string name;  // the session's id, or the run's
  int64_t start_wall_ns = 0, end_wall_ns = 0;
  size_t sessions = 0;
  std::vector<std::string> devices;  // "NVIDIA H200", sorted
  std::string engine, app;
  std::vector<std::string> losses;  // sentences: why figures are less than the whole truth
  // Of each session whose GPU work was not recorded: why. What nobody recorded is no zero.
  std::vector<std::string> without_gpu_work;
  bool is_budgeted = false;  // a session of it was traced in phases, to stay within a budget
  std::map<Key, Item> items;
  std::set<std::string> scope_names;     // without tags, and without what is around them
  std::set<std::string> unknown_shared;  // kernels of whose launches it is not known
  std::optional<RepeatIterations> iterations;
  std::vector<WarpFigures> warps;  // of launches whose inside was recorded

  // Of any of its sessions.
  bool records_gpu_work() const {
    return without_gpu_work.empty() || without_gpu_work.size() < sessions;
  }
  // Null: it has no such thing.
  const Item* find(const Key& key) const;
};

}  // namespace gpufl::analysis::compare
