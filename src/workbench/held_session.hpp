// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/insights/insight.hpp"
#include "analysis/overview/run_overview.hpp"
#include "base/status.hpp"
#include "report/html/picture.hpp"
#include "report/session_report.hpp"
#include "workbench/answer_format.hpp"
#include "workbench/find_sessions.hpp"
#include "workbench/kernel_report.hpp"
#include "workbench/open.hpp"

// A session that is held in memory, for whoever asks several things of it. Figures are computed
// when they are first asked for. Any thread, several at once.
namespace gpufl::workbench {

class HeldSession {
 public:
  // Of one session's folder; or of the folder of a program that ran in several passes, the process
  // that began last, with its passes merged. Fails as open_session() does.
  static base::Result<std::unique_ptr<HeldSession>> load(const std::filesystem::path& folder,
                                                         const OpenOptions& options);

  const analysis::SessionData& session() const { return run_.sessions.front(); }

  // The same text as make_reports() makes.
  std::string report(Format format, const report::TextOptions& options) const;
  // As write_section() does.
  base::Result<std::string> section(std::string_view name,
                                    const report::TextOptions& options) const;
  // As report_kernel() does.
  base::Result<std::string> kernel(const KernelRequest& request, Format format,
                                   const report::TextOptions& options) const;
  // The session as rows of at most `max_blocks` blocks.
  report::Picture picture(size_t max_blocks) const;

 private:
  struct Figures {
    analysis::RunOverview overview;
    std::vector<std::vector<analysis::Insight>> insights;  // of the one session
    std::vector<analysis::Insight> run_insights;
  };

  // `sessions`: of one run, at least one of them a pass.
  static base::Result<std::unique_ptr<HeldSession>> load_passes(
      const std::vector<FoundSession>& sessions, const OpenOptions& options);
  explicit HeldSession(analysis::RunData run) : run_(std::move(run)) {}
  const Figures& figures() const;
  report::SessionReport session_report() const;

  analysis::RunData run_;
  mutable std::once_flag figures_once_;
  mutable Figures figures_;
};

}  // namespace gpufl::workbench
