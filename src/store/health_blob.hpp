// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.hpp"
#include "store/health_series.hpp"

// The bytes of a blob of health: a device's readings of one hour at one level. What came of each
// window is a part of its own, which can be put in place again without counting anything twice.
namespace gpufl::store {

// A window of the `system` channel: number of its session in the catalogue, and its own.
using HealthSource = std::pair<int64_t, uint64_t>;
using HealthParts = std::map<HealthSource, HealthReadings>;

// More in one hour are left out, and counted.
inline constexpr size_t kMostHealthParts = 4096;

// Columns of variable-length integers, as differences, with runs of zeros as one: a reading that
// does not change costs next to nothing.
std::string encode_health(const HealthParts& parts);
// Corrupt: these are not the bytes of a blob, or not all of them.
base::Result<HealthParts> decode_health(std::string_view bytes);
// The same of a file. NotFound: there is none.
base::Result<HealthParts> read_health_blob(const std::filesystem::path& file);

}  // namespace gpufl::store
