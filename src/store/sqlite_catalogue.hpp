// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "sqlite/database.hpp"
#include "store/catalogue.hpp"
#include "store/sqlite_health.hpp"

// The catalogue as tables of an SQLite file, which other programs may use meanwhile.
namespace gpufl::store {

// What becomes of a file that an older version has written.
enum class Schema : uint8_t {
  Update,  // it is made, or brought up to date: for whoever has the folder's lock
  Expect,  // it is left alone, and not opened: for programs beside a server
};

class SqliteCatalogue : public Catalogue {
 public:
  // TooNew: a later version has written it. Unavailable: an older one, which was expected not to.
  static base::Result<std::unique_ptr<SqliteCatalogue>> open(const std::filesystem::path& file,
                                                             Schema schema = Schema::Update);

  base::Status transact(const std::function<base::Status()>& work) override;
  base::Result<std::string> generation() override;
  base::Status renew_generation() override;
  base::Result<std::vector<Workspace>> workspaces() override;
  base::Result<int64_t> add_workspace(std::string_view name) override;
  base::Status set_quota(int64_t workspace, std::optional<uint64_t> bytes) override;
  base::Result<std::optional<StoredSession>> find_session(int64_t workspace,
                                                          std::string_view name) override;
  base::Result<int64_t> add_session(int64_t workspace, std::string_view name) override;
  base::Status set_deleted(int64_t session, bool is_deleted) override;
  base::Status set_pinned(int64_t session, bool is_pinned) override;
  base::Status set_ended(int64_t session) override;
  base::Status purge(int64_t session) override;
  base::Status add_bytes(int64_t session, int64_t bytes) override;
  base::Status each_session(const SessionVisitor& see) override;
  base::Status each_kept_session(int64_t workspace, const SessionVisitor& see) override;
  base::Result<std::vector<StoredSession>> newest_sessions(int64_t workspace, size_t most,
                                                           int64_t before) override;
  base::Result<std::optional<StoredWindow>> find_window(int64_t session, format::Channel channel,
                                                        uint64_t number) override;
  base::Status put_window(int64_t session, const StoredWindow& window) override;
  base::Result<std::optional<StoredFile>> find_file(int64_t session,
                                                    std::string_view kind) override;
  base::Status put_file(int64_t session, const StoredFile& file) override;
  base::Result<std::optional<StoredModule>> find_module(int64_t session,
                                                        std::string_view hash) override;
  base::Status put_module(int64_t session, const StoredModule& module) override;
  base::Result<std::vector<SharedModule>> shared_modules(int64_t workspace) override;
  base::Result<bool> has_shared_module(int64_t workspace, std::string_view sha256) override;
  base::Status add_shared_module(int64_t workspace, const SharedModule& module) override;
  base::Result<std::vector<SharedModule>> drop_unused_modules(int64_t workspace) override;
  base::Result<SessionContents> contents(int64_t session) override;
  base::Result<int64_t> set_aside(const SetAside& what) override;
  base::Result<std::vector<SetAside>> list_aside(int64_t workspace) override;
  base::Result<std::vector<SetAside>> list_aside_of(int64_t workspace,
                                                    std::string_view session) override;
  base::Status forget_aside(int64_t id) override;
  HealthRows& health() override { return health_; }

  // For what else is kept in the same file.
  sqlite::Database& database() { return *database_; }

 private:
  explicit SqliteCatalogue(std::unique_ptr<sqlite::Database> database)
      : database_(std::move(database)), health_(*database_) {}

  std::unique_ptr<sqlite::Database> database_;
  SqliteHealth health_;
};

}  // namespace gpufl::store
