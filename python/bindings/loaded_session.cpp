// SPDX-License-Identifier: Apache-2.0
#include "bindings/loaded_session.hpp"

#include <utility>

#include "analysis/insights/find_insights.hpp"
#include "bindings/inspections.hpp"
#include "bindings/session_frames.hpp"
#include "cli/symbolize_command.hpp"
#include "report/html/html_report.hpp"
#include "report/json_report.hpp"
#include "report/text_report.hpp"

namespace gpufl::python {

base::Result<std::unique_ptr<LoadedSession>> LoadedSession::load(
    const std::filesystem::path& folder) {
  const symbols::SymbolizeOptions on_the_fly = cli::reading_options();
  analysis::LoadOptions options;
  options.symbolize = &on_the_fly;
  auto session = analysis::load(folder, options);
  if (!session) return session.status();
  analysis::RunData run;
  run.id = session->summary.header.run_id;
  run.sessions.push_back(std::move(*session));
  run.offset_ns = {0};
  return std::unique_ptr<LoadedSession>(new LoadedSession(std::move(run)));
}

LoadedSession::LoadedSession(analysis::RunData run) : run_(std::move(run)), texts_(session()) {}

Frame LoadedSession::frame(std::string_view table) const { return session_frame(texts_, table); }

const LoadedSession::Figures& LoadedSession::figures() const {
  std::call_once(figures_once_, [this] {
    figures_.overview = analysis::analyze_run(run_);
    figures_.insights =
        analysis::find_insights(session(), figures_.overview.ranks.front().overview);
    figures_.run_insights = analysis::find_run_insights(figures_.overview);
  });
  return figures_;
}

report::SessionReport LoadedSession::report() const {
  const Figures& made = figures();
  return {session(), made.overview.ranks.front().overview, made.insights};
}

std::string LoadedSession::text_report(const report::TextOptions& options) const {
  return report::text_report(report(), options);
}

std::string LoadedSession::markdown_report(const report::TextOptions& options) const {
  return report::markdown_report(report(), options);
}

std::string LoadedSession::json_report() const { return report::json_report(report()); }

std::string LoadedSession::html_report(const report::TextOptions& options) const {
  const Figures& made = figures();
  report::HtmlOptions html;
  html.text = options;
  const std::vector<std::vector<analysis::Insight>> insights = {made.insights};
  return report::html_report({run_, made.overview, made.run_insights, 0, insights}, html);
}

report::Picture LoadedSession::picture(size_t max_blocks) const {
  return report::make_picture(run_, max_blocks);
}

std::string LoadedSession::section(std::string_view name,
                                   const report::TextOptions& options) const {
  return inspect(report(), name, options);
}

}  // namespace gpufl::python
