// SPDX-License-Identifier: Apache-2.0
#include "workbench/group_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/figures/kernel_groups.hpp"
#include "report/group_report.hpp"

namespace gpufl::workbench {
namespace {

using analysis::GroupBy;

constexpr size_t kMostKernels = 1000;
// In the order of kGroupings.
constexpr std::array kGroupBys = {GroupBy::Op,     GroupBy::Module, GroupBy::Line,
                                  GroupBy::Scope,  GroupBy::Class,  GroupBy::Stream,
                                  GroupBy::Device, GroupBy::ApiCall};
static_assert(kGroupBys.size() == kGroupings.size());

}  // namespace

base::Result<std::string> report_group(const GroupRequest& asked) {
  const auto* const by = std::find(kGroupings.begin(), kGroupings.end(), asked.by);
  if (by == kGroupings.end()) {
    return base::Status(base::Code::InvalidArgument,
                        fmt::format("kernels cannot be grouped by '{}'", asked.by));
  }
  const auto session = open_session(asked.path, asked.open);
  if (!session) return session.status();
  analysis::AnalysisOptions options;
  options.window = session->window;
  const auto kernels = analysis::kernels_of_group(
      *session, options, kGroupBys[static_cast<size_t>(by - kGroupings.begin())], asked.group);
  if (!kernels) {
    const analysis::Unknown& why = kernels.unknown();
    return base::Status(
        base::Code::NotFound,
        fmt::format("{}{}{}", why.reason, why.remedy.empty() ? "" : "; ", why.remedy));
  }
  if (kernels->empty()) {
    return base::Status(base::Code::NotFound,
                        fmt::format("no kernel belongs to the {} '{}'", asked.by, asked.group));
  }
  return report::json_group_report(session->summary, asked.by, asked.group, *kernels, kMostKernels);
}

}  // namespace gpufl::workbench
