// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/schema.hpp"
#include "store/health_series.hpp"

// What a catalogue tells of workspaces, sessions and what belongs to them. Plain data.
namespace gpufl::store {

// What is not kept for ever. Sessions that are pinned, or being recorded, always are.
struct Retention {
  std::optional<int64_t> keep_days;    // since something of a session came last; none: for ever
  std::optional<uint64_t> keep_bytes;  // of a workspace: beyond, the oldest go
  int64_t deleted_days = 30;           // until a session that was deleted cannot come back
  // Of readings of GPUs, by level; 0: that level is not kept.
  std::array<int64_t, kHealthLevels> health_days = {7, 30, 90, 365, 1825};

  bool operator==(const Retention&) const = default;
};

struct Workspace {
  int64_t id = 0;
  std::string name;
  std::optional<uint64_t> quota_bytes;  // none: as much as fits on the disk
  Retention retention;
};

struct StoredSession {
  int64_t id = 0;
  int64_t workspace = 0;
  std::string name;  // the id that its recorder gave it
  bool is_deleted = false;
  uint64_t bytes = 0;  // of everything in it but live lines and modules
  bool is_pinned = false;
  bool is_purged = false;  // deleted, and nothing of it is left but that
  int64_t changed_ms = 0;  // when something of it came last
  int64_t deleted_ms = 0;  // 0: it is not deleted
  bool has_ended = false;  // its end has come, and lines that come late change nothing of that
};

enum class WindowState : uint8_t {
  Sealed,  // the file of the recorder
  Live,    // lines, and more may come
  Final,   // lines of a recorder that died: no more will come
};
std::string_view to_string(WindowState state);  // "sealed"

struct StoredWindow {
  format::Channel channel = format::Channel::Device;
  uint64_t number = 0;
  WindowState state = WindowState::Sealed;
  std::string sha256;  // of a sealed file, or of a final text; empty of live lines
  uint64_t bytes = 0;  // of a sealed file; of lines the blob's own length counts
};

// A file of a session that is replaced as a whole.
struct StoredFile {
  std::string kind;
  uint64_t version = 0;  // the sender's: a larger one replaces it
  std::string sha256;
  uint64_t bytes = 0;
};

struct SetAside {
  int64_t id = 0;
  int64_t workspace = 0;
  std::string session, what;  // "window device 3"
  std::string sha256;
  std::string reason;
  std::string sender;
  uint64_t bytes = 0;
  int64_t arrived_ms = 0;
};

// An image of GPU code. Whoever made it chose the hash, so images are the same by their SHA-256.
struct StoredModule {
  std::string hash;
  std::string sha256;  // empty: an older version did not note it
};

// The image that sessions of a workspace share.
struct SharedModule {
  std::string sha256;
  uint64_t bytes = 0;
};

struct SessionContents {
  std::vector<StoredWindow> windows;
  std::vector<StoredFile> files;
  std::vector<StoredModule> modules;
};

}  // namespace gpufl::store
