// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/kernel_groups.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <utility>

#include "analysis/figures/missing.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/session/framework_ops.hpp"
#include "analysis/session/inherited_lines.hpp"
#include "analysis/session/scope_paths.hpp"
#include "analysis/session/selection.hpp"

namespace gpufl::analysis {

namespace {

// Whose launches are looked at: of all kernels, or of some.
class Wanted {
 public:
  Wanted() = default;
  explicit Wanted(std::vector<uint8_t> rows) : is_all_(false), rows_(std::move(rows)) {}

  bool is_all() const { return is_all_; }
  bool has(size_t row) const { return is_all_ || rows_[row] != 0; }

 private:
  bool is_all_ = true;
  std::vector<uint8_t> rows_;  // of kernels; empty: all
};

Wanted launches_of(const Tables& tables, std::string_view function) {
  std::vector<uint8_t> configs;
  for (const LaunchConfig& config : tables.configs) {
    configs.push_back(tables.name(config.name) == function ? 1 : 0);
  }
  std::vector<uint8_t> rows(tables.kernels.rows());
  for (size_t row = 0; row < rows.size(); ++row) rows[row] = configs[tables.kernels.config[row]];
  return Wanted(std::move(rows));
}

// A column of kernels, which group each of its values is in, and what the groups are.
struct Grouping {
  const std::vector<uint32_t>* table_column = nullptr;  // null: `made_column`
  std::vector<uint32_t> group_of;                       // by the column's value
  std::vector<KernelGroup> groups;
  std::vector<uint32_t> made_column = {};

