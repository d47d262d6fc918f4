// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "store/catalogue_types.hpp"
#include "store/health_rows.hpp"

// What a store has, without the bytes: sessions of workspaces, and of each its windows and files. A
// blob that is not in the catalogue was never acknowledged. One thread at a time.
namespace gpufl::store {

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
  // Restored: it has changed just now, so that it is not the first to expire again.
  virtual base::Status set_deleted(int64_t session, bool is_deleted) = 0;
  virtual base::Status set_pinned(int64_t session, bool is_pinned) = 0;
  virtual base::Status set_ended(int64_t session) = 0;
  // It counts as deleted, and everything else that is known of it goes.
  virtual base::Status purge(int64_t session) = 0;
  virtual base::Status add_bytes(int64_t session, int64_t bytes) = 0;
  using SessionVisitor = std::function<void(const StoredSession&)>;
  virtual base::Status each_session(const SessionVisitor& see) = 0;
  // Of a workspace, those of which something is left.
  virtual base::Status each_kept_session(int64_t workspace, const SessionVisitor& see) = 0;
  // Of a workspace, newest first, at most as many; `before`: with smaller numbers, or 0.
  virtual base::Result<std::vector<StoredSession>> newest_sessions(int64_t workspace, size_t most,
                                                                   int64_t before) = 0;

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

  virtual HealthRows& health() = 0;
};

}  // namespace gpufl::store
