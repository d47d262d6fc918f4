// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/session_figures.hpp"

#include <algorithm>
#include <unordered_map>

#include "analysis/session/inherited_lines.hpp"
#include "analysis/session/session_data.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"

namespace gpufl::bench {
namespace {

class KernelRows final : public format::Visitor {
 public:
  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    count += batch.rows();
  }
  uint64_t count = 0;
};

// Kernels by whether their line is one of the user's file, as reports tell it.
void count_lines(const analysis::SessionData& session, std::string_view user_file,
                 SessionFigures& figures) {
  const analysis::InheritedLines lines(session);
  const analysis::Kernels& kernels = session.tables.kernels;
  std::unordered_map<uint32_t, bool> reaches_user;  // by stack
  for (size_t row = 0; row < kernels.rows(); ++row) {
    const analysis::InheritedLine line = lines.at(kernels, row);
    const auto [known, is_new] = reaches_user.try_emplace(line.stack, false);
    if (is_new) {
      const auto& frames = session.code.frames(line.stack);
      known->second = std::any_of(frames.begin(), frames.end(), [&](const auto& frame) {
        return frame.line > 0 && frame.file.ends_with(user_file);
      });
    }
    if (!known->second) continue;
    ++(line.inherited ? figures.at_inherited_line : figures.at_user_line);
  }
}

}  // namespace

bool SessionFigures::is_exact(uint64_t launches) const {
  return losses.empty() && kernels == launches && ledger.kernel_records == launches &&
         ledger.vendor_dropped == 0u && ledger.impossible_times == 0u &&
         ledger.graph_kernels_missing.value_or(0) == 0u;
}

base::Result<SessionFigures> read_session(const std::filesystem::path& logs,
                                          std::string_view user_file) {
  const auto sessions = format::find_sessions(logs);
  if (sessions.size() != 1) {
    return base::Status(
        base::Code::NotFound,
        logs.string() + " holds " + std::to_string(sessions.size()) + " sessions, not one");
  }
  const format::VerifyResult verified = format::verify_session(sessions[0]);
  if (verified.verdict == format::Verdict::Unreadable) return verified.status;
  SessionFigures figures;
  for (const std::string& reason : verified.reasons) figures.losses += reason + ' ';
  if (verified.ledger) figures.ledger = *verified.ledger;
  figures.raw_bytes = figures.ledger.writer.raw_bytes;

  const auto reader = format::SessionReader::open(sessions[0]);
  if (!reader) return reader.status();
  for (const format::WindowFile& window : reader->windows()) {
    if (window.channel == format::Channel::Device) figures.sealed_bytes += window.sealed_bytes;
  }
  KernelRows rows;
  reader->read(rows, {format::Kind::Kernel});
  figures.kernels = rows.count;
  if (user_file.empty()) return figures;
  const auto session = analysis::load(sessions[0]);
  if (!session) return session.status();
  count_lines(*session, user_file, figures);
  return figures;
}

}  // namespace gpufl::bench
