// SPDX-License-Identifier: Apache-2.0
#include "workbench/compare.hpp"

#include <fstream>
#include <iterator>
#include <utility>

#include "analysis/compare/gate_rules.hpp"
#include "report/diff_report.hpp"
#include "report/gate_report.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;
using analysis::compare::Group;

// "runs/main", or "3 paths" of several.
std::string label_of(const std::vector<fs::path>& paths) {
  return paths.size() == 1 ? paths.front().string() : std::to_string(paths.size()) + " paths";
}

// No frame of a stack is compared, so none is named.
base::Result<Group> read_group(const std::vector<fs::path>& paths, const OpenOptions& open) {
  auto loaded = analysis::compare::load_group(label_of(paths), paths, load_options(open));
  if (!loaded || !loaded->repeats.empty()) return loaded;
  const Group& group = *loaded;
  if (paths.size() == 1 && group.problems.size() <= 1) {
    if (const auto folders = session_folders(paths.front()); !folders) return folders.status();
  }
  return base::Status(base::Code::NotFound, group.problems.front());
}

base::Result<std::pair<Group, Group>> read_halves(const fs::path& path, const OpenOptions& open) {
  const auto sessions = session_folders(path);
  if (!sessions) return sessions.status();
  if (sessions->size() > 1) {
    return base::Status(base::Code::InvalidArgument,
                        path.string() + ": there are several sessions in it; name one of them");
  }
  const auto session = analysis::load(sessions->front(), load_options(open));
  if (!session) return session.status();
  auto halves = analysis::compare::halves_of(*session);
  if (!halves) {
    return base::Status(halves.status().code(), path.string() + ": " + halves.status().message());
  }
  return halves;
}

base::Result<std::pair<Group, Group>> read_both(const std::vector<fs::path>& a,
                                                const std::vector<fs::path>& b,
                                                const OpenOptions& open) {
  auto first = read_group(a, open);
  if (!first) return first.status();
  auto second = read_group(b, open);
  if (!second) return second.status();
  return std::pair(std::move(*first), std::move(*second));
}

}  // namespace

base::Result<analysis::compare::Comparison> diff(const DiffRequest& request) {
  const auto sides = request.halves_of ? read_halves(*request.halves_of, request.open)
                                       : read_both(request.a, request.b, request.open);
  if (!sides) return sides.status();
  return compare(sides->first, sides->second, request.compare);
}

std::string write_diff(const analysis::compare::Comparison& comparison, Format format,
                       const report::TextOptions& options) {
  switch (format) {
    case Format::Json: return report::diff_json(comparison);
    case Format::Markdown: return report::diff_markdown(comparison, options.top);
    default: return report::diff_text(comparison, options);
  }
}

base::Result<analysis::compare::GateResult> gate(const GateRequest& request) {
  const auto sides = read_both(request.baseline, request.candidate, request.open);
  if (!sides) return sides.status();
  return run_gate(sides->first, sides->second, request.rules);
}

std::string write_gate(const analysis::compare::GateResult& result, Format format,
                       const report::TextOptions& options) {
  switch (format) {
    case Format::Json: return report::gate_json(result);
    case Format::Markdown: return report::gate_markdown(result, options.top);
    case Format::Junit: return report::gate_junit(result);
    default: return report::gate_text(result, options);
  }
}

base::Result<std::vector<analysis::compare::Rule>> load_rules(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return base::Status(base::Code::NotFound, file.string() + ": it cannot be read");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  return analysis::compare::parse_rules(text, file.string());
}

}  // namespace gpufl::workbench
