// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "format/schema.hpp"

namespace gpufl::format {

// One file of a session, or where one should be. Plain data.
struct WindowFile {
  Channel channel;
  uint64_t number = 0;  // window id within the channel
  std::filesystem::path path;
  enum class State : uint8_t { Sealed, Unsealed, Live, Missing, Deleted } state;
  // From the manifest, where it has a line for this window.
  uint64_t last_number = 0;  // of Deleted ones, which may be a range: inclusive
  bool in_manifest = false;
  uint64_t lines = 0, rows = 0, raw_bytes = 0, sealed_bytes = 0;
  int64_t first_ns = 0, last_ns = 0;
  std::string hash;
};

}  // namespace gpufl::format
