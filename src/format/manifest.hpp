// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"
#include "format/schema.hpp"
#include "format/seal.hpp"

// manifest.ndjson: one line for each window that was sealed, and one for each that was deleted on
// purpose. Appended by the writer's sealing thread; read by SessionReader.
namespace gpufl::format {

inline constexpr const char* kManifestName = "manifest.ndjson";

struct ManifestEntry {
  enum class Event : uint8_t { Sealed, Deleted };
  Event event = Event::Sealed;
  Channel channel = Channel::System;
  uint64_t window = 0;
  SealedWindow sealed;  // of a Deleted entry only `rows`: those that are gone
  std::string reason;   // of a Deleted entry: "keep_last", "spool_full"

  std::string to_line() const;  // with its newline
  // Nothing when the line is of another kind or lacks what an entry needs.
  static std::optional<ManifestEntry> from_json(const base::Json& line);
};

struct Manifest {
  std::vector<ManifestEntry> entries;  // in file order
  std::optional<base::Json> session_line;
  uint64_t bad_lines = 0;      // not JSON, or an entry without what it needs
  uint64_t unknown_lines = 0;  // of a kind that this version does not know
  bool torn = false;
  base::Status status;  // NotFound, or why reading stopped early
};
Manifest read_manifest(const std::filesystem::path& file);

}  // namespace gpufl::format
