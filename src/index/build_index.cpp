// SPDX-License-Identifier: Apache-2.0
#include "index/build_index.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "format/limits.hpp"

namespace gpufl::index {

base::Status read_lines(const std::filesystem::path& file, const ReadLimits& limits,
                        const std::function<bool()>& is_cancelled, IndexBuilder& builder,
                        ReadProgress& progress) {
  std::error_code error;
  const uint64_t file_bytes = std::filesystem::file_size(file, error);
  if (error) return base::Status::from_errno(error.value(), file.string());
  const uint64_t by_ratio = std::max(limits.ratio_from_bytes, file_bytes * limits.ratio);
  const uint64_t most = std::min(limits.text_bytes, by_ratio);
  base::Status status;
  const uint64_t text_before = progress.text_bytes;
  const auto outcome = format::read_placed_lines(
      file, progress.next,
      [&](std::string_view line, const format::LinePlace& place) {
        builder.add_line(line, place);
        return true;
      },
      format::kMaxLineBytes,
      [&](uint64_t text_bytes) {
        progress.text_bytes = text_before + text_bytes;
        if (progress.text_bytes > most || builder.rows() > limits.rows || builder.is_full()) {
          status = {base::Code::LimitReached, file.string() + " holds more than a window may"};
        } else if (is_cancelled && is_cancelled()) {
          status = {base::Code::Cancelled, "indexing was cancelled"};
        }
        return status.is_ok();
      });
  if (!status) return status;
  progress.next = outcome.end;
  if (outcome.status.code() == base::Code::LimitReached) {
    return {base::Code::Unavailable, outcome.status.message()};  // memory, not the window
  }
  return outcome.status;
}

}  // namespace gpufl::index
