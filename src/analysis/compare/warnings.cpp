// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/compare/comparison.hpp"

namespace gpufl::analysis::compare {
namespace {

void warn_of_losses(const Group& group, std::vector<std::string>& warnings) {
  size_t with_losses = 0;
  const std::string* example = nullptr;
  for (const Repeat& repeat : group.repeats) {
    if (repeat.losses.empty()) continue;
    if (with_losses++ == 0) example = &repeat.losses.front();
  }
  if (with_losses == 0) return;
  warnings.push_back(fmt::format("{} of {} repeats of {} are incomplete ({})", with_losses,
                                 group.repeats.size(), group.label, *example));
}

void warn_of_missing_work(const Group& group, std::vector<std::string>& warnings) {
  size_t missing = 0, partly = 0;
  const std::string* reason = nullptr;
  for (const Repeat& repeat : group.repeats) {
    if (repeat.without_gpu_work.empty()) continue;
    if (missing++ == 0) reason = &repeat.without_gpu_work.front();
    if (repeat.records_gpu_work()) ++partly;
  }
  if (missing == 0) return;
  warnings.push_back(fmt::format("GPU work of {} of {} repeats of {} is not known{}: {}", missing,
                                 group.repeats.size(), group.label,
                                 partly == 0 ? "" : ", or not of all processes", *reason));
}

// What is of single launches and steps is compared all the same.
void warn_of_budget(const Group& group, std::vector<std::string>& warnings) {
  const auto budgeted = std::count_if(group.repeats.begin(), group.repeats.end(),
                                      [](const Repeat& repeat) { return repeat.is_budgeted; });
  if (budgeted == 0) return;
  warnings.push_back(
      fmt::format("{} of {} repeats of {} were traced in phases, to stay within a budget: sums and "
                  "counts of GPU work are not compared",
                  budgeted, group.repeats.size(), group.label));
}

// Kernels are compared all the same.
void warn_of_warp_losses(const Group& group, std::vector<std::string>& warnings) {
  const auto with_losses =
      std::count_if(group.repeats.begin(), group.repeats.end(), [](const Repeat& repeat) {
        return std::any_of(repeat.warps.begin(), repeat.warps.end(), [](const WarpFigures& warp) {
          return warp.launch.dropped.value_or(0) > 0;
        });
      });
  if (with_losses == 0) return;
  warnings.push_back(fmt::format(
      "In {} of {} repeats of {}, warpscope dropped records: figures inside kernels may be too "
      "low",
      with_losses, group.repeats.size(), group.label));
}

// "one sentence (and 3 more)"
std::string first_of(const std::vector<std::string>& sentences) {
  const size_t others = sentences.size() - 1;
  return sentences.front() + (others == 0 ? "" : fmt::format(" (and {} more)", others));
}

void warn_of_problems(const Group& group, std::vector<std::string>& warnings) {
  if (group.problems.empty()) return;
  warnings.push_back(fmt::format("{} cannot be read: {}", group.label, first_of(group.problems)));
}

void warn_of_copies(const Group& a, const Group& b, std::vector<std::string>& warnings) {
  for (const Group* group : {&a, &b}) {
    if (!group->copies.empty()) warnings.push_back(first_of(group->copies));
    if (!group->cut.empty()) warnings.push_back(first_of(group->cut));
  }
  if (a.is_of_one_session) return;
  const auto is_in_b = [&](const Repeat& repeat) {
    return std::any_of(b.repeats.begin(), b.repeats.end(), [&](const Repeat& other) {
      return std::tie(repeat.name, repeat.start_wall_ns, repeat.end_wall_ns) ==
             std::tie(other.name, other.start_wall_ns, other.end_wall_ns);
    });
  };
  const auto shared = std::count_if(a.repeats.begin(), a.repeats.end(), is_in_b);
  if (shared == 0) return;
  const auto all = static_cast<ptrdiff_t>(a.repeats.size());
  if (shared == all && a.repeats.size() == b.repeats.size()) {
    warnings.push_back(all == 1 ? "Both sides are the same session"
                                : "Both sides are the same sessions");
    return;
  }
  warnings.push_back(fmt::format("{} of {} repeats of {} are in {} too, and cannot differ", shared,
                                 all, a.label, b.label));
}

template <typename Fact>
std::set<std::string> facts_of(const Group& group, Fact fact) {
  std::set<std::string> facts;
  for (const Repeat& repeat : group.repeats) facts.insert(fact(repeat));
  return facts;
}

// "a, b, c and 9 more"
std::string listed(const std::set<std::string>& facts) {
  constexpr size_t kShown = 3;
  const auto end = std::next(facts.begin(), static_cast<ptrdiff_t>(std::min(kShown, facts.size())));
  std::string text = fmt::format("{}", fmt::join(facts.begin(), end, ", "));
  if (facts.size() > kShown) text += fmt::format(" and {} more", facts.size() - kShown);
  return text;
}

// Where a fact is not the same on both sides.
template <typename Fact>
void warn_of_mixture(const Group& a, const Group& b, std::string_view what, Fact fact,
                     std::vector<std::string>& warnings) {
  const std::set<std::string> in_a = facts_of(a, fact);
  const std::set<std::string> in_b = facts_of(b, fact);
  if (in_a.empty() || in_b.empty() || in_a == in_b) return;
  warnings.push_back(
      fmt::format("{}: {} in {}, {} in {}", what, listed(in_a), a.label, listed(in_b), b.label));
}

// Where both have iterations, of which nothing can be said for one.
void warn_of_iterations(const Group& a, const Group& b, std::vector<std::string>& warnings) {
  const auto& [in_a, in_b] = std::tie(a.repeats.front().iterations, b.repeats.front().iterations);
  if (!in_a || !in_b || in_a->count == in_b->count || different_iterations(a, b)) return;
  warnings.push_back(
      fmt::format("Whole runs are compared, though their iterations differ: {} in {} ({}) and {} "
                  "in {} ({}) do not seem to be the same work",
                  in_a->count, a.label, in_a->label, in_b->count, b.label, in_b->label));
}

bool all_before(const Group& first, const Group& second) {
  const auto ends_before = [&](const Repeat& repeat) {
    return repeat.end_wall_ns <= second.repeats.front().start_wall_ns;
  };
  return std::all_of(first.repeats.begin(), first.repeats.end(), ends_before);
}

}  // namespace

std::vector<std::string> warnings_of(const Group& a, const Group& b) {
  std::vector<std::string> warnings;
  for (const Group* group : {&a, &b}) warn_of_losses(*group, warnings);
  for (const Group* group : {&a, &b}) warn_of_missing_work(*group, warnings);
  for (const Group* group : {&a, &b}) warn_of_budget(*group, warnings);
  for (const Group* group : {&a, &b}) warn_of_warp_losses(*group, warnings);
  for (const Group* group : {&a, &b}) warn_of_problems(*group, warnings);
  warn_of_copies(a, b, warnings);
  if (a.repeats.empty() || b.repeats.empty()) return warnings;
  warn_of_mixture(
      a, b, "Different GPUs",
      [](const Repeat& repeat) {
        return repeat.devices.empty() ? std::string("unknown")
                                      : fmt::format("{}", fmt::join(repeat.devices, ", "));
      },
      warnings);
  warn_of_mixture(
      a, b, "Different engines", [](const Repeat& repeat) { return repeat.engine; }, warnings);
  warn_of_mixture(
      a, b, "Different programs", [](const Repeat& repeat) { return repeat.app; }, warnings);
  warn_of_iterations(a, b, warnings);
  if (a.is_of_one_session || a.repeats.size() < 2 || b.repeats.size() < 2) return warnings;
  if (all_before(a, b) || all_before(b, a)) {
    warnings.push_back(fmt::format(
        "{} and {} were recorded one after the other: a machine that drifted in between looks like "
        "a difference; runs that take turns do not have that",
        a.label, b.label));
  }
  return warnings;
}

}  // namespace gpufl::analysis::compare
