// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/math/intervals.hpp"
#include "format/window_file.hpp"

// Which part of a session fits into memory, from what its manifest says of its windows, and from
// the ends of those that are not sealed: rows of one are taken to be spread evenly over its time.
namespace gpufl::analysis {

// From when on the session has about `most_rows` rows, up to its end; none: it has no more.
std::optional<Interval> last_part(const std::vector<format::WindowFile>& windows,
                                  uint64_t most_rows);

}  // namespace gpufl::analysis
