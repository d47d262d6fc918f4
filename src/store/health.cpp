// SPDX-License-Identifier: Apache-2.0
#include "store/health.hpp"

#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/clock.hpp"

// When what is packed, what a start does, and what goes. health_packing.cpp packs.
namespace gpufl::store {
namespace {

using base::Status;

constexpr size_t kAtOnce = 32;  // windows
constexpr size_t kExpiredAtOnce = 200;
constexpr int kNiceness = 10;
constexpr int kRestAfterLive = 4;  // times what the work took
constexpr std::chrono::milliseconds kSoon{2'000};

int64_t wall_ms() { return base::wall_ns() / 1'000'000; }

std::string health_prefix(int64_t workspace) {
  return "workspaces/" + std::to_string(workspace) + "/health/";
}

// The numbers of a name as health_name() makes it; nothing: it is another's.
std::optional<HealthBlob> blob_named(std::string_view name) {
  HealthBlob blob;
  const std::array<std::pair<int64_t*, char>, 4> numbers = {
      {{&blob.hour, '/'}, {&blob.device, '.'}, {&blob.level_s, '.'}, {&blob.version, '\0'}}};
  for (const auto& [number, behind] : numbers) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), *number);
    if (error != std::errc()) return {};
    name.remove_prefix(static_cast<size_t>(end - name.data()));
    if (behind == '\0') break;
    if (!name.starts_with(behind)) return {};
    name.remove_prefix(1);
  }
  if (!name.empty()) return {};
  return blob;
}

}  // namespace

std::string health_name(int64_t workspace, const HealthBlob& blob) {
  return health_prefix(workspace) + std::to_string(blob.hour) + "/" + std::to_string(blob.device) +
         "." + std::to_string(blob.level_s) + "." + std::to_string(blob.version);
}

Health::Health(std::mutex& mutex, Catalogue& catalogue, BlobStore& blobs, Admission& admission,
               const HealthLimits& limits)
    : catalogue_mutex_(mutex),
      catalogue_(catalogue),
      blobs_(blobs),
      admission_(admission),
      limits_(limits),
      behind_(HealthSource{}) {}

Health::~Health() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

Status Health::recover() {
  const auto workspaces = catalogue_.workspaces();
  if (!workspaces) return workspaces.status();
  HealthRows& rows = catalogue_.health();
  for (const Workspace& workspace : *workspaces) {
    const std::string prefix = health_prefix(workspace.id);
    std::vector<std::string> unknown;
    Status asked;
    Status done = blobs_.list(prefix, [&](const std::string& name, uint64_t) {
      const auto blob = blob_named(std::string_view(name).substr(prefix.size()));
      const auto known = blob ? rows.find_blob(blob->device, blob->level_s, blob->hour)
                              : base::Result<std::optional<HealthBlob>>(std::nullopt);
      if (!known) asked = known.status();
      if (known && (!*known || (*known)->version != blob->version)) unknown.push_back(name);
    });
    if (done) done = asked;
    for (size_t i = 0; done && i < unknown.size(); ++i) done = blobs_.remove(unknown[i]);
    if (!done) return done;
    int64_t bytes = 0;
    done = rows.each_blob(workspace.id,
                          [&](const HealthBlob& one) { bytes += static_cast<int64_t>(one.bytes); });
    if (!done) return done;
    admission_.add(workspace.id, bytes);
  }
  return blobs_.sync();
}

void Health::start() {
  thread_ = std::thread([this] { run(); });
  pthread_setname_np(thread_.native_handle(), "gpufl-health");
}

void Health::note(int64_t session, uint64_t number, bool is_live) {
  const std::lock_guard lock(mutex_);
  const HealthSource source(session, number);
  auto due = Clock::now();
  if (is_live) {
    if (waiting_.contains(source)) return;
    const auto before = live_.find(source);
    due = before == live_.end() ? due + kSoon
                                : std::max(due + kSoon, before->second + limits_.live_pace);
  } else {
    live_.erase(source);
  }
  if (waiting_.size() >= limits_.waiting) {
    behind_ = HealthSource{};
    return;
  }
  waiting_[source] = due;
}

void Health::look_again() {
  const std::lock_guard lock(mutex_);
  behind_ = HealthSource{};
}

