// SPDX-License-Identifier: Apache-2.0
#include "format/outer_times.hpp"

#include <algorithm>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

#include "format/batch_codec.hpp"
#include "format/schema.hpp"

namespace gpufl::format {
namespace {

constexpr uint64_t kLookAtBytes = uint64_t{4} << 20;

std::string read_bytes(const std::filesystem::path& file, uint64_t from, uint64_t count) {
  std::ifstream in(file, std::ios::binary);
  in.seekg(static_cast<std::streamoff>(from));
  std::string text(count, '\0');
  in.read(text.data(), static_cast<std::streamsize>(count));
  text.resize(static_cast<size_t>(std::max<std::streamsize>(in.gcount(), 0)));
  return text;
}

// Of the rows in whole lines; a line without its beginning is no batch.
void include_rows(std::string_view text, bool is_first_enough, std::optional<OuterTimes>& times) {
  BatchCodec codec;
  for (size_t end = 0; (end = text.find('\n')) != std::string_view::npos;) {
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    const KindSpec* const kind = find_kind(line_type(line));
    if (kind == nullptr || !kind->is_batch()) continue;
    const size_t time = first_time(*kind);
    Batch batch(kind->kind);
    if (time == kNoColumn || !codec.decode(line, batch) || batch.empty() || !batch.has(time)) {
      continue;
    }
    const auto [least, most] =
        std::minmax_element(batch.column(time).begin(), batch.column(time).end());
    if (!times) times = OuterTimes{*least, *most};
    times->first_ns = std::min(times->first_ns, *least);
    times->last_ns = std::max(times->last_ns, *most);
    if (is_first_enough) return;
  }
}

}  // namespace

std::optional<OuterTimes> outer_times(const std::filesystem::path& unsealed_file) {
  std::error_code error;
  const uint64_t size = std::filesystem::file_size(unsealed_file, error);
  if (error) return {};
  std::optional<OuterTimes> times;
  const uint64_t part = std::min(size, kLookAtBytes);
  include_rows(read_bytes(unsealed_file, 0, part), true, times);
  include_rows(read_bytes(unsealed_file, size - part, part), false, times);
  return times;
}

}  // namespace gpufl::format
