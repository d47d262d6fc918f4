// SPDX-License-Identifier: Apache-2.0
#include "index/build_index.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "format/limits.hpp"

namespace gpufl::index {
namespace {

std::string out_of_time(const std::filesystem::path& file, const ReadLimits& limits) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(limits.time).count();
  return file.string() + " took longer than " + std::to_string(seconds) +
         " s to read; what comes after is not shown";
}

}  // namespace

base::Status read_lines(const std::filesystem::path& file, const ReadLimits& limits,
                        const std::function<bool()>& is_cancelled, IndexBuilder& builder,
                        ReadProgress& progress) {
  std::error_code error;
  const uint64_t file_bytes = std::filesystem::file_size(file, error);
  if (error) return base::Status::from_errno(error.value(), file.string());
  const uint64_t by_ratio = std::max(limits.ratio_from_bytes, file_bytes * limits.ratio);
  const uint64_t most = std::min(limits.text_bytes, by_ratio);
  base::Status status;
  const format::LinePlace from = progress.next;
  const uint64_t text_before = progress.text_bytes;
  const auto began = limits.clock();
  uint64_t taken = 0;  // text of lines
  const auto outcome = format::read_placed_lines(
      file, from,
      [&](std::string_view line, const format::LinePlace& place) {
        builder.add_line(line, place);
        // Where it is stopped, the text at hand has been counted and not been split into lines.
        progress.next = {place.frame, place.skip + line.size() + 1};
        taken += line.size() + 1;
        return true;
      },
      format::kMaxLineBytes,
      [&](uint64_t text_bytes) {
        const uint64_t text = text_before + text_bytes - std::min(text_bytes, from.skip);
        progress.text_bytes = text;
        if (text > most || builder.rows() > limits.rows || builder.is_full()) {
          status = {base::Code::LimitReached, file.string() + " holds more than a window may"};
        } else if (is_cancelled && is_cancelled()) {
          status = {base::Code::Cancelled, "indexing was cancelled"};
        } else if (limits.clock() - began > limits.time) {
          progress.is_out_of_time = true;
          status = {base::Code::LimitReached, out_of_time(file, limits)};
        }
        return status.is_ok();
      });
  if (!status) {
    progress.text_bytes = text_before + taken;
    return status;
  }
  progress.next = outcome.end;
  if (outcome.status.code() == base::Code::LimitReached) {
    return {base::Code::Unavailable, outcome.status.message()};  // memory, not the window
  }
  return outcome.status;
}

}  // namespace gpufl::index
