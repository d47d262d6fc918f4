// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/pass_mismatches.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/code/kernel_name.hpp"
#include "analysis/figures/missing.hpp"
#include "symbols/demangle.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {
namespace {

// A kernel as the log has it, and the path of its scope.
using Launched = std::pair<std::string, std::string>;

// Numbers that are the same for the same launches of all passes.
class Numbers {
 public:
  uint32_t of(Launched launched) {
    const auto [found, is_new] =
        numbers_.try_emplace(std::move(launched), static_cast<uint32_t>(all_.size()));
    if (is_new) all_.push_back(&found->first);
    return found->second;
  }
  const Launched& at(uint32_t number) const { return *all_[number]; }
  size_t size() const { return all_.size(); }

 private:
  std::map<Launched, uint32_t> numbers_;
  std::vector<const Launched*> all_;
};

struct Launches {
  bool is_recorded = false;                  // GPU work was
  std::string why_partial;                   // empty: all launches were recorded
  std::vector<uint64_t> counts;              // by number
  std::vector<std::vector<uint32_t>> order;  // of each thread, which come by their first launch
  bool has_order = true;

  uint64_t count(uint32_t number) const { return number < counts.size() ? counts[number] : 0; }
};

// Why not every launch of the session has its row; empty: all have.
std::string why_partial(const SessionData& session) {
  const SessionSummary& summary = session.summary;
  const auto& ledger = summary.ledger;
  if (!records_gpu_work(session)) return missing_gpu_work(summary).reason;
  if (summary.is_budgeted()) return "it was traced in phases";
  if (session.window) return "only a part of it was read";
  if (ledger && ledger->launches_counted.value_or(0) > 0) {
    return text::plural(*ledger->launches_counted, "launch") +
           " were counted by instruction and have no record";
  }
  if (summary.event_counts.contains("recording_paused") ||
      summary.event_counts.contains("recording_resumed")) {
    return "recording was turned on or off while it ran";
  }
  if (!ledger) return "its log has no end";
  if (ledger->launches_without_record() > 0) {
    return text::plural(ledger->launches_without_record(), "launch") + " have no record";
  }
  return summary.has_faults ? "parts of its log cannot be read" : "";
}

Launches launches_of(const SessionData& session, Numbers& numbers) {
  Launches launches;
  launches.is_recorded = records_gpu_work(session);
  launches.why_partial = why_partial(session);
  const Tables& tables = session.tables;
  const Kernels& kernels = tables.kernels;
  const auto paths = session.scope_paths({});
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> number_of;  // by configuration and caller
  std::vector<std::tuple<int64_t, int64_t, uint32_t>> in_time;  // with thread and number
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const Caller& caller = tables.callers[kernels.caller[row]];
    const auto key = std::pair(kernels.config[row], kernels.caller[row]);
    auto number = number_of.find(key);
    if (number == number_of.end()) {
      const uint32_t path = caller.scope == kNoRow ? kNoRow : paths->of_scope[caller.scope];
      Launched launched{tables.kernel_name(row), path == kNoRow ? "" : paths->paths[path].text};
      number = number_of.emplace(key, numbers.of(std::move(launched))).first;
    }
    if (number->second >= launches.counts.size()) launches.counts.resize(number->second + 1);
    ++launches.counts[number->second];
    // Kernels of a graph have one call, and run in any order.
    if (!kernels.graph.empty() && kernels.graph[row] != 0) continue;
    launches.has_order &= kernels.call_start(row) != kNoTime;
    in_time.emplace_back(kernels.asked_at(row), caller.thread, number->second);
  }
  std::stable_sort(in_time.begin(), in_time.end(),
                   [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
  std::map<int64_t, size_t> place_of_thread;
  for (const auto& [time_ns, thread, number] : in_time) {
    const size_t place = place_of_thread.try_emplace(thread, place_of_thread.size()).first->second;
    if (place == launches.order.size()) launches.order.emplace_back();
    launches.order[place].push_back(number);
  }
  return launches;
}

std::string kernel_label(const std::string& function) {
  return short_kernel_name(symbols::demangle(function));
}

// What whole passes tell must be the same, and what the others tell no more.
std::optional<LaunchMismatch> mismatch_of(const std::vector<std::optional<Launches>>& passes,
                                          uint32_t number) {
  std::optional<uint64_t> least, most;
  uint64_t bound = 0;
  for (const auto& pass : passes) {
    if (!pass || !pass->is_recorded) continue;
    const uint64_t count = pass->count(number);
    if (pass->why_partial.empty()) {
      least = std::min(least.value_or(count), count);
      most = std::max(most.value_or(count), count);
    } else {
      bound = std::max(bound, count);
    }
  }
  if (!least || (*least == *most && bound <= *least)) return std::nullopt;
  LaunchMismatch mismatch;
  for (const auto& pass : passes) {
    std::optional<uint64_t>& count = mismatch.launches.emplace_back();
    if (!pass || !pass->is_recorded) continue;
    const bool is_told = pass->why_partial.empty() || pass->count(number) > *least;
    if (is_told) count = pass->count(number);
  }
  return mismatch;
}

uint64_t difference(const LaunchMismatch& mismatch) {
  uint64_t least = UINT64_MAX, most = 0;
  for (const auto& count : mismatch.launches) {
    if (!count) continue;
    least = std::min(least, *count);
    most = std::max(most, *count);
  }
  return most - std::min(least, most);
}

// The launches of a thread that both passes have equally many of.
std::vector<size_t> comparable(const std::vector<uint32_t>& order, const Launches& a,
                               const Launches& b) {
  std::vector<size_t> places;
  for (size_t i = 0; i < order.size(); ++i) {
    if (a.count(order[i]) == b.count(order[i])) places.push_back(i);
  }
  return places;
}

void compare_order(const Launches& times, const Launches& other, size_t pass,
                   const Numbers& numbers, std::vector<OrderMismatch>& found) {
  const auto label = [&](uint32_t number) {
    const auto& [kernel, scope] = numbers.at(number);
    return kernel_label(kernel) + (scope.empty() ? "" : " in " + scope);
  };
  for (size_t thread = 0; thread < times.order.size() && thread < other.order.size(); ++thread) {
    const std::vector<uint32_t>&first = times.order[thread], &second = other.order[thread];
    const std::vector<size_t> places = comparable(first, times, other);
    const std::vector<size_t> others = comparable(second, times, other);
    for (size_t i = 0; i < places.size(); ++i) {
      const bool is_there = i < others.size();
      if (is_there && first[places[i]] == second[others[i]]) continue;
      found.push_back({pass, places[i] + 1, label(first[places[i]]),
                       is_there ? label(second[others[i]]) : "nothing"});
      break;
    }
  }
}

}  // namespace

void find_mismatches(const std::vector<const SessionData*>& sessions, MergedPasses& merged) {
  Numbers numbers;
  std::vector<std::optional<Launches>> passes;
  for (size_t pass = 0; pass < sessions.size(); ++pass) {
    auto& launches = passes.emplace_back();
    if (sessions[pass] == nullptr) continue;
    launches = launches_of(*sessions[pass], numbers);
    if (launches->why_partial.empty()) continue;
    merged.uncompared.push_back(
        fmt::format("pass {}, {}: {}", pass + 1, merged.list[pass].asked, launches->why_partial));
  }
  for (uint32_t number = 0; number < numbers.size(); ++number) {
    auto mismatch = mismatch_of(passes, number);
    if (!mismatch) continue;
    const auto& [kernel, scope] = numbers.at(number);
    mismatch->full_name = symbols::demangle(kernel);
    mismatch->kernel = short_kernel_name(mismatch->full_name);
    mismatch->scope = scope;
    merged.launches.push_back(std::move(*mismatch));
  }
  std::stable_sort(merged.launches.begin(), merged.launches.end(),
                   [](const auto& a, const auto& b) { return difference(a) > difference(b); });
  const auto is_ordered = [&](size_t pass) {
    return passes[pass] && passes[pass]->why_partial.empty() && passes[pass]->has_order;
  };
  for (size_t pass = 0; pass < passes.size(); ++pass) {
    if (pass == merged.times || !is_ordered(pass) || !is_ordered(merged.times)) continue;
    compare_order(*passes[merged.times], *passes[pass], pass, numbers, merged.order);
  }
}

}  // namespace gpufl::analysis
