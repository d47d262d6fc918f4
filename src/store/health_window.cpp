// SPDX-License-Identifier: Apache-2.0
#include "store/health_window.hpp"

#include <algorithm>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "base/json.hpp"
#include "format/batch.hpp"
#include "format/batch_codec.hpp"
#include "format/dictionaries.hpp"
#include "format/former_names.hpp"
#include "format/kind_columns.hpp"
#include "format/limits.hpp"
#include "format/seal.hpp"
#include "format/session_header.hpp"

namespace gpufl::store {
namespace {

using base::Json;
using base::Status;

constexpr int64_t kNsPerS = 1'000'000'000;
constexpr int64_t kNsPerMilli = 1'000'000;
constexpr int64_t kFirst_ns = int64_t{946'684'800} * kNsPerS;  // the year 2000
constexpr int64_t kAhead_ns = kDay_s * kNsPerS;
constexpr int64_t kStep_ns = 10'000'000;  // a clock that is off by less has not been set
constexpr size_t kMostAnchors = 100'000;
constexpr size_t kMostDevices = 1024;
constexpr size_t kLongestName = 256;
constexpr size_t kMostPlaces = 65'536;
constexpr size_t kSeriesWeight = 4;  // what a series takes, in buckets
constexpr std::string_view kXidEvents = "xid_events";

std::string short_text(const Json& value) { return value.as_string().substr(0, kLongestName); }

class WindowReader {
 public:
  WindowReader(int64_t now_ms, const WindowBounds& bounds)
      : latest_ns_(now_ms * kNsPerMilli + kAhead_ns), bounds_(bounds) {}

  base::Result<WindowReadings> read(const std::filesystem::path& window) {
    Status done = each_line(window, [this](std::string_view line) { take_fact(line); });
    if (!done) return done;
    if (!has_header_) return Status(base::Code::Corrupt, "it does not begin with a session line");
    done = each_line(window, [this](std::string_view line) { take_readings(line); });
    if (!done) return done;
    return std::move(found_);
  }

 private:
  // Behind one event of a time: what the wall clock is ahead of the session's.
  struct Anchor {
    int64_t time_ns, ahead_ns;
  };
  // Where readings of one series go; rows of one follow each other.
  struct Place {
    DeviceReadings* device = nullptr;
    SeriesName name;
    int64_t hour = -1;
    HealthSeries* series = nullptr;
  };

  template <typename See>
  static Status each_line(const std::filesystem::path& window, See see) {
    return format::read_window(window,
                               [&](std::string_view line) {
                                 see(line);
                                 return true;
                               })
        .status;
  }

  void take_fact(std::string_view line) {
    const std::string_view type = format::line_type(line);
    if (type != "session" && type != "clock" && type != "device") return;
    const auto json = Json::parse(line, format::kMaxObjectLineBytes);
    if (!json) return;
    if (type == "session") return take_header(*json);
    if (type == "device") return take_device(*json);
    const std::string& text = (*json)["wall"].as_string();
    int64_t wall_ns = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), wall_ns);
    if (error == std::errc() && !text.empty()) {
      take_anchor({(*json)["time"].as_integer(), wall_ns - (*json)["time"].as_integer()});
    }
  }

  void take_header(const Json& line) {
    const auto header = format::SessionHeader::from_json(line);
    if (!header || has_header_) return;
    has_header_ = true;
    host_ = header->host.substr(0, kLongestName);
    anchors_.insert(anchors_.begin(), {INT64_MIN, header->start_wall_ns});
  }

  // Where the clock has only drifted, what is known already is as good.
  void take_anchor(Anchor anchor) {
    if (anchors_.size() >= kMostAnchors) return;
    const auto place =
        std::upper_bound(anchors_.begin(), anchors_.end(), anchor.time_ns,
                         [](int64_t time_ns, const Anchor& one) { return time_ns < one.time_ns; });
    if (place != anchors_.begin()) {
      const int64_t off = anchor.ahead_ns - std::prev(place)->ahead_ns;
      if (off > -kStep_ns && off < kStep_ns) return;
    }
    anchors_.insert(place, anchor);
  }

  void take_device(const Json& line) {
    const int64_t number = line["device"].as_integer(-1);
    if (numbers_.contains(number) || numbers_.size() >= kMostDevices) return;
    numbers_.emplace(number, found_.devices.size());
    DeviceReadings device;
    device.host = host_;
    device.uuid = short_text(line["uuid"]);
    if (device.uuid.empty()) device.uuid = "device-" + std::to_string(number);
    device.name = short_text(line["name"]);
    found_.devices.push_back(std::move(device));
  }

