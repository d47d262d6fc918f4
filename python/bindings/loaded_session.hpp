// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/overview/run_overview.hpp"
#include "base/status.hpp"
#include "bindings/frame.hpp"
#include "report/html/picture.hpp"
#include "report/run_report.hpp"
#include "report/session_report.hpp"
#include "timeline/session_texts.hpp"

// What gpufl.analyzer.GpuFlightSession stands for: a session in memory with all that is told of it.
// Figures are computed when they are first asked for. Any thread, several at once.
namespace gpufl::python {

class LoadedSession {
 public:
  // Of one session's folder. Fails as analysis::load does.
  static base::Result<std::unique_ptr<LoadedSession>> load(const std::filesystem::path& folder);

  const analysis::SessionSummary& summary() const { return session().summary; }
  // No columns: there is no such table. It refers to this session.
  Frame frame(std::string_view table) const;

  // The same texts as `gpufl report` writes.
  std::string text_report(const report::TextOptions& options) const;
  std::string markdown_report(const report::TextOptions& options) const;
  std::string json_report() const;
  std::string html_report(const report::TextOptions& options) const;
  // The session as rows of at most `max_blocks` blocks.
  report::Picture picture(size_t max_blocks) const;
  // Parts of the text report; where there is nothing to show, why, and what would give it. Empty:
  // there is no such part.
  std::string section(std::string_view name, const report::TextOptions& options) const;

 private:
  struct Figures {
    analysis::RunOverview overview;
    std::vector<analysis::Insight> insights, run_insights;
  };

  explicit LoadedSession(analysis::RunData run);
  const analysis::SessionData& session() const { return run_.sessions.front(); }
  const Figures& figures() const;
  report::SessionReport report() const;

  analysis::RunData run_;
  timeline::SessionTexts texts_;
  mutable std::once_flag figures_once_;
  mutable Figures figures_;
};

}  // namespace gpufl::python