// Those whose turn it is, then those that the catalogue knows and nobody has noted.
std::vector<HealthSource> Health::next_due(size_t most, bool is_all) {
  std::vector<HealthSource> due;
  std::optional<HealthSource> behind;
  {
    const std::lock_guard lock(mutex_);
    const auto now = Clock::now();
    for (auto one = waiting_.begin(); one != waiting_.end() && due.size() < most;) {
      if (!is_all && one->second > now) {
        ++one;
        continue;
      }
      due.push_back(one->first);
      one = waiting_.erase(one);
    }
    std::erase_if(live_, [&](const auto& one) {
      return now - one.second > 2 * limits_.live_pace && !waiting_.contains(one.first);
    });
    behind = behind_;
  }
  if (!due.empty() || !behind) return due;
  base::Result<std::vector<UnpackedWindow>> found = std::vector<UnpackedWindow>();
  {
    const std::lock_guard lock(catalogue_mutex_);
    found = catalogue_.health().unpacked(behind->first, behind->second, most);
  }
  if (!found) return due;  // the next round asks again
  for (const UnpackedWindow& one : *found) due.emplace_back(one.session, one.window.number);
  const std::lock_guard lock(mutex_);
  // Somebody may have asked for all of it meanwhile.
  if (behind_ != behind) return due;
  behind_ = due.size() < most ? std::nullopt : std::optional(due.back());
  return due;
}

void Health::run() {
  (void)::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNiceness);
  auto kept = Clock::now();
  std::unique_lock lock(mutex_);
  auto rest = std::chrono::duration_cast<Clock::duration>(limits_.pace);
  while (!changed_.wait_for(lock, rest, [&] { return is_stopping_; })) {
    lock.unlock();
    const auto began = Clock::now();
    const auto due = next_due(kAtOnce, false);
    if (!due.empty() && !pack(due, wall_ms())) {
      lock.lock();
      for (const HealthSource& source : due) waiting_[source] = began + limits_.patience;
      lock.unlock();
    }
    if (began - kept >= limits_.retention_pace) {
      kept = began;
      (void)apply_retention(wall_ms());  // tried again the next time
    }
    const auto took = Clock::now() - began;
    lock.lock();
    const bool has_live = std::any_of(due.begin(), due.end(),
                                      [&](const HealthSource& one) { return live_.contains(one); });
    // Where there is more, it follows at once, but for the rest.
    const auto pause = due.empty() ? limits_.pace : std::chrono::milliseconds(1);
    rest = std::max<Clock::duration>(pause, took * (has_live ? kRestAfterLive : 1));
  }
}

Status Health::pack_all(int64_t now_ms) {
  while (true) {
    const auto due = next_due(kAtOnce, true);
    if (due.empty()) return {};
    if (Status packed = pack(due, now_ms); !packed) {
      look_again();
      return packed;
    }
  }
}

Status Health::apply_retention(int64_t now_ms) {
  const std::lock_guard packing(packing_);
  base::Result<std::vector<Workspace>> workspaces = std::vector<Workspace>();
  {
    const std::lock_guard lock(catalogue_mutex_);
    workspaces = catalogue_.workspaces();
  }
  if (!workspaces) return workspaces.status();
  HealthRows& rows = catalogue_.health();
  for (const Workspace& workspace : *workspaces) {
    for (size_t level = 0; level < kHealthLevels; ++level) {
      const int64_t days = workspace.retention.health_days[level];
      const int64_t first = (now_ms / 1000 - days * kDay_s) / kHour_s;
      for (bool has_more = true; has_more;) {
        // What arrives is committed between two of them.
        const std::lock_guard lock(catalogue_mutex_);
        const auto old = rows.blobs_before(workspace.id, kHealthLevels_s[level],
                                           days == 0 ? INT64_MAX : first, kExpiredAtOnce);
        if (!old) return old.status();
        has_more = old->size() == kExpiredAtOnce;
        if (old->empty()) break;
        int64_t bytes = 0;
        Status done = catalogue_.transact([&]() -> Status {
          Status dropped;
          for (const HealthBlob& one : *old) {
            bytes += static_cast<int64_t>(one.bytes);
            if (dropped) dropped = rows.drop_blob(one);
          }
          return dropped;
        });
        if (!done) return done;
        admission_.add(workspace.id, -bytes);
        for (const HealthBlob& one : *old) {
          // What cannot be removed now is swept at the start.
          (void)blobs_.remove(health_name(workspace.id, one));
        }
      }
    }
    const std::lock_guard lock(catalogue_mutex_);
    const Status done = rows.drop_unused_devices(workspace.id, now_ms - kDay_s * 1000);
    if (!done) return done;
  }
  return {};
}

base::Result<std::vector<HealthDevice>> Health::devices(int64_t workspace) {
  const std::lock_guard lock(catalogue_mutex_);
  return catalogue_.health().devices(workspace);
}

HealthCounts Health::counts(int64_t workspace) const {
  const std::lock_guard lock(mutex_);
  const auto found = counts_.find(workspace);
  return found == counts_.end() ? HealthCounts() : found->second;
}

}  // namespace gpufl::store
