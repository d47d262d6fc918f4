// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite_health.hpp"

#include <string>
#include <utility>

#include "format/schema.hpp"

namespace gpufl::store {
namespace {

using base::Status;
using sqlite::Row;

HealthDevice device_in(const Row& row) {
  return {.id = row.integer(0),
          .workspace = row.integer(1),
          .host = std::string(row.text(2)),
          .uuid = std::string(row.text(3)),
          .name = std::string(row.text(4)),
          .seen_ms = row.integer(5),
          .last_ms = row.integer(6)};
}

constexpr const char* kBlobColumns =
    "SELECT device, level_s, hour, version, health.bytes FROM health";

HealthBlob blob_in(const Row& row) {
  return {.device = row.integer(0),
          .level_s = row.integer(1),
          .hour = row.integer(2),
          .version = row.integer(3),
          .bytes = static_cast<uint64_t>(row.integer(4))};
}

constexpr const char* kUnpacked =
    "SELECT sessions.workspace, windows.session, number, state, sha256, windows.bytes FROM windows "
    "JOIN sessions ON sessions.id = windows.session WHERE channel = 'system' AND is_packed = 0 AND "
    "is_deleted = 0 AND ";

UnpackedWindow unpacked_in(const Row& row) {
  return {.workspace = row.integer(0),
          .session = row.integer(1),
          .window = {.channel = format::Channel::System,
                     .number = static_cast<uint64_t>(row.integer(2)),
                     .state = static_cast<WindowState>(row.integer(3)),
                     .sha256 = std::string(row.text(4)),
                     .bytes = static_cast<uint64_t>(row.integer(5))}};
}

template <typename T>
base::Result<std::optional<T>> first_of(base::Result<std::vector<T>> found) {
  if (!found) return found.status();
  return found->empty() ? std::optional<T>() : std::optional<T>(std::move(found->front()));
}

}  // namespace

base::Result<std::vector<HealthDevice>> SqliteHealth::find(std::string_view where,
                                                           sqlite::Values values) {
  std::vector<HealthDevice> found;
  const Status asked = database_.query(
      "SELECT id, workspace, host, uuid, name, seen_ms, last_ms FROM devices WHERE workspace = ?" +
          std::string(where),
      values, [&](const Row& row) { found.push_back(device_in(row)); });
  if (!asked) return asked;
  return found;
}

base::Result<std::vector<HealthDevice>> SqliteHealth::devices(int64_t workspace) {
  return find(" ORDER BY host, uuid", {workspace});
}

base::Result<std::optional<HealthDevice>> SqliteHealth::find_device(int64_t workspace,
                                                                    std::string_view host,
                                                                    std::string_view uuid) {
  return first_of(find(" AND host = ? AND uuid = ?", {workspace, host, uuid}));
}

base::Result<std::optional<HealthDevice>> SqliteHealth::find_device(int64_t workspace, int64_t id) {
  return first_of(find(" AND id = ?", {workspace, id}));
}

base::Result<uint64_t> SqliteHealth::count_devices(int64_t workspace) {
  uint64_t count = 0;
  const Status asked =
      database_.query("SELECT count(*) FROM devices WHERE workspace = ?", {workspace},
                      [&](const Row& row) { count = static_cast<uint64_t>(row.integer(0, 0)); });
  if (!asked) return asked;
  return count;
}

base::Result<int64_t> SqliteHealth::add_device(const HealthDevice& device) {
  const Status added = database_.run(
      "INSERT INTO devices (workspace, host, uuid, name, seen_ms, last_ms) VALUES (?, ?, ?, ?, ?, "
      "?)",
      {device.workspace, device.host, device.uuid, device.name, device.seen_ms, device.last_ms});
  if (!added) return added;
  return database_.last_insert_id();
}

Status SqliteHealth::touch_device(const HealthDevice& device) {
  return database_.run(
      "UPDATE devices SET name = ?, seen_ms = max(seen_ms, ?), last_ms = max(last_ms, ?) WHERE id "
      "= ?",
      {device.name, device.seen_ms, device.last_ms, device.id});
}

Status SqliteHealth::drop_unused_devices(int64_t workspace, int64_t before_ms) {
  return database_.run(
      "DELETE FROM devices WHERE workspace = ? AND seen_ms < ? AND NOT EXISTS (SELECT 1 FROM "
      "health WHERE device = devices.id)",
      {workspace, before_ms});
}

base::Result<std::optional<HealthBlob>> SqliteHealth::find_blob(int64_t device, int64_t level_s,
                                                                int64_t hour) {
  return first_of(blobs(device, level_s, hour, hour + 1));
}

base::Result<std::vector<HealthBlob>> SqliteHealth::blobs(int64_t device, int64_t level_s,
                                                          int64_t from, int64_t to) {
  std::vector<HealthBlob> found;
  const Status asked = database_.query(
      std::string(kBlobColumns) +
          " WHERE device = ? AND level_s = ? AND hour >= ? AND hour < ? ORDER BY hour",
      {device, level_s, from, to}, [&](const Row& row) { found.push_back(blob_in(row)); });
  if (!asked) return asked;
  return found;
}

Status SqliteHealth::put_blob(const HealthBlob& blob) {
  return database_.run(
      "INSERT OR REPLACE INTO health (device, level_s, hour, version, bytes) VALUES (?, ?, ?, ?, "
      "?)",
      {blob.device, blob.level_s, blob.hour, blob.version, static_cast<int64_t>(blob.bytes)});
}

Status SqliteHealth::drop_blob(const HealthBlob& blob) {
  return database_.run("DELETE FROM health WHERE device = ? AND level_s = ? AND hour = ?",
                       {blob.device, blob.level_s, blob.hour});
}

base::Result<std::vector<HealthBlob>> SqliteHealth::blobs_before(int64_t workspace, int64_t level_s,
                                                                 int64_t hour, size_t most) {
  std::vector<HealthBlob> found;
  const Status asked = database_.query(
      std::string(kBlobColumns) +
          " JOIN devices ON devices.id = health.device WHERE level_s = ? AND hour < ? AND "
          "workspace = ? LIMIT ?",
      {level_s, hour, workspace, static_cast<int64_t>(most)},
      [&](const Row& row) { found.push_back(blob_in(row)); });
  if (!asked) return asked;
  return found;
}

Status SqliteHealth::each_blob(int64_t workspace, const BlobVisitor& see) {
  return database_.query(
      std::string(kBlobColumns) + " JOIN devices ON devices.id = health.device WHERE workspace = ?",
      {workspace}, [&](const Row& row) { see(blob_in(row)); });
}

base::Result<std::vector<UnpackedWindow>> SqliteHealth::unpacked(int64_t after_session,
                                                                 uint64_t after_number,
                                                                 size_t most) {
  std::vector<UnpackedWindow> found;
  const Status asked = database_.query(
      std::string(kUnpacked) +
          "(windows.session, number) > (?, ?) ORDER BY windows.session, number LIMIT ?",
      {after_session, static_cast<int64_t>(after_number), static_cast<int64_t>(most)},
      [&](const Row& row) { found.push_back(unpacked_in(row)); });
  if (!asked) return asked;
  return found;
}

base::Result<std::optional<UnpackedWindow>> SqliteHealth::find_unpacked(int64_t session,
                                                                        uint64_t number) {
  std::optional<UnpackedWindow> found;
  const Status asked = database_.query(
      std::string(kUnpacked) + "windows.session = ? AND number = ?",
      {session, static_cast<int64_t>(number)}, [&](const Row& row) { found = unpacked_in(row); });
  if (!asked) return asked;
  return found;
}

Status SqliteHealth::set_packed(int64_t session, const StoredWindow& window) {
  return database_.run(
      "UPDATE windows SET is_packed = 1 WHERE session = ? AND channel = ? AND number = ? AND state "
      "= ? AND sha256 = ?",
      {session, format::to_string(window.channel), static_cast<int64_t>(window.number),
       static_cast<int64_t>(window.state), window.sha256});
}

base::Result<std::vector<HealthPlace>> SqliteHealth::places(int64_t session, uint64_t number) {
  std::vector<HealthPlace> found;
  const Status asked =
      database_.query("SELECT device, hour FROM health_places WHERE session = ? AND number = ?",
                      {session, static_cast<int64_t>(number)},
                      [&](const Row& row) { found.push_back({row.integer(0), row.integer(1)}); });
  if (!asked) return asked;
  return found;
}

Status SqliteHealth::set_places(int64_t session, uint64_t number,
                                const std::vector<HealthPlace>& places) {
  Status done = database_.run("DELETE FROM health_places WHERE session = ? AND number = ?",
                              {session, static_cast<int64_t>(number)});
  for (size_t i = 0; done && i < places.size(); ++i) {
    done = database_.run("INSERT INTO health_places VALUES (?, ?, ?, ?)",
                         {session, static_cast<int64_t>(number), places[i].device, places[i].hour});
  }
  return done;
}

}  // namespace gpufl::store
