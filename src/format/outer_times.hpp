// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace gpufl::format {

struct OuterTimes {
  int64_t first_ns = 0, last_ns = 0;
};

// About when the rows of a file begin and end that is not sealed: of its first batch and of those
// near its end, so it reads some megabytes whatever the size. Nothing: no batch there has a time.
std::optional<OuterTimes> outer_times(const std::filesystem::path& unsealed_file);

}  // namespace gpufl::format
