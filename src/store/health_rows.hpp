// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"
#include "store/catalogue_types.hpp"

// What the catalogue tells of health: GPUs, their blobs, and which windows are packed. One thread
// at a time, within the catalogue's transactions.
namespace gpufl::store {

struct HealthDevice {
  int64_t id = 0;
  int64_t workspace = 0;
  std::string host, uuid, name;
  int64_t seen_ms = 0;  // when something of it came last
  int64_t last_ms = 0;  // its newest reading, by its own machine's clock; 0: none
};

struct HealthBlob {
  int64_t device = 0;
  int64_t level_s = 0;
  int64_t hour = 0;     // since 1970
  int64_t version = 0;  // a blob never changes; its successor has the next number
  uint64_t bytes = 0;
};

// A window of the `system` channel whose readings are not in blobs, or not all of them.
struct UnpackedWindow {
  int64_t workspace = 0;
  int64_t session = 0;
  StoredWindow window;
};

// Hours of a device that have readings of a window which is still being written: where it is
// packed again, they are replaced.
struct HealthPlace {
  int64_t device = 0;
  int64_t hour = 0;

  auto operator<=>(const HealthPlace&) const = default;
};

class HealthRows {
 public:
  HealthRows() = default;
  virtual ~HealthRows() = default;
  HealthRows(const HealthRows&) = delete;
  HealthRows& operator=(const HealthRows&) = delete;

  virtual base::Result<std::vector<HealthDevice>> devices(int64_t workspace) = 0;
  virtual base::Result<std::optional<HealthDevice>> find_device(int64_t workspace,
                                                                std::string_view host,
                                                                std::string_view uuid) = 0;
  virtual base::Result<std::optional<HealthDevice>> find_device(int64_t workspace, int64_t id) = 0;
  virtual base::Result<uint64_t> count_devices(int64_t workspace) = 0;
  // Its number.
  virtual base::Result<int64_t> add_device(const HealthDevice& device) = 0;
  // That something of it came, and its newest reading where that is newer.
  virtual base::Status touch_device(const HealthDevice& device) = 0;
  // Those without blobs of which nothing came since then.
  virtual base::Status drop_unused_devices(int64_t workspace, int64_t before_ms) = 0;

  virtual base::Result<std::optional<HealthBlob>> find_blob(int64_t device, int64_t level_s,
                                                            int64_t hour) = 0;
  // Those of hours from the one to before the other.
  virtual base::Result<std::vector<HealthBlob>> blobs(int64_t device, int64_t level_s, int64_t from,
                                                      int64_t to) = 0;
  // In the place of the one with the same device, level and hour.
  virtual base::Status put_blob(const HealthBlob& blob) = 0;
  virtual base::Status drop_blob(const HealthBlob& blob) = 0;
  // Of hours before that one, at most as many.
  virtual base::Result<std::vector<HealthBlob>> blobs_before(int64_t workspace, int64_t level_s,
                                                             int64_t hour, size_t most) = 0;
  using BlobVisitor = std::function<void(const HealthBlob& blob)>;
  virtual base::Status each_blob(int64_t workspace, const BlobVisitor& see) = 0;

  // In order of session and number, behind those two; not those of deleted sessions.
  virtual base::Result<std::vector<UnpackedWindow>> unpacked(int64_t after_session,
                                                             uint64_t after_number,
                                                             size_t most) = 0;
  virtual base::Result<std::optional<UnpackedWindow>> find_unpacked(int64_t session,
                                                                    uint64_t number) = 0;
  // Where the window is still the same.
  virtual base::Status set_packed(int64_t session, const StoredWindow& window) = 0;
  virtual base::Result<std::vector<HealthPlace>> places(int64_t session, uint64_t number) = 0;
  // Empty: they need not be known any more.
  virtual base::Status set_places(int64_t session, uint64_t number,
                                  const std::vector<HealthPlace>& places) = 0;
};

}  // namespace gpufl::store