  void take_readings(std::string_view line) {
    const std::string_view type = format::line_type(line);
    if (type == "device_metric") return take_batch(line);
    if (type != "dict" && type != "event") return;
    const auto json = Json::parse(line, format::kMaxObjectLineBytes);
    if (!json) return;
    if (type == "dict") {
      places_.clear();
      (void)dictionaries_.define(*json);  // what it does not know has no name, and is dropped
    } else if ((*json)["name"].as_string() == "xid") {
      Place place{device_of((*json)["device"].as_integer(-1)),
                  {std::string(kXidEvents), (*json)["code"].as_integer()}};
      take_reading(place, (*json)["time"].as_integer(-1), 1);
    }
  }

  void take_batch(std::string_view line) {
    namespace column = format::device_metric_column;
    if (!codec_.decode(line, batch_)) return;  // a reader of the session tells of it
    for (size_t row = 0; row < batch_.rows(); ++row) {
      if (places_.size() >= kMostPlaces) places_.clear();
      const std::tuple key(batch_.at(column::kDevice, row), batch_.at(column::kMetric, row),
                           batch_.at(column::kIndex, row));
      const auto [found, is_new] = places_.try_emplace(key);
      if (is_new) {
        const std::string* metric =
            dictionaries_.find(format::Dict::Metric, batch_.at(column::kMetric, row));
        Place& place = found->second;
        if (metric != nullptr && metric->size() <= kLongestName) {
          place.device = device_of(std::get<0>(key));
          place.name = {std::string(format::name_for_all(format::kFormerMetrics, *metric)),
                        std::get<2>(key)};
        }
      }
      take_reading(found->second, batch_.at(column::kTime, row), batch_.at(column::kValue, row));
    }
  }

  DeviceReadings* device_of(int64_t number) {
    const auto found = numbers_.find(number);
    return found == numbers_.end() ? nullptr : &found_.devices[found->second];
  }

  // Nothing: no clock can have shown that.
  std::optional<int64_t> wall_of(int64_t time_ns) const {
    const auto behind =
        std::upper_bound(anchors_.begin(), anchors_.end(), time_ns,
                         [](int64_t time, const Anchor& one) { return time < one.time_ns; });
    int64_t wall_ns = 0;
    if (__builtin_add_overflow(time_ns, std::prev(behind)->ahead_ns, &wall_ns)) return {};
    if (wall_ns < kFirst_ns || wall_ns > latest_ns_) return {};
    return wall_ns;
  }

  HealthSeries* series_of(Place& place, int64_t hour) {
    if (place.hour == hour) return place.series;
    auto& hours = place.device->hours;
    if (!hours.contains(hour) && hours.size() >= bounds_.hours) return nullptr;
    HealthReadings& readings = hours[hour];
    if (!readings.contains(place.name) && readings.size() >= bounds_.series) return nullptr;
    const auto [found, is_new] = readings.try_emplace(place.name);
    if (is_new) buckets_ += kSeriesWeight;
    place.hour = hour;
    place.series = &found->second;
    return place.series;
  }

  void take_reading(Place& place, int64_t time_ns, int64_t value) {
    const auto wall_ns = time_ns < 0 ? std::nullopt : wall_of(time_ns);
    if (place.device == nullptr || !wall_ns || buckets_ >= bounds_.buckets) {
      ++found_.dropped;
      return;
    }
    const int64_t second = *wall_ns / kNsPerS;
    HealthSeries* series = series_of(place, second / kHour_s);
    if (series == nullptr) {
      ++found_.dropped;
      return;
    }
    const HealthBucket one = reading(static_cast<uint32_t>(second % kHour_s), value);
    if (add_to_series(*series, one, place.name.has_bits())) ++buckets_;
    ++found_.readings;
    place.device->last_ms = std::max(place.device->last_ms, *wall_ns / kNsPerMilli);
  }

  const int64_t latest_ns_;
  const WindowBounds& bounds_;
  WindowReadings found_;
  std::string host_;
  bool has_header_ = false;
  std::vector<Anchor> anchors_;        // by time
  std::map<int64_t, size_t> numbers_;  // of devices, to their places
  std::map<std::tuple<int64_t, int64_t, int64_t>, Place> places_;
  format::Dictionaries dictionaries_;
  format::BatchCodec codec_;
  format::Batch batch_{format::Kind::DeviceMetric};
  size_t buckets_ = 0;
};

}  // namespace

base::Result<WindowReadings> read_health(const std::filesystem::path& window, int64_t now_ms,
                                         const WindowBounds& bounds) {
  return WindowReader(now_ms, bounds).read(window);
}

}  // namespace gpufl::store