  const std::vector<uint32_t>& column() const {
    return table_column != nullptr ? *table_column : made_column;
  }
};

Grouping made(std::vector<uint32_t> column) { return {nullptr, {}, {}, std::move(column)}; }

KernelGroup named(std::string label, int64_t key) {
  KernelGroup group;
  group.full_name = label;
  group.label = std::move(label);
  group.key = key;
  return group;
}

KernelGroup rest(std::string label) {
  KernelGroup group = named(std::move(label), 0);
  group.is_rest = true;
  return group;
}

KernelGroup of_kernel(const KernelNames::Entry& entry, int64_t key) {
  KernelGroup group = named(entry.short_name, key);
  group.full_name = entry.full_name;
  group.kernel_class = entry.kernel_class;
  return group;
}

Grouping by_name(const Tables& tables, const KernelNames& names) {
  Grouping grouping{&tables.kernels.config, {}, {}};
  // Two mangled names can be the same to people only when they are the same to the linker as well,
  // so the ids of names are groups.
  std::vector<uint32_t> group_of_name(tables.names.size() + 1, kNoRow);
  for (const LaunchConfig& config : tables.configs) {
    uint32_t& group = group_of_name[std::min<size_t>(config.name, tables.names.size())];
    if (group == kNoRow) {
      group = static_cast<uint32_t>(grouping.groups.size());
      grouping.groups.push_back(of_kernel(names.of(config.name), config.name));
    }
    grouping.group_of.push_back(group);
  }
  return grouping;
}

std::string shape(const std::array<int64_t, 3>& size) {
  std::string text = std::to_string(size[0]);
  for (size_t i = 1; i < 3 && (size[1] > 1 || size[2] > 1); ++i) {
    if (i == 2 && size[2] <= 1) break;
    text += "x" + std::to_string(size[i]);
  }
  return text;
}

Grouping by_config(const Tables& tables, const KernelNames& names) {
  Grouping grouping{&tables.kernels.config, {}, {}};
  for (uint32_t id = 0; id < tables.configs.size(); ++id) {
    const LaunchConfig& config = tables.configs[id];
    KernelGroup& group = grouping.groups.emplace_back(of_kernel(names.of(config.name), id));
    if (config.blocks() > 0 && config.threads() > 0) {
      group.label += " <<<" + shape(config.grid) + ", " + shape(config.block) + ">>>";
    }
    grouping.group_of.push_back(id);
  }
  return grouping;
}

Grouping by_class(const Tables& tables, const KernelNames& names) {
  Grouping grouping{&tables.kernels.config, {}, {}};
  for (size_t i = 0; i < kKernelClassCount; ++i) {
    const auto kernel_class = static_cast<KernelClass>(i);
    KernelGroup& group = grouping.groups.emplace_back(
        named(std::string(to_string(kernel_class)), static_cast<int64_t>(i)));
    group.kernel_class = kernel_class;
  }
  for (const LaunchConfig& config : tables.configs) {
    grouping.group_of.push_back(static_cast<uint32_t>(names.of(config.name).kernel_class));
  }
  return grouping;
}

Grouping by_scope(const SessionData& session, const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  Grouping grouping{&tables.kernels.caller, {}, {}};
  const std::shared_ptr<const ScopePaths> held = session.scope_paths(options);
  const ScopePaths& paths = *held;
  for (uint32_t i = 0; i < paths.paths.size(); ++i) {
    grouping.groups.push_back(named(paths.paths[i].text, i));
  }
  const auto none = static_cast<uint32_t>(grouping.groups.size());
  grouping.groups.push_back(rest("(no scope)"));
  for (const Caller& caller : tables.callers) {
    const uint32_t path =
        caller.scope < paths.of_scope.size() ? paths.of_scope[caller.scope] : kNoRow;
    grouping.group_of.push_back(path == kNoRow ? none : path);
  }
  return grouping;
}

std::string device_label(int64_t device) {
  return device < 0 ? "(unknown GPU)" : "GPU " + std::to_string(device);
}

Grouping by_stream(const Tables& tables) {
  Grouping grouping{&tables.kernels.lane, {}, {}};
  for (uint32_t i = 0; i < tables.lanes.size(); ++i) {
    const Lane& lane = tables.lanes[i];
    // Streams of several contexts may have the same number.
    std::string label = device_label(lane.device) + ", stream " + std::to_string(lane.stream);
    grouping.groups.push_back(lane.stream < 0 ? rest(device_label(lane.device)) : named(label, i));
    grouping.group_of.push_back(i);
  }
  return grouping;
}

Grouping by_device(const Tables& tables) {
  Grouping grouping{&tables.kernels.lane, {}, {}};
  const DeviceIndex index(tables);
  for (const int64_t device : index.devices) {
    grouping.groups.push_back(named(device_label(device), device));
    grouping.groups.back().is_rest = device < 0;
  }
  grouping.group_of = index.of_lane;
  return grouping;
}

// Dictionaries hold a million values: a log with greater ids is broken, and its kernels are left
// out.
constexpr uint32_t kMaxStackId = 1u << 22;

// By what `describe` tells of a stack, or of whatever else the column numbers; an empty label:
// nothing.
template <class Describe>
Grouping by_stack(Grouping grouping, Describe describe, const char* none = "(no stack)") {
  grouping.groups.push_back(rest(none));
  uint32_t last = 0;
  for (const uint32_t stack : grouping.column()) {
    if (stack <= kMaxStackId) last = std::max(last, stack);
  }
  grouping.group_of.resize(size_t{last} + 1, kNoRow);
  std::map<std::pair<std::string, std::string>, uint32_t> known;
  for (const uint32_t stack : grouping.column()) {
    if (stack > kMaxStackId) continue;
    uint32_t& group = grouping.group_of[stack];
    if (group != kNoRow) continue;
    KernelGroup described = describe(stack);
    if (described.label.empty()) {
      group = 0;
      continue;
    }
    const auto [place, is_new] = known.try_emplace({described.label, described.full_name},
                                                   static_cast<uint32_t>(grouping.groups.size()));
    if (is_new) grouping.groups.push_back(std::move(described));
    group = place->second;
  }
  return grouping;
}

// The stack that tells each kernel's line, twice; one more where the line is another thread's.
// Where launches have no stacks, a framework's labels may tell; empty: nothing does.
std::vector<uint32_t> line_stacks(const SessionData& session, const Wanted& wanted) {
  const Kernels& kernels = session.tables.kernels;
  std::vector<uint32_t> stacks;
  const auto fill = [&](auto line_at) {
    stacks.resize(kernels.rows());
    for (size_t row = 0; row < stacks.size(); ++row) {
      if (!wanted.has(row)) continue;
      const auto [stack, is_inherited] = line_at(row);
      stacks[row] = std::min(stack, kMaxStackId / 2) * 2 + (is_inherited ? 1 : 0);
    }
  };
  if (!kernels.stack.empty()) {
    const InheritedLines lines(session);
    fill([&](size_t row) {
      const InheritedLine line = lines.at(kernels, row);
      return std::pair(line.stack, line.inherited);
    });
  } else if (!session.tables.markers.stack.empty()) {
    const FrameworkOps framework(session);
    fill([&](size_t row) { return std::pair(framework.at(kernels, row).stack, false); });
    const auto is_none = [](uint32_t stack) { return stack == 0; };
    // One kernel without a stack does not tell that none was recorded.
    if (wanted.is_all() && std::all_of(stacks.begin(), stacks.end(), is_none)) stacks.clear();
  }
  return stacks;
}

KernelGroup line_of(const CodeMap& code, uint32_t stack, bool is_inherited) {
  const CodeSite& site = code.site(stack);
  KernelGroup group = named(site.text, 0);
  if (is_inherited) group.label += " (by another thread)";
  if (!site.file.empty()) group.full_name = site.file + ":" + std::to_string(site.line);
  return group;
}

KernelGroup stack_of(const CodeMap& code, uint32_t stack, bool is_inherited) {
  KernelGroup group = line_of(code, stack, is_inherited);
  group.key = stack;
  group.full_name.clear();
  for (const symbols::CodeFrame& frame : code.frames(stack)) {
    if (!group.full_name.empty()) group.full_name += '\n';
    group.full_name += symbols::frame_text(frame);
  }
  return group;
}

std::vector<KernelGroup> finish(const SessionData& session, const AnalysisOptions& options,
                                const Wanted& wanted, Grouping grouping) {
  const Kernels& kernels = session.tables.kernels;
  const Selection selection(session.tables, options);
  std::vector<uint32_t> scratch, of_wanted;
  std::span<const uint32_t> keys = selection.keys(kernels, grouping.column(), scratch);
  if (!wanted.is_all()) {
    of_wanted.assign(keys.begin(), keys.end());
    for (size_t row = 0; row < of_wanted.size(); ++row) {
      if (!wanted.has(row)) of_wanted[row] = kNoRow;
    }
    keys = of_wanted;
  }
  const std::vector<Stats> stats =
      group_stats(keys, grouping.group_of, kernels.duration, grouping.groups.size());
  int64_t total_ns = 0;
  for (const Stats& of_group : stats) total_ns = saturating_add(total_ns, of_group.total);
  std::vector<KernelGroup> out;
  for (size_t i = 0; i < stats.size(); ++i) {
    if (stats[i].count == 0) continue;
    KernelGroup& group = out.emplace_back(std::move(grouping.groups[i]));
    group.duration_ns = stats[i];
    group.share =
        total_ns <= 0 ? 0 : static_cast<double>(stats[i].total) / static_cast<double>(total_ns);
  }
  std::stable_sort(out.begin(), out.end(), [](const KernelGroup& a, const KernelGroup& b) {
    return a.duration_ns.total != b.duration_ns.total ? a.duration_ns.total > b.duration_ns.total
                                                      : a.label < b.label;
  });
  return out;
}

Figure<Grouping> by_framework(const SessionData& session, const Wanted& wanted, bool by_module) {
  const FrameworkOps framework(session);
  if (framework.is_empty()) {
    return Unknown{"no framework reported its operators",
                   "call gpufl.torch.attach() to label PyTorch's work"};
  }
  const Kernels& kernels = session.tables.kernels;
  std::vector<uint32_t> names(kernels.rows());
  for (size_t row = 0; row < names.size(); ++row) {
    if (!wanted.has(row)) continue;
    const FrameworkLabel label = framework.at(kernels, row);
    names[row] = by_module ? label.module : label.op;
  }
  const auto describe = [&](uint32_t name) {
    return named(name == 0 ? "" : std::string(session.tables.name(name)), name);
  };
  return by_stack(made(std::move(names)), describe, by_module ? "(no module)" : "(no operator)");
}

Figure<Grouping> grouping_of(const SessionData& session, const AnalysisOptions& options, GroupBy by,
                             const Wanted& wanted) {
  const Tables& tables = session.tables;
  if (!records_gpu_work(session)) return missing_gpu_work(session.summary);
  const auto missing_stacks = [&] {
    return missing_option(session, "call stacks of launches were", "enable_stack_trace");
  };
  switch (by) {
    case GroupBy::Name: return by_name(tables, session.kernel_names());
    case GroupBy::Config: return by_config(tables, session.kernel_names());
    case GroupBy::Class: return by_class(tables, session.kernel_names());
    case GroupBy::Scope: return by_scope(session, options);
    case GroupBy::Stream: return by_stream(tables);
    case GroupBy::Device: return by_device(tables);
    case GroupBy::Line:
    case GroupBy::Stack: {
      std::vector<uint32_t> stacks = line_stacks(session, wanted);
      if (stacks.empty()) return missing_stacks();
      const auto describe = by == GroupBy::Line ? line_of : stack_of;
      return by_stack(made(std::move(stacks)), [&](uint32_t stack) {
        return describe(session.code, stack / 2, stack % 2 == 1);
      });
    }
    case GroupBy::ApiCall:
      if (tables.kernels.stack.empty()) return missing_stacks();
      return by_stack({&tables.kernels.stack, {}, {}},
                      [&](uint32_t stack) { return named(session.code.api_function(stack), 0); });
    case GroupBy::Op: return by_framework(session, wanted, false);
    case GroupBy::Module: return by_framework(session, wanted, true);
  }
  return Unknown{"no such grouping", ""};
}

}  // namespace

Figure<std::vector<KernelGroup>> kernel_groups(const SessionData& session,
                                               const AnalysisOptions& options, GroupBy by,
                                               std::optional<std::string_view> function) {
  const Wanted wanted = function ? launches_of(session.tables, *function) : Wanted();
  Figure<Grouping> grouping = grouping_of(session, options, by, wanted);
  if (!grouping) return grouping.unknown();
  return finish(session, options, wanted, std::move(*grouping));
}

Figure<std::vector<KernelGroup>> kernels_of_group(const SessionData& session,
                                                  const AnalysisOptions& options, GroupBy by,
                                                  std::string_view group) {
  const Figure<Grouping> grouping = grouping_of(session, options, by, Wanted());
  if (!grouping) return grouping.unknown();
  const std::vector<KernelGroup>& groups = grouping->groups;
  // Lines of two files may have one label.
  const bool is_full_name = std::any_of(
      groups.begin(), groups.end(), [&](const KernelGroup& one) { return one.full_name == group; });
  const auto is_meant = [&](const KernelGroup& one) {
    return (is_full_name ? one.full_name : one.label) == group;
  };
  std::vector<uint8_t> values;  // of the column
  for (const uint32_t of : grouping->group_of) {
    values.push_back(of < groups.size() && is_meant(groups[of]) ? 1 : 0);
  }
  std::vector<uint8_t> rows(session.tables.kernels.rows());
  for (size_t row = 0; row < rows.size(); ++row) {
    const uint32_t value = grouping->column()[row];
    rows[row] = value < values.size() ? values[value] : 0;
  }
  return finish(session, options, Wanted(std::move(rows)),
                by_name(session.tables, session.kernel_names()));
}

}  // namespace gpufl::analysis
