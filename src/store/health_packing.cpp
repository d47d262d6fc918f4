// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "store/health.hpp"
#include "store/piece.hpp"
#include "store/session_store.hpp"

// Windows become parts of blobs. A blob is made beside the one that it follows, and counts once the
// catalogue says so; then the other one goes.
namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;

constexpr size_t kReadingsAtOnce = 50'000;  // of windows that are packed together: 40 bytes each
constexpr size_t kUnitsAtOnce = 20;         // hours of devices, each of five blobs at the most

uint64_t count_readings(const HealthReadings& readings) {
  uint64_t count = 0;
  for (const auto& [name, series] : readings) {
    for (const HealthBucket& bucket : series) count += bucket.count;
  }
  return count;
}

}  // namespace

// One hour of a device, and what becomes of it.
struct Health::Unit {
  int64_t workspace = 0;
  HealthPlace place;
  HealthParts parts;  // of a second; empty ones are taken out of the blobs
  struct Made {
    HealthBlob blob;
    std::optional<HealthBlob> before;
    IncomingPtr bytes;  // null: nothing is left
  };
  std::vector<Made> made = {};
};

// Windows that are packed together.
struct Health::Group {
  struct Window {
    UnpackedWindow unpacked;
    WindowReadings found;
    std::vector<HealthPlace> before = {}, now = {};
    bool is_live() const { return unpacked.window.state == WindowState::Live; }
    HealthSource source() const { return {unpacked.session, unpacked.window.number}; }
  };
  std::vector<Window> windows;
  std::map<int64_t, HealthDevice> devices;  // by number
  std::map<int64_t, Retention> retention;   // by workspace
  std::map<std::pair<int64_t, HealthPlace>, Unit> units;
  std::map<int64_t, HealthCounts> counts;  // by workspace
  uint64_t readings = 0;
};

Status Health::pack(const std::vector<HealthSource>& sources, int64_t now_ms) {
  const std::lock_guard packing(packing_);
  for (auto source = sources.begin(); source != sources.end();) {
    Group group;
    while (source != sources.end() && group.readings < kReadingsAtOnce) {
      if (Status read = read_into(group, *source++, now_ms); !read) return read;
    }
    if (Status packed = pack_group(group, now_ms); !packed) return packed;
  }
  return {};
}

// Nothing is added where there is nothing to pack.
Status Health::read_into(Group& group, const HealthSource& source, int64_t now_ms) {
  base::Result<std::optional<UnpackedWindow>> row = std::optional<UnpackedWindow>();
  fs::path file;
  {
    const std::lock_guard lock(catalogue_mutex_);
    row = catalogue_.health().find_unpacked(source.first, source.second);
    if (!row) return row.status();
    if (!*row) return {};
    const bool is_sealed = (*row)->window.state == WindowState::Sealed;
    file = blobs_.path_of(session_prefix((*row)->workspace, source.first) +
                          blob_file_name(is_sealed ? PieceKind::Window : PieceKind::Live,
                                         format::Channel::System, source.second, {}));
  }
  auto found = read_health(file, now_ms, limits_.window);
  Group::Window window{**row, {}};
  if (found) window.found = std::move(*found);
  if (!found && found.status().code() != Code::Corrupt) {
    std::error_code error;
    // Lines give way to their window, and sessions are deleted: another note follows.
    if (!fs::exists(file, error)) return {};
    return found.status();
  }
  // What cannot be read now can never be.
  if (!found) {
    const std::lock_guard lock(mutex_);
    ++counts_[(*row)->workspace].failures;
  }
  group.readings += window.found.readings;
  HealthCounts& counts = group.counts[(*row)->workspace];
  ++counts.windows;
  counts.readings += window.found.readings;
  counts.dropped += window.found.dropped;
  group.windows.push_back(std::move(window));
  return {};
}

