// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"

// Durations and sizes as people type them on a command line. Pure functions; any thread.
namespace gpufl::text {

// "500ms", "10s", "1.5h", "2d"; a bare number is seconds. Also us and ns. Never negative, and
// ten years at most.
base::Result<int64_t> parse_duration_ns(std::string_view text);

// "512M", "8G", "1.5T", also written MB or MiB: always powers of 1024. Only 0 goes without a unit.
// 1 PiB at most.
base::Result<uint64_t> parse_bytes(std::string_view text);

// The shortest text that reads back as the same duration: "250ms", "10s", "90s", "5m", "1h".
std::string typed_duration(int64_t duration_ns);

}  // namespace gpufl::text
