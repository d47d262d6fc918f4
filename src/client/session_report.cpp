// SPDX-License-Identifier: Apache-2.0
#include "client/session_report.hpp"

#include "analysis/insights/find_insights.hpp"
#include "analysis/overview/overview.hpp"
#include "analysis/session/session_data.hpp"
#include "format/session_reader.hpp"
#include "report/text_report.hpp"

namespace gpufl::client {
namespace {

// As the manifest tells: of windows that are sealed, so all but the last few moments.
uint64_t rows_of_gpu_work(const format::SessionReader& reader) {
  uint64_t rows = 0;
  for (const format::WindowFile& window : reader.windows()) {
    const bool is_there = window.state != format::WindowFile::State::Deleted;
    if (is_there && window.channel == format::Channel::Device) rows += window.rows;
  }
  return rows;
}

}  // namespace

base::Result<std::string> session_report(const std::filesystem::path& session_dir,
                                         uint64_t max_rows) {
  const auto reader = format::SessionReader::open(session_dir);
  if (!reader) return reader.status();
  if (rows_of_gpu_work(*reader) > max_rows) {
    const auto summary = analysis::summarize(session_dir);
    if (!summary) return summary.status();
    return report::brief_report(*summary,
                                "! This session is too large to be analysed inside the program. "
                                "For the whole report, run: gpufl report " +
                                    session_dir.string());
  }
  const auto session = analysis::load(session_dir, {.threads = 1});
  if (!session) return session.status();
  const analysis::Overview overview = analysis::analyze(*session);
  const auto insights = analysis::find_insights(*session, overview);
  return report::text_report({*session, overview, insights});
}

}  // namespace gpufl::client
