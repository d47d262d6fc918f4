// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sqlite/database.hpp"
#include "store/health_rows.hpp"

// Health's tables of a catalogue in SQLite.
namespace gpufl::store {

class SqliteHealth : public HealthRows {
 public:
  explicit SqliteHealth(sqlite::Database& database) : database_(database) {}

  base::Result<std::vector<HealthDevice>> devices(int64_t workspace) override;
  base::Result<std::optional<HealthDevice>> find_device(int64_t workspace, std::string_view host,
                                                        std::string_view uuid) override;
  base::Result<std::optional<HealthDevice>> find_device(int64_t workspace, int64_t id) override;
  base::Result<uint64_t> count_devices(int64_t workspace) override;
  base::Result<int64_t> add_device(const HealthDevice& device) override;
  base::Status touch_device(const HealthDevice& device) override;
  base::Status drop_unused_devices(int64_t workspace, int64_t before_ms) override;
  base::Result<std::optional<HealthBlob>> find_blob(int64_t device, int64_t level_s,
                                                    int64_t hour) override;
  base::Result<std::vector<HealthBlob>> blobs(int64_t device, int64_t level_s, int64_t from,
                                              int64_t to) override;
  base::Status put_blob(const HealthBlob& blob) override;
  base::Status drop_blob(const HealthBlob& blob) override;
  base::Result<std::vector<HealthBlob>> blobs_before(int64_t workspace, int64_t level_s,
                                                     int64_t hour, size_t most) override;
  base::Status each_blob(int64_t workspace, const BlobVisitor& see) override;
  base::Result<std::vector<UnpackedWindow>> unpacked(int64_t after_session, uint64_t after_number,
                                                     size_t most) override;
  base::Result<std::optional<UnpackedWindow>> find_unpacked(int64_t session,
                                                            uint64_t number) override;
  base::Status set_packed(int64_t session, const StoredWindow& window) override;
  base::Result<std::vector<HealthPlace>> places(int64_t session, uint64_t number) override;
  base::Status set_places(int64_t session, uint64_t number,
                          const std::vector<HealthPlace>& places) override;

 private:
  base::Result<std::vector<HealthDevice>> find(std::string_view where, sqlite::Values values);

  sqlite::Database& database_;
};

}  // namespace gpufl::store
