// SPDX-License-Identifier: Apache-2.0
#include "bench/gpu/session_figures.hpp"

#include <unordered_map>
#include <utility>

#include "base/json.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"

namespace gpufl::bench {
namespace {

class KernelStacks final : public format::Visitor {
 public:
  explicit KernelStacks(std::string_view user_file) : user_file_(user_file) {}

  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    kernels += batch.rows();
    if (user_file_.empty()) return;
    for (size_t row = 0; row < batch.rows(); ++row) {
      const int64_t stack = batch.at(format::kernel_column::kStack, row);
      if (stack != 0) at_user_line += reaches_user(stack, dictionaries);
    }
  }

  uint64_t kernels = 0;
  uint64_t at_user_line = 0;

 private:
  bool reaches_user(int64_t stack, const format::Dictionaries& dictionaries) {
    const auto [known, is_new] = reaches_.try_emplace(stack, false);
    if (is_new) known->second = look_up(stack, dictionaries);
    return known->second;
  }

  bool look_up(int64_t stack, const format::Dictionaries& dictionaries) const {
    const auto value = base::Json::parse(dictionaries.get(format::Dict::Stack, stack, "{}"));
    if (!value) return false;
    for (const base::Json& id : (*value)["frames"].items()) {
      const auto frame =
          base::Json::parse(dictionaries.get(format::Dict::Frame, id.as_integer(), "{}"));
      if (!frame || (*frame)["line"].as_integer() <= 0) continue;
      const int64_t file = (*frame)["file"].as_integer();
      if (dictionaries.get(format::Dict::Text, file, "").ends_with(user_file_)) return true;
    }
    return false;
  }

  const std::string_view user_file_;
  std::unordered_map<int64_t, bool> reaches_;  // by stack
};

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
  KernelStacks rows(user_file);
  reader->read(rows, {format::Kind::Kernel});
  figures.kernels = rows.kernels;
  figures.at_user_line = rows.at_user_line;
  return figures;
}

}  // namespace gpufl::bench
