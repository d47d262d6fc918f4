// SPDX-License-Identifier: Apache-2.0
#include "timeline/arguments.hpp"

#include <iterator>
#include <vector>

namespace gpufl::timeline {
namespace {

uint32_t stack_of(const analysis::Work& work, size_t row) {
  return work.stack.empty() ? 0 : work.stack[row];
}

std::string_view operation(int64_t number) {
  const std::string_view word = format::word_of(format::kMemoryOperationWords, number);
  return word.empty() ? "?" : word;
}

std::string warp_event(const SessionTexts& texts, size_t row) {
  namespace column = format::warp_span_column;
  const format::Batch& rows = texts.tables().others.at(format::Kind::WarpSpan);
  return texts.name(static_cast<uint32_t>(rows.at(column::kEvent, row)));
}

// "phase", "window"
std::string coverage_name(const SessionTexts& texts, size_t row) {
  const format::Batch& rows = texts.tables().others.at(format::Kind::Coverage);
  return std::string(
      format::word_of(format::kCoverageShapeWords, rows.at(format::coverage_column::kShape, row)));
}

}  // namespace

std::string_view to_string(Arg arg) {
  constexpr std::string_view kNames[] = {
      "grid",
      "block",
      "cluster",
      "registers",
      "shared_static",
      "shared_dynamic",
      "local_per_thread",
      "occupancy",
      "correlation",
      "scope",
      "launched_at",
      "op",
      "module",
      "line",
      "forward_op",
      "stream",
      "result",
      "error",
      "domain",
      "category",
      "color",
      "payload",
      "repeat",
      "warmup",
      "ending",
      "sm",
      "group",
      "stage",
      "phase",
      "launch",
      "error_ns",
  };
  static_assert(std::size(kNames) == static_cast<size_t>(Arg::FirstColumn));
  static const std::vector<std::string_view> all = [&] {
    std::vector<std::string_view> names(std::begin(kNames), std::end(kNames));
    for (size_t kind = 0; kind < format::kKindCount; ++kind) {
      for (const auto& column : format::spec(static_cast<format::Kind>(kind)).columns) {
        names.push_back(column.title);
      }
    }
    return names;
  }();
  return all[static_cast<size_t>(arg)];
}

// The log tells hundredths of a percent.
std::string occupancy_text(const analysis::LaunchConfig& config) {
  const auto hundredths = std::lround(*config.occupancy * 10'000);
  std::string text = std::to_string(hundredths / 100);
  if (const auto rest = hundredths % 100; rest != 0) {
    text += rest < 10 ? ".0" : ".";
    text += std::to_string(rest % 10 == 0 ? rest / 10 : rest);
  }
  text += '%';
  if (!config.occupancy_bound.empty())
    text.append(", limited by ").append(config.occupancy_limit());
  return valid_utf8(text);
}

std::string_view category_of(SliceKind kind) {
  switch (kind) {
    case SliceKind::Scope: return "scope";
    case SliceKind::Range:
    case SliceKind::Mark: return "marker";
    case SliceKind::ApiCall:
    case SliceKind::KernelCall:
    case SliceKind::CopyCall:
    case SliceKind::FillCall:
    case SliceKind::GraphCall:
    case SliceKind::AllocationCall: return "api";
    case SliceKind::Wait: return "sync";
    case SliceKind::Kernel: return "kernel";
    case SliceKind::Copy: return "memcpy";
    case SliceKind::Fill: return "memset";
    case SliceKind::Graph: return "graph";
    case SliceKind::WarpSpan:
    case SliceKind::WarpInstant: return "warp";
    case SliceKind::Coverage: return "coverage";
  }
  return {};
}

std::string slice_name(const SessionTexts& texts, std::span<const Slice> group) {
  const analysis::Tables& tables = texts.tables();
  const size_t row = group.front().row;
  switch (group.front().kind) {
    case SliceKind::Scope: return texts.scope(row);
    case SliceKind::Range:
    case SliceKind::Mark: return texts.name(tables.markers.name[row]);
    case SliceKind::ApiCall: return texts.name(tables.api_calls.name[row]);
    case SliceKind::KernelCall:
      return texts.call(stack_of(tables.kernels, row),
                        group.size() > 1 ? "graph launch" : "kernel launch");
    case SliceKind::CopyCall: return texts.call(stack_of(tables.copies, row), "copy call");
    case SliceKind::FillCall: return texts.call(stack_of(tables.fills, row), "memset call");
    case SliceKind::GraphCall: return texts.call(stack_of(tables.graphs, row), "graph launch");
    case SliceKind::AllocationCall:
      return texts.call(stack_of(tables.allocations, row),
                        operation(tables.allocations.operation[row]));
    case SliceKind::Wait: return texts.wait(row);
    case SliceKind::Kernel: return texts.kernel(tables.kernels.config[row]);
    case SliceKind::Copy: return texts.copy(row);
    case SliceKind::Fill: return "memset";
    case SliceKind::Graph: return "graph " + std::to_string(tables.graphs.graph[row]);
    case SliceKind::WarpSpan:
    case SliceKind::WarpInstant: return warp_event(texts, row);
    case SliceKind::Coverage: return coverage_name(texts, row);
  }
  return {};
}

}  // namespace gpufl::timeline
