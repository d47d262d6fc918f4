// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include "sqlite/database.hpp"
#include "store/catalogue.hpp"

// The catalogue as tables of an SQLite file, which other programs may use meanwhile.
namespace gpufl::store {

class SqliteCatalogue : public Catalogue {
 public:
  // Made where it does not exist, brought up to date where it is older. TooNew: it is newer.
  static base::Result<std::unique_ptr<SqliteCatalogue>> open(const std::filesystem::path& file);

  base::Status transact(const std::function<base::Status()>& work) override;
  base::Result<std::vector<Workspace>> workspaces() override;
  base::Result<int64_t> add_workspace(std::string_view name) override;
  base::Status set_quota(int64_t workspace, std::optional<uint64_t> bytes) override;
  base::Result<uint64_t> bytes_of(int64_t workspace) override;
  base::Result<std::optional<StoredSession>> find_session(int64_t workspace,
                                                          std::string_view name) override;
  base::Result<int64_t> add_session(int64_t workspace, std::string_view name) override;
  base::Status set_deleted(int64_t session, bool is_deleted) override;
  base::Status add_bytes(int64_t session, int64_t bytes) override;
  base::Status each_session(const SessionVisitor& see) override;
  base::Result<std::optional<StoredWindow>> find_window(int64_t session, format::Channel channel,
                                                        uint64_t number) override;
  base::Status put_window(int64_t session, const StoredWindow& window) override;
  base::Result<std::optional<StoredFile>> find_file(int64_t session,
                                                    std::string_view kind) override;
  base::Status put_file(int64_t session, const StoredFile& file) override;
  base::Result<bool> has_module(int64_t session, std::string_view hash) override;
  base::Status add_module(int64_t session, std::string_view hash) override;
  base::Result<SessionContents> contents(int64_t session) override;
  base::Result<int64_t> set_aside(const SetAside& what) override;
  base::Result<std::vector<SetAside>> list_aside(int64_t workspace) override;
  base::Status forget_aside(int64_t id) override;

  // For what else is kept in the same file.
  sqlite::Database& database() { return *database_; }

 private:
  explicit SqliteCatalogue(std::unique_ptr<sqlite::Database> database)
      : database_(std::move(database)) {}

  std::unique_ptr<sqlite::Database> database_;
};

}  // namespace gpufl::store
