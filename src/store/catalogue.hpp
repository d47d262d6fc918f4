// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "format/schema.hpp"

// What a store has, without the bytes: sessions of workspaces, and of each its windows and files. A
// blob that is not in the catalogue was never acknowledged. One thread at a time.
namespace gpufl::store {

// What is not kept for ever. Sessions that are pinned, or being recorded, always are.
struct Retention {
  std::optional<int64_t> keep_days;    // since something of a session came last; none: for ever
  std::optional<uint64_t> keep_bytes;  // of a workspace: beyond, the oldest go
  int64_t deleted_days = 30;           // until a session that was deleted cannot come back

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

class Catalogue {
 public:
  Catalogue() = default;
  virtual ~Catalogue() = default;
  Catalogue(const Catalogue&) = delete;
  Catalogue& operator=(const Catalogue&) = delete;

  // All that `work` does outlives a loss of power once this returns ok; otherwise nothing of it has
  // happened. LimitReached: the disk is full.
  virtual base::Status transact(const std::function<base::Status()>& work) = 0;

  // Another one for each store, and after it was restored: who has sent something asks again.
  virtual base::Result<std::string> generation() = 0;
  virtual base::Status renew_generation() = 0;

  virtual base::Result<std::vector<Workspace>> workspaces() = 0;
  // InvalidArgument: there is one of that name.
  virtual base::Result<int64_t> add_workspace(std::string_view name) = 0;
  virtual base::Status set_quota(int64_t workspace, std::optional<uint64_t> bytes) = 0;
  // Those that are deleted too.
  virtual base::Result<std::optional<StoredSession>> find_session(int64_t workspace,
                                                                  std::string_view name) = 0;
  virtual base::Result<int64_t> add_session(int64_t workspace, std::string_view name) = 0;
  virtual base::Status set_deleted(int64_t session, bool is_deleted) = 0;
  virtual base::Status set_pinned(int64_t session, bool is_pinned) = 0;
  // It counts as deleted, and everything else that is known of it goes.
  virtual base::Status purge(int64_t session) = 0;
  virtual base::Status add_bytes(int64_t session, int64_t bytes) = 0;
  using SessionVisitor = std::function<void(const StoredSession&)>;
  virtual base::Status each_session(const SessionVisitor& see) = 0;

  virtual base::Result<std::optional<StoredWindow>> find_window(int64_t session,
                                                                format::Channel channel,
                                                                uint64_t number) = 0;
  virtual base::Status put_window(int64_t session, const StoredWindow& window) = 0;
  virtual base::Result<std::optional<StoredFile>> find_file(int64_t session,
                                                            std::string_view kind) = 0;
  virtual base::Status put_file(int64_t session, const StoredFile& file) = 0;
  virtual base::Result<std::optional<StoredModule>> find_module(int64_t session,
                                                                std::string_view hash) = 0;
  virtual base::Status put_module(int64_t session, const StoredModule& module) = 0;
  virtual base::Result<std::vector<SharedModule>> shared_modules(int64_t workspace) = 0;
  virtual base::Result<bool> has_shared_module(int64_t workspace, std::string_view sha256) = 0;
  virtual base::Status add_shared_module(int64_t workspace, const SharedModule& module) = 0;
  // Those that no session has any more; they are forgotten.
  virtual base::Result<std::vector<SharedModule>> drop_unused_modules(int64_t workspace) = 0;
  virtual base::Result<SessionContents> contents(int64_t session) = 0;

  // What is there already is not added again; its number then.
  virtual base::Result<int64_t> set_aside(const SetAside& what) = 0;
  // Newest first.
  virtual base::Result<std::vector<SetAside>> list_aside(int64_t workspace) = 0;
  virtual base::Result<std::vector<SetAside>> list_aside_of(int64_t workspace,
                                                            std::string_view session) = 0;
  virtual base::Status forget_aside(int64_t id) = 0;
};

}  // namespace gpufl::store
