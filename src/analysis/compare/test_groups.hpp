// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/compare/group.hpp"

// Groups of repeats made by hand. For tests only.
namespace gpufl::analysis::compare::testing {

inline Key kernel_key(std::string name) { return {Subject::Kernel, "", std::move(name), ""}; }
inline Key launch_key(std::string name, std::string scope = "") {
  return {Subject::Launch, std::move(scope), std::move(name), "grid 128x1x1, block 256x1x1"};
}
inline Key config_key(const std::string& name) {
  return {Subject::Config, "", name, launch_key(name).config};
}
inline Key scope_key(std::string path) { return {Subject::Scope, std::move(path), "", ""}; }

// Some noise, the same every time: within 1% of 1, no two alike.
inline double shaken(size_t i) { return 1 + 0.01 * (static_cast<double>(i * 7 % 11) / 5.0 - 1.0); }

class GroupBuilder {
 public:
  GroupBuilder(std::string label, size_t repeats, int64_t start_wall_ns = 0) {
    group_.label = std::move(label);
    for (size_t i = 0; i < repeats; ++i) {
      Repeat repeat;
      repeat.name = group_.label + std::to_string(i);
      // Those of other groups fit between them.
      repeat.start_wall_ns = start_wall_ns + static_cast<int64_t>(i) * 1000;
      repeat.end_wall_ns = repeat.start_wall_ns + 100;
      repeat.devices = {"NVIDIA H200"};
      repeat.engine = "Trace";
      repeat.app = "train";
      repeat.sessions = 1;
      group_.repeats.push_back(std::move(repeat));
    }
  }

  // In every repeat, each with its own noise.
  GroupBuilder& kernel(const std::string& name, double median_ns, double count = 100,
                       const std::string& scope = "") {
    for (size_t i = 0; i < group_.repeats.size(); ++i) {
      const double value = median_ns * shaken(i + salt_);
      for (const Key& key : {kernel_key(name), launch_key(name, scope)}) {
        set(group_.repeats[i].items[key], value, count);
      }
      add_scope_names(group_.repeats[i], scope);
      // Of all calls with this name.
      Item& in_any_scope = group_.repeats[i].items[config_key(name)];
      const double count_before = in_any_scope[Metric::Count].value_or(0);
      const double total_before = in_any_scope[Metric::Total].value_or(0);
      set(in_any_scope, value, count);
      *in_any_scope[Metric::Count] += count_before;
      *in_any_scope[Metric::Total] += total_before;
      Item& total = group_.repeats[i].items[Key{}];
      for (const Metric metric : {Metric::Total, Metric::Busy}) {
        total[metric] = total[metric].value_or(0) + value * count;
      }
      total[Metric::Count] = total[Metric::Count].value_or(0) + count;
      total[Metric::Time] = total[Metric::Time].value_or(0) + 2 * value * count;
    }
    salt_ += 3;
    return *this;
  }
  GroupBuilder& scope(const std::string& path, double median_ns, double count = 10) {
    for (size_t i = 0; i < group_.repeats.size(); ++i) {
      add_scope_names(group_.repeats[i], path);
      Item& item = group_.repeats[i].items[scope_key(path)];
      set(item, median_ns * shaken(i + salt_), count);
      item[Metric::Busy] = median_ns * count / 2 * shaken(i + salt_ + 1);
    }
    salt_ += 3;
    return *this;
  }
  // What there is so far is of so many iterations.
  GroupBuilder& iterations(size_t count) {
    for (Repeat& repeat : group_.repeats) {
      repeat.iterations = RepeatIterations{"scopes: step", true, count, repeat.items};
      for (auto& [key, item] : repeat.iterations->items) {
        for (const Metric metric : {Metric::Total, Metric::Count, Metric::Busy, Metric::Time}) {
          if (item[metric]) *item[metric] /= static_cast<double>(count);
        }
      }
    }
    return *this;
  }
  Group& get() { return group_; }

 private:
  static void set(Item& item, double value, double count) {
    item[Metric::Count] = count;
    item[Metric::Total] = value * count;
    for (const Metric metric : {Metric::Median, Metric::Mean, Metric::P90, Metric::P99}) {
      item[metric] = value;
    }
  }

  // Of "train > step": both.
  static void add_scope_names(Repeat& repeat, const std::string& path) {
    constexpr std::string_view kInside = " > ";
    for (size_t begin = 0; begin < path.size();) {
      const size_t end = std::min(path.find(kInside, begin), path.size());
      repeat.scope_names.insert(path.substr(begin, end - begin));
      begin = end + kInside.size();
    }
  }

  Group group_;
  size_t salt_ = 0;
};

}  // namespace gpufl::analysis::compare::testing
