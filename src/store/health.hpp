// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "store/admission.hpp"
#include "store/blob_store.hpp"
#include "store/catalogue.hpp"
#include "store/health_blob.hpp"
#include "store/health_window.hpp"

// Packs readings of GPUs from windows that were acknowledged, and answers from what is packed. A
// thread of its own works behind what arrives, and rests as long as it works: nobody waits for it.
// What a kill leaves undone is done after the next start. Any thread.
namespace gpufl::store {

struct HealthLimits {
  std::chrono::milliseconds pace{1'000};
  std::chrono::milliseconds live_pace{30'000};  // of a window that is being written
  std::chrono::milliseconds patience{30'000};   // after something failed
  std::chrono::milliseconds retention_pace{600'000};
  size_t waiting = 65'536;     // windows; beyond, they are looked for in the catalogue
  uint64_t devices = 100'000;  // of a workspace; readings of others are dropped
  WindowBounds window = {};
};

struct HealthCounts {
  uint64_t windows = 0, readings = 0;  // packed, those of live windows each time
  uint64_t dropped = 0;                // readings that were not
  uint64_t blobs = 0, bytes = 0;       // written
  uint64_t failures = 0;               // windows that were tried in vain
};

struct HealthQuestion {
  int64_t workspace = 0, device = 0;
  int64_t from_s = 0, to_s = 0;      // since 1970
  size_t points = 0;                 // of a series, at the most
  std::vector<std::string> metrics;  // empty: all
  int64_t now_s = 0;
};

struct HealthAnswer {
  HealthDevice device;
  int64_t level_s = 0;  // from which blobs
  int64_t from_s = 0;   // where the first bucket begins
  int64_t step_s = 0;   // how long each is
  HealthReadings series;
  uint64_t left_out = 0;  // series beyond the bound
};

class Health {
 public:
  // All of these outlive it; `mutex` guards the catalogue and the blobs.
  Health(std::mutex& mutex, Catalogue& catalogue, BlobStore& blobs, Admission& admission,
         const HealthLimits& limits);
  ~Health();
  Health(const Health&) = delete;
  Health& operator=(const Health&) = delete;

  // Removes what a kill has left, and accounts for the rest. Before start().
  base::Status recover();
  void start();

  // A window of the `system` channel is there, or more of its lines.
  void note(int64_t session, uint64_t number, bool is_live);
  // Windows may be there that nobody has noted.
  void look_again();
  // Packs all there is, without rest.
  base::Status pack_all(int64_t now_ms);
  base::Status apply_retention(int64_t now_ms);

  base::Result<std::vector<HealthDevice>> devices(int64_t workspace);
  // NotFound: there is no such device.
  base::Result<HealthAnswer> read(const HealthQuestion& question);
  HealthCounts counts(int64_t workspace) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Unit;
  struct Group;

  void run();
  std::vector<HealthSource> next_due(size_t most, bool is_all);
  base::Status pack(const std::vector<HealthSource>& sources, int64_t now_ms);
  base::Status read_into(Group& group, const HealthSource& source, int64_t now_ms);
  base::Status begin(Group& group, int64_t now_ms);
  base::Status make_blobs(Group& group, Unit& unit, int64_t now_ms);
  base::Status commit(Group& group, std::vector<Unit*>& units, bool is_last, int64_t now_ms);
  base::Status pack_group(Group& group, int64_t now_ms);
  base::Result<HealthParts> parts_of(int64_t workspace, const HealthBlob& blob) const;

  std::mutex& catalogue_mutex_;
  Catalogue& catalogue_;
  BlobStore& blobs_;
  Admission& admission_;
  const HealthLimits limits_;

  std::mutex packing_;  // one packs at a time, or applies retention

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable changed_;
  std::map<HealthSource, Clock::time_point> waiting_;  // and when its turn is
  std::map<HealthSource, Clock::time_point> live_;     // when those were packed last
  std::optional<HealthSource> behind_;      // the catalogue is looked through from there on
  std::map<int64_t, HealthCounts> counts_;  // by workspace
  bool is_stopping_ = false;
  std::thread thread_;
};

// What a blob is called. Blobs of an hour are together, so that one sync is for all of them.
std::string health_name(int64_t workspace, const HealthBlob& blob);

}  // namespace gpufl::store
