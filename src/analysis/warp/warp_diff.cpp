// SPDX-License-Identifier: Apache-2.0
#include "analysis/warp/warp_diff.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

namespace gpufl::analysis {
namespace {

// Ranges of one event in one group, of all captures of a kernel.
struct Side {
  double count = 0, sum = 0, squares = 0;  // squares: of the distances from each capture's mean
  double path_ns = 0;

  double mean() const { return count == 0 ? 0 : sum / count; }
  double variance_of_mean() const { return count < 2 ? 0 : squares / (count - 1) / count; }
};
using Key = std::tuple<std::string, std::string, std::string>;  // kernel, group, event

struct Sides {
  Side a, b;
};
using ByKey = std::map<Key, Sides>;

struct PathLengths {
  std::map<std::string, double> a, b;  // by kernel
};

void add(const WarpFigures& figures, Side Sides::* side, std::map<std::string, double>& lengths,
         ByKey& all) {
  for (const WarpGroupFigures& group : figures.times.groups) {
    for (const WarpEventFigures& event : group.events) {
      Side& its =
          all[{figures.kernel, figures.group_name(group.group), figures.event_name(event.event)}].*
          side;
      const auto count = static_cast<double>(event.duration_ns.count);
      its.count += count;
      its.sum += event.duration_ns.mean * count;
      its.squares += event.deviation_ns * event.deviation_ns * std::max(0.0, count - 1);
    }
  }
  for (const PathPart& part : figures.path.parts) {
    (all[{figures.kernel, figures.group_name(part.group), figures.event_name(part.event)}].*side)
        .path_ns += static_cast<double>(part.length_ns);
  }
  lengths[figures.kernel] += static_cast<double>(figures.path.length_ns);
}

double share(double part, double whole) { return whole == 0 ? 0 : part / whole; }

// How much time all ranges of the event take more or less.
double weight(const WarpChange& change) {
  return std::abs(change.mean_b * static_cast<double>(change.count_b) -
                  change.mean_a * static_cast<double>(change.count_a));
}

}  // namespace

bool WarpChange::is_beyond_noise() const {
  return is_on_both() ? std::abs(change_ns()) > noise_ns : count_a != count_b;
}

std::vector<WarpChange> warp_changes(std::span<const WarpFigures> a,
                                     std::span<const WarpFigures> b) {
  ByKey all;
  PathLengths lengths;
  double tick_ns = 0;
  for (const WarpFigures& figures : a) add(figures, &Sides::a, lengths.a, all);
  for (const WarpFigures& figures : b) add(figures, &Sides::b, lengths.b, all);
  for (const auto captures : {a, b}) {
    for (const WarpFigures& figures : captures) {
      tick_ns = std::max(tick_ns, static_cast<double>(figures.launch.tick_ps) / 1e3);
    }
  }
  std::vector<WarpChange> changes;
  for (const auto& [key, sides] : all) {
    const std::string& kernel = std::get<0>(key);
    if (!lengths.a.contains(kernel) || !lengths.b.contains(kernel)) continue;
    WarpChange change;
    std::tie(change.kernel, change.group, change.event) = key;
    change.count_a = static_cast<uint64_t>(sides.a.count);
    change.count_b = static_cast<uint64_t>(sides.b.count);
    change.mean_a = sides.a.mean();
    change.mean_b = sides.b.mean();
    change.path_a = share(sides.a.path_ns, lengths.a[kernel]);
    change.path_b = share(sides.b.path_ns, lengths.b[kernel]);
    // Ranges that all begin at the same place of the clock's tick are rounded alike.
    change.noise_ns = 3 * std::sqrt(sides.a.variance_of_mean() + sides.b.variance_of_mean()) +
                      kWarpRunToRun * std::max(change.mean_a, change.mean_b) + tick_ns;
    changes.push_back(std::move(change));
  }
  std::stable_sort(changes.begin(), changes.end(), [](const WarpChange& x, const WarpChange& y) {
    return std::pair(x.is_beyond_noise(), weight(x)) > std::pair(y.is_beyond_noise(), weight(y));
  });
  return changes;
}

}  // namespace gpufl::analysis
