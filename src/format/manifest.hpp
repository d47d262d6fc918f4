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
// purpose, or for a range of those. Written by LogArchive; read by SessionReader.
namespace gpufl::format {

inline constexpr const char* kManifestName = "manifest.ndjson";

struct ManifestEntry {
  enum class Event : uint8_t { Sealed, Deleted };
  Event event = Event::Sealed;
  Channel channel = Channel::System;
  uint64_t window = 0;
  SealedWindow sealed;       // of a Deleted entry `rows`, and the times where they are known
  std::string reason;        // of a Deleted entry: "keep_last", "spool_full"; "several" of a range
  uint64_t last_window = 0;  // of a Deleted entry: a range ends here; 0: it is one window
  uint64_t pauses = 0;       // of a Deleted entry: `log_paused` events that went with it

  uint64_t end() const { return last_window > window ? last_window : window; }  // inclusive

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

// The same account in fewer entries: what is deleted loses its Sealed entry, and neighbours that
// are deleted become one range, with the sum of their rows and all of their times.
std::vector<ManifestEntry> compacted(const std::vector<ManifestEntry>& entries);

}  // namespace gpufl::format