// Finds the devices, and notes where readings of live windows are about to be.
Status Health::begin(Group& group, int64_t now_ms) {
  const std::lock_guard lock(catalogue_mutex_);
  HealthRows& rows = catalogue_.health();
  const auto workspaces = catalogue_.workspaces();
  if (!workspaces) return workspaces.status();
  for (const Workspace& one : *workspaces) group.retention[one.id] = one.retention;
  for (Group::Window& window : group.windows) {
    auto before = rows.places(window.unpacked.session, window.unpacked.window.number);
    if (!before) return before.status();
    window.before = std::move(*before);
  }
  const auto add = [&](Group::Window& window) -> Status {
    const int64_t workspace = window.unpacked.workspace;
    std::set<HealthPlace> places(window.before.begin(), window.before.end());
    for (DeviceReadings& device : window.found.devices) {
      auto known = rows.find_device(workspace, device.host, device.uuid);
      if (!known) return known.status();
      if (!*known) {
        const auto count = rows.count_devices(workspace);
        if (!count) return count.status();
        if (*count >= limits_.devices) {
          for (const auto& [hour, readings] : device.hours) {
            group.counts[workspace].dropped += count_readings(readings);
          }
          continue;
        }
        *known = HealthDevice{0,           workspace, device.host,   device.uuid,
                              device.name, now_ms,    device.last_ms};
        const auto id = rows.add_device(**known);
        if (!id) return id.status();
        (*known)->id = *id;
      }
      HealthDevice& noted = group.devices.try_emplace((*known)->id, **known).first->second;
      if (!device.name.empty()) noted.name = device.name;
      noted.seen_ms = std::max(noted.seen_ms, now_ms);
      noted.last_ms = std::max(noted.last_ms, device.last_ms);
      for (auto& [hour, readings] : device.hours) {
        const HealthPlace place{(*known)->id, hour};
        places.insert(place);
        Unit& unit = group.units[{workspace, place}];
        HealthReadings& part = unit.parts[window.source()];
        for (auto& [name, series] : readings) {
          HealthSeries& all = part[name];
          if (all.empty()) {
            all = std::move(series);
            continue;
          }
          // One GPU may have two numbers in a session.
          for (const HealthBucket& bucket : series) add_to_series(all, bucket, name.has_bits());
        }
      }
      device.hours.clear();
    }
    for (const HealthPlace& place : places) {
      Unit& unit = group.units[{workspace, place}];
      unit.workspace = workspace;
      unit.place = place;
      unit.parts[window.source()];
    }
    window.now.assign(places.begin(), places.end());
    if (!window.is_live() || window.now == window.before) return {};
    return rows.set_places(window.unpacked.session, window.unpacked.window.number, window.now);
  };
  return catalogue_.transact([&]() -> Status {
    Status done;
    for (size_t i = 0; done && i < group.windows.size(); ++i) done = add(group.windows[i]);
    return done;
  });
}

base::Result<HealthParts> Health::parts_of(int64_t workspace, const HealthBlob& blob) const {
  return read_health_blob(blobs_.path_of(health_name(workspace, blob)));
}

Status Health::make_blobs(Group& group, Unit& unit, int64_t now_ms) {
  const Retention& retention = group.retention[unit.workspace];
  HealthCounts& counts = group.counts[unit.workspace];
  for (size_t level = 0; level < kHealthLevels; ++level) {
    HealthBlob blob{
        .device = unit.place.device, .level_s = kHealthLevels_s[level], .hour = unit.place.hour};
    const int64_t kept_s = retention.health_days[level] * kDay_s;
    if (kept_s == 0 || (blob.hour + 1) * kHour_s <= now_ms / 1000 - kept_s) continue;
    base::Result<std::optional<HealthBlob>> before = std::optional<HealthBlob>();
    {
      const std::lock_guard lock(catalogue_mutex_);
      before = catalogue_.health().find_blob(blob.device, blob.level_s, blob.hour);
    }
    if (!before) return before.status();
    HealthParts all;
    if (*before) {
      auto parts = parts_of(unit.workspace, **before);
      const Code code = parts.status().code();
      // What is damaged or gone is begun again; `gpufl store check` tells of it.
      if (!parts && code != Code::Corrupt && code != Code::NotFound) return parts.status();
      if (parts) all = std::move(*parts);
      blob.version = (*before)->version;
    }
    ++blob.version;
    bool has_changed = false;
    for (const auto& [source, readings] : unit.parts) {
      if (readings.empty()) {
        has_changed = all.erase(source) > 0 || has_changed;
        continue;
      }
      const bool is_there = all.contains(source);
      if (!is_there && all.size() >= kMostHealthParts) {
        counts.dropped += level == 0 ? count_readings(readings) : 0;
        continue;
      }
      HealthReadings coarse = coarsened(readings, static_cast<uint32_t>(blob.level_s));
      if (is_there && all[source] == coarse) continue;
      all[source] = std::move(coarse);
      has_changed = true;
    }
    if (!has_changed) continue;
    Unit::Made made{blob, *before, nullptr};
    if (!all.empty()) {
      const std::string bytes = encode_health(all);
      auto incoming = blobs_.receive();
      if (!incoming) return incoming.status();
      Status kept = (*incoming)->append(bytes);
      if (kept) kept = (*incoming)->sync();
      if (!kept) return kept;
      made.blob.bytes = bytes.size();
      made.bytes = std::move(*incoming);
      ++counts.blobs;
      counts.bytes += bytes.size();
    }
    unit.made.push_back(std::move(made));
  }
  return {};
}

