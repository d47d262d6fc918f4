// SPDX-License-Identifier: Apache-2.0
#include "agent/live_text.hpp"

#include <algorithm>

#include "base/sha256.hpp"
#include "format/limits.hpp"
#include "format/seal.hpp"

namespace gpufl::agent {
namespace {

constexpr uint64_t kPiece = uint64_t{1} << 20;

}  // namespace

void LiveText::add(std::string_view lines, std::string& out) const {
  std::string told;
  while (!lines.empty()) {
    const size_t end = lines.find('\n');
    if (end == std::string_view::npos) {
      if (!Redactor::is_secret_tail(lines)) out += lines;
      return;
    }
    if (redactor_->redact(lines.substr(0, end), told)) out.append(told) += '\n';
    lines.remove_prefix(end + 1);
  }
}

base::Result<LiveLines> LiveText::read(const LiveCursor& from, uint64_t size, bool is_dead) const {
  LiveLines lines{.text = {}, .next = from};
  std::string text;
  uint64_t bytes = 0;
  for (uint64_t wanted = kPiece; bytes < size - from.file; wanted *= 2) {
    bytes = std::min(size - from.file, wanted);
    text.resize(static_cast<size_t>(bytes));
    if (base::Status status = file_.read(from.file, text); !status) return status;
    if (is_dead && bytes == size - from.file) break;
    const size_t end = text.rfind('\n') + 1;
    text.resize(end);
    if (end > 0) break;
    if (bytes > format::kMaxLineBytes) {
      return base::Status(base::Code::LimitReached, "a line of it is longer than any of a log");
    }
  }
  lines.next.file += text.size();
  lines.is_final = is_dead && lines.next.file == size;
  if (redactor_ == nullptr) {
    lines.text = std::move(text);
  } else {
    add(text, lines.text);
  }
  lines.next.sent += lines.text.size();
  return lines;
}

base::Result<LiveCursor> LiveText::find(uint64_t sent) const {
  if (redactor_ == nullptr) return LiveCursor{sent, sent};
  LiveCursor at;
  std::string told;
  if (sent > 0) {
    format::read_window(file_.path(), [&](std::string_view line) {
      at.file += line.size() + 1;
      if (redactor_->redact(line, told)) at.sent += told.size() + 1;
      return at.sent < sent;
    });
  }
  if (at.sent == sent) return at;
  return base::Status(base::Code::NotFound, "no line begins there");
}

base::Result<std::string> LiveText::sha256(uint64_t size) const {
  if (redactor_ == nullptr) return file_.sha256(size);
  base::Sha256 hash;
  std::string told;
  const format::UnsealOutcome outcome =
      format::read_window(file_.path(), [&](std::string_view line) {
        if (redactor_->redact(line, told)) {
          hash.add(told);
          hash.add("\n");
        }
        return true;
      });
  if (!outcome.status) return outcome.status;
  if (!Redactor::is_secret_tail(outcome.tail)) hash.add(outcome.tail);
  return hash.finish();
}

}  // namespace gpufl::agent
