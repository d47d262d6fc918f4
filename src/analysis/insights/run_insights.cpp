// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/run_insights.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace gpufl::analysis {
namespace {

bool comes_before(const Insight& a, const Insight& b) {
  const auto weight = [](const Insight& insight) {
    return std::pair(insight.gain_ns.value_or(0), insight.severity);
  };
  return weight(a) > weight(b);
}

// The place of the program that an insight is about; of several of a session, which.
struct Place {
  std::string rule, kernel, scope, file;
  int64_t line = 0;
  size_t number = 0;
  auto operator<=>(const Place&) const = default;
};

Place place_of(const Insight& insight) {
  if (insight.evidence.empty()) return {insight.rule, "", "", "", 0, 0};
  const Evidence& first = insight.evidence.front();
  return {insight.rule, first.kernel, first.scope, first.file, first.line, 0};
}

std::string name_of(const RankFigures& rank, size_t session) {
  return rank.rank ? fmt::format("rank {}", *rank.rank) : fmt::format("process {}", session + 1);
}

// Which sessions show something, the one that shows it most first.
struct Shown {
  std::vector<std::pair<const Insight*, size_t>> by;

  void sort() {
    std::stable_sort(by.begin(), by.end(),
                     [](const auto& a, const auto& b) { return comes_before(*a.first, *b.first); });
  }
};

std::string names_of(const Shown& shown, const RunOverview& overview) {
  constexpr size_t kNamed = 4;
  if (shown.by.size() == overview.ranks.size()) return fmt::format("all {}", shown.by.size());
  if (shown.by.size() > kNamed) {
    return fmt::format("{} of {}", shown.by.size(), overview.ranks.size());
  }
  std::vector<size_t> sessions;
  for (const auto& [insight, session] : shown.by) sessions.push_back(session);
  std::sort(sessions.begin(), sessions.end());
  std::string names;
  for (const size_t session : sessions) {
    names += (names.empty() ? "" : ", ") + name_of(overview.ranks[session], session);
  }
  return names;
}

Insight merged(const Shown& shown, const RunData& run, const RunOverview& overview) {
  const auto& [most, session] = shown.by.front();
  const int64_t offset_ns = session < run.offset_ns.size() ? run.offset_ns[session] : 0;
  Insight insight = *most;
  const std::string names = names_of(shown, overview);
  const std::string its_name = name_of(overview.ranks[session], session);
  insight.title += fmt::format(" [{}]", names);
  if (names != its_name && !insight.detail.empty()) {
    insight.detail = fmt::format("{}: {}", its_name, insight.detail);
  }
  for (Evidence& evidence : insight.evidence) {
    if (evidence.start_ns) *evidence.start_ns += offset_ns;
    if (evidence.end_ns) *evidence.end_ns += offset_ns;
  }
  return insight;
}

}  // namespace

std::vector<Insight> merge_insights(const RunData& run, const RunOverview& overview,
                                    std::span<const Insight> of_run,
                                    std::span<const std::vector<Insight>> of_sessions) {
  std::map<Place, Shown> places;
  for (size_t session = 0; session < of_sessions.size(); ++session) {
    std::map<Place, size_t> seen;
    for (const Insight& insight : of_sessions[session]) {
      Place place = place_of(insight);
      place.number = seen[place]++;
      places[place].by.emplace_back(&insight, session);
    }
  }
  std::vector<Insight> all(of_run.begin(), of_run.end());
  for (auto& [place, shown] : places) {
    shown.sort();
    all.push_back(merged(shown, run, overview));
  }
  std::stable_sort(all.begin(), all.end(), comes_before);
  return all;
}

}  // namespace gpufl::analysis
