// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "import/session_writer.hpp"

// A dump of a warpscope capture as a session of its own: one profiled launch, on a clock that
// begins with its first record. One thread; memory follows the file.
namespace gpufl::importing {

inline constexpr std::string_view kWarpscopeSource = "warpscope";

// Whether the file says so itself: it ends with the magic of a side block.
bool is_warpscope_dump(const std::filesystem::path& file);
// "warpscope", and the dialects that captures without a side block may be of.
std::vector<std::string> warpscope_sources();

// `source`: one of these; empty: "warpscope". A buffer that holds no record is refused, and one
// that is larger than ws::kMaxDumpBytes or than memory; whatever else is wrong with it is told in
// the session.
base::Result<WrittenSession> import_dump(const std::string& source, const SessionPlace& place,
                                         int64_t wall_ns);

}  // namespace gpufl::importing
