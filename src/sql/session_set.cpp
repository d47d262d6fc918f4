// SPDX-License-Identifier: Apache-2.0
#include "sql/session_set.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "analysis/session/session_data.hpp"

namespace gpufl::sql {

SessionSet::SessionSet(std::vector<format::SessionReader> readers, const symbols::LibdwApi* libdw)
    : libdw_(libdw), faults_(readers.size()) {
  std::map<std::string, std::vector<size_t>> runs;
  for (format::SessionReader& reader : readers) {
    const format::SessionHeader& header = reader.header();
    // One without a run is a run of its own.
    runs[header.run_id.empty() ? "session " + header.session_id : header.run_id].push_back(
        sessions_.size());
    sessions_.push_back({std::move(reader), 0});
  }
  for (const auto& [run, members] : runs) {
    std::vector<format::SessionHeader> headers;
    for (const size_t i : members) headers.push_back(sessions_[i].reader.header());
    const std::vector<int64_t> offsets = analysis::offsets_in_run(headers);
    for (size_t i = 0; i < members.size(); ++i) sessions_[members[i]].offset_ns = offsets[i];
  }
}

void SessionSet::note(size_t session, const std::vector<format::Problem>& problems) const {
  const std::lock_guard lock(mutex_);
  Fault& fault = faults_[session];
  for (const format::Problem& problem : problems) {
    // What is still being written is torn at its end, and that is no loss.
    const bool is_unfinished =
        problem.kind == format::Problem::Kind::TornLine && sessions_[session].reader.is_live();
    if (format::is_growth(problem) || is_unfinished) continue;
    if (fault.count++ != 0) continue;
    fault.first = problem.file;
    if (problem.line != 0) fault.first += fmt::format(" line {}", problem.line);
    fault.first += (fault.first.empty() ? "" : ": ") + problem.text;
  }
}

std::vector<std::string> SessionSet::faults() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> sentences;
  for (size_t i = 0; i < faults_.size(); ++i) {
    if (faults_[i].count == 0) continue;
    sentences.push_back(fmt::format(
        "{}: parts of its log cannot be read and are missing from the answer ({}); `gpufl verify` "
        "shows more",
        sessions_[i].reader.dir().string(), faults_[i].first));
  }
  return sentences;
}

}  // namespace gpufl::sql
