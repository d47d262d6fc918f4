// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/passes.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "format/engines.hpp"

namespace gpufl::analysis {
namespace {

using format::SessionHeader;

size_t place_of(const SessionHeader& header) { return static_cast<size_t>(*header.pass - 1); }

int cost_of(std::string_view name) {
  int highest = 0;
  for (const format::Engine& engine : format::kEngines) {
    if (engine.name == name) return engine.cost;
    highest = std::max(highest, engine.cost);
  }
  return highest + 1;  // one of later versions
}

using Key = std::tuple<std::optional<int64_t>, std::string, std::string>;

// The sessions of each pass that have the same key are one process, the first with the first. Those
// with fewer than `least` sessions stay in `left`.
template <typename KeyOf>
void match(std::span<const SessionHeader> headers, std::vector<size_t>& left, KeyOf key_of,
           size_t passes, size_t least, std::vector<ProcessSessions>& processes) {
  std::map<Key, std::vector<std::vector<size_t>>> by_key;
  for (const size_t place : left) {
    auto& lists = by_key[key_of(headers[place])];
    lists.resize(passes);
    lists[place_of(headers[place])].push_back(place);
  }
  left.clear();
  for (const auto& [key, lists] : by_key) {
    size_t most = 0;
    for (const auto& list : lists) most = std::max(most, list.size());
    for (size_t i = 0; i < most; ++i) {
      ProcessSessions process(passes);
      size_t sessions = 0;
      for (size_t pass = 0; pass < passes; ++pass) {
        if (i >= lists[pass].size()) continue;
        process[pass] = lists[pass][i];
        ++sessions;
      }
      if (sessions >= least) {
        processes.push_back(std::move(process));
        continue;
      }
      for (const auto& session : process) {
        if (session) left.push_back(*session);
      }
    }
  }
}

// The launcher writes it for a program of which no process left a session.
bool is_stand_in(const SessionHeader& header) {
  return header.engine == format::kMonitorEngine && header.backend == "none";
}

// What stands in for all processes of a pass is put to the first that lacks a session there.
void add_stand_ins(std::span<const SessionHeader> headers,
                   std::vector<ProcessSessions>& processes) {
  const auto is_absent = [&](const ProcessSessions& process) {
    return std::all_of(process.begin(), process.end(), [&](const auto& session) {
      return !session || is_stand_in(headers[*session]);
    });
  };
  const auto absent = std::stable_partition(processes.begin(), processes.end(),
                                            [&](const auto& one) { return !is_absent(one); });
  if (absent == processes.begin()) return;
  const std::vector<ProcessSessions> stand_ins(absent, processes.end());
  processes.erase(absent, processes.end());
  for (const ProcessSessions& process : stand_ins) {
    for (size_t pass = 0; pass < process.size(); ++pass) {
      const auto lacks = std::find_if(processes.begin(), processes.end(),
                                      [&](const auto& one) { return !one[pass]; });
      if (process[pass] && lacks != processes.end()) (*lacks)[pass] = process[pass];
    }
  }
}

}  // namespace

bool is_pass(const SessionHeader& header) {
  return header.pass && *header.pass >= 1 &&
         static_cast<uint64_t>(*header.pass) <= header.passes.size();
}

std::vector<ProcessSessions> match_processes(std::span<const SessionHeader> headers) {
  std::vector<size_t> left;
  size_t passes = 0;
  std::set<size_t> seen;
  for (size_t i = 0; i < headers.size(); ++i) {
    if (!is_pass(headers[i])) continue;
    left.push_back(i);
    passes = std::max(passes, headers[i].passes.size());
    seen.insert(place_of(headers[i]));
  }
  const auto by_start = [&](size_t a, size_t b) {
    return std::tie(headers[a].start_wall_ns, headers[a].session_id) <
           std::tie(headers[b].start_wall_ns, headers[b].session_id);
  };
  std::vector<ProcessSessions> processes;
  std::sort(left.begin(), left.end(), by_start);
  match(
      headers, left,
      [](const SessionHeader& header) { return Key{header.rank, header.process, header.command}; },
      passes, seen.size(), processes);
  // Arguments may name pipes and files that are others in each pass.
  std::sort(left.begin(), left.end(), by_start);
  match(
      headers, left,
      [](const SessionHeader& header) { return Key{header.rank, header.process, ""}; }, passes, 1,
      processes);
  add_stand_ins(headers, processes);
  const auto first_of = [&](const ProcessSessions& process) {
    const auto first = std::find_if(process.begin(), process.end(),
                                    [](const auto& session) { return session.has_value(); });
    const SessionHeader& header = headers[**first];
    return std::tuple(header.rank, first - process.begin(), header.start_wall_ns);
  };
  std::sort(processes.begin(), processes.end(),
            [&](const auto& a, const auto& b) { return first_of(a) < first_of(b); });
  return processes;
}

std::vector<size_t> passes_by_cost(std::span<const SessionHeader> headers) {
  struct Pass {
    bool is_without_work = true, is_other = false;
    int cost = 0;
  };
  std::map<size_t, Pass> passes;
  for (const SessionHeader& header : headers) {
    if (!is_pass(header)) continue;
    Pass& pass = passes[place_of(header)];
    pass.is_without_work &= header.engine == format::kMonitorEngine;
    pass.is_other |= header.engine != header.passes[place_of(header)];
    pass.cost = std::max(pass.cost, cost_of(header.engine));
  }
  std::vector<size_t> order;
  for (const auto& [place, pass] : passes) order.push_back(place);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    const auto rank = [&](size_t place) {
      const Pass& pass = passes.at(place);
      return std::tuple(pass.is_without_work, pass.cost, pass.is_other);
    };
    return rank(a) < rank(b);
  });
  return order;
}

bool MergedPasses::lacks_session() const {
  return std::any_of(list.begin(), list.end(),
                     [](const SessionPass& pass) { return pass.got.empty(); });
}

}  // namespace gpufl::analysis
