// SPDX-License-Identifier: Apache-2.0
#include "workbench/held_session.hpp"

#include <utility>

#include "analysis/insights/find_insights.hpp"
#include "workbench/report.hpp"
#include "workbench/sections.hpp"

namespace gpufl::workbench {

base::Result<std::unique_ptr<HeldSession>> HeldSession::load(const std::filesystem::path& folder,
                                                             const OpenOptions& options) {
  auto session = open_session(folder, options);
  if (!session) return session.status();
  analysis::RunData run;
  run.id = session->summary.header.run_id;
  run.sessions.push_back(std::move(*session));
  run.offset_ns = {0};
  return std::unique_ptr<HeldSession>(new HeldSession(std::move(run)));
}

const HeldSession::Figures& HeldSession::figures() const {
  std::call_once(figures_once_, [this] {
    figures_.overview = analysis::analyze_run(run_);
    figures_.insights = {
        analysis::find_insights(session(), figures_.overview.ranks.front().overview)};
    figures_.run_insights = analysis::find_run_insights(figures_.overview);
  });
  return figures_;
}

report::SessionReport HeldSession::session_report() const {
  const Figures& made = figures();
  return {session(), made.overview.ranks.front().overview, made.insights.front()};
}

std::string HeldSession::report(Format format, const report::TextOptions& options) const {
  if (format != Format::Html) return write_report(session_report(), format, options);
  const Figures& made = figures();
  return write_report({run_, made.overview, made.run_insights, 0, made.insights}, format, options);
}

base::Result<std::string> HeldSession::section(std::string_view name,
                                               const report::TextOptions& options) const {
  return write_section(session_report(), name, options);
}

base::Result<std::string> HeldSession::kernel(const KernelRequest& request, Format format,
                                              const report::TextOptions& options) const {
  return report_kernel(session(), request, {}, format, options);
}

report::Picture HeldSession::picture(size_t max_blocks) const {
  return report::make_picture(run_, max_blocks);
}

}  // namespace gpufl::workbench