Status Health::commit(Group& group, std::vector<Unit*>& units, bool is_last, int64_t now_ms) {
  for (Unit* unit : units) {
    if (Status made = make_blobs(group, *unit, now_ms); !made) return made;
  }
  const std::lock_guard lock(catalogue_mutex_);
  HealthRows& rows = catalogue_.health();
  std::vector<std::string> placed, obsolete;
  std::map<int64_t, int64_t> growth;  // by workspace
  Status done = catalogue_.transact([&]() -> Status {
    Status put;
    for (Unit* unit : units) {
      for (Unit::Made& made : unit->made) {
        if (made.before) {
          growth[unit->workspace] -= static_cast<int64_t>(made.before->bytes);
          obsolete.push_back(health_name(unit->workspace, *made.before));
        }
        growth[unit->workspace] += static_cast<int64_t>(made.blob.bytes);
        if (!made.bytes) {
          put = made.before ? rows.drop_blob(*made.before) : Status();
        } else {
          placed.push_back(health_name(unit->workspace, made.blob));
          put = blobs_.place(*made.bytes, placed.back());
          if (put) put = rows.put_blob(made.blob);
        }
        if (!put) return put;
      }
    }
    for (size_t i = 0; is_last && put && i < group.windows.size(); ++i) {
      const Group::Window& window = group.windows[i];
      if (window.is_live()) continue;
      put = rows.set_packed(window.unpacked.session, window.unpacked.window);
      if (put && !window.before.empty()) {
        put = rows.set_places(window.unpacked.session, window.unpacked.window.number, {});
      }
    }
    for (auto one = group.devices.begin(); is_last && put && one != group.devices.end(); ++one) {
      put = rows.touch_device(one->second);
    }
    return put ? blobs_.sync() : put;
  });
  // What fails of this is done at the next start.
  for (const std::string& name : done ? obsolete : placed) (void)blobs_.remove(name);
  if (!done) return done;
  for (const auto& [workspace, bytes] : growth) admission_.add(workspace, bytes);
  return {};
}

Status Health::pack_group(Group& group, int64_t now_ms) {
  if (group.windows.empty()) return {};
  if (Status begun = begin(group, now_ms); !begun) return begun;
  std::vector<Unit*> units;
  size_t left = group.units.size();
  for (auto& [key, unit] : group.units) {
    units.push_back(&unit);
    if (--left == 0 || units.size() < kUnitsAtOnce) continue;
    if (Status done = commit(group, units, false, now_ms); !done) return done;
    // Their files are in place: nothing of them need be open any more.
    for (Unit* one : units) one->made.clear();
    units.clear();
  }
  if (Status done = commit(group, units, true, now_ms); !done) return done;
  const std::lock_guard lock(mutex_);
  for (const auto& [workspace, more] : group.counts) {
    HealthCounts& all = counts_[workspace];
    all.windows += more.windows;
    all.readings += more.readings;
    all.dropped += more.dropped;
    all.blobs += more.blobs;
    all.bytes += more.bytes;
  }
  for (const Group::Window& window : group.windows) {
    if (window.is_live()) live_[window.source()] = Clock::now();
  }
  return {};
}

}  // namespace gpufl::store
