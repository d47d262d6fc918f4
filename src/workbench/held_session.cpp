// SPDX-License-Identifier: Apache-2.0
#include "workbench/held_session.hpp"

#include <algorithm>
#include <utility>

#include "analysis/insights/find_insights.hpp"
#include "workbench/report.hpp"
#include "workbench/sections.hpp"

namespace gpufl::workbench {

base::Result<std::unique_ptr<HeldSession>> HeldSession::load(const std::filesystem::path& folder,
                                                             const OpenOptions& options) {
  std::vector<FoundSession> sessions = find_sessions(folder);
  if (!sessions.empty() && are_of_passes(sessions, folder)) {
    return load_passes(take_newest(sessions), options);
  }
  auto session = open_session(folder, options);
  if (!session) return session.status();
  analysis::RunData run;
  run.id = session->summary.header.run_id;
  run.sessions.push_back(std::move(*session));
  run.offset_ns = {0};
  return std::unique_ptr<HeldSession>(new HeldSession(std::move(run)));
}

base::Result<std::unique_ptr<HeldSession>> HeldSession::load_passes(
    const std::vector<FoundSession>& sessions, const OpenOptions& options) {
  auto run = open_run(sessions.front().dir.parent_path(), options);
  if (!run) return run.status();
  const auto newest = std::find_if(sessions.rbegin(), sessions.rend(), [](const auto& session) {
    return analysis::is_pass(session.header) && !recorded_nothing(session);
  });
  const auto has_newest = [&](const analysis::SessionData& merged) {
    const auto& list = merged.passes->list;
    return std::any_of(list.begin(), list.end(), [&](const analysis::SessionPass& pass) {
      return pass.session_id == newest->header.session_id;
    });
  };
  std::erase_if(run->sessions, [&](const analysis::SessionData& merged) {
    return !merged.passes || (newest != sessions.rend() && !has_newest(merged));
  });
  if (run->sessions.empty()) {
    return base::Status(base::Code::NotFound, run->id + ": none of its passes can be read");
  }
  run->sessions.erase(run->sessions.begin() + 1, run->sessions.end());
  run->offset_ns = {0};
  return std::unique_ptr<HeldSession>(new HeldSession(std::move(*run)));
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
