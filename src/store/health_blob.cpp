// SPDX-License-Identifier: Apache-2.0
#include "store/health_blob.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "base/hash.hpp"

namespace gpufl::store {
namespace {

using base::Code;
using base::Status;

constexpr std::string_view kMagic = "GPUHEAL1";
constexpr size_t kHashBytes = sizeof(uint64_t);
constexpr uint64_t kMostNames = 4096;
constexpr uint64_t kMostSeries = 65'536;              // of a part
constexpr uint64_t kMostBuckets = uint64_t{1} << 24;  // of a blob

constexpr uint64_t zigzag(uint64_t value) { return (value << 1) ^ (0 - (value >> 63)); }
constexpr uint64_t unzigzag(uint64_t value) { return (value >> 1) ^ (0 - (value & 1)); }

class BlobWriter {
 public:
  void number(uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>(value | 0x80);
    bytes_ += static_cast<char>(value);
  }
  void text(std::string_view text) {
    number(text.size());
    bytes_ += text;
  }
  // As differences between neighbours; a zero is followed by how many more there are.
  template <typename Value>
  void column(const HealthSeries& series, Value value) {
    uint64_t before = 0, zeros = 0;
    const auto end_run = [&] {
      if (zeros == 0) return;
      number(0);
      number(zeros - 1);
      zeros = 0;
    };
    for (const HealthBucket& bucket : series) {
      const uint64_t now = value(bucket);
      const uint64_t difference = zigzag(now - std::exchange(before, now));
      if (difference == 0) {
        ++zeros;
        continue;
      }
      end_run();
      number(difference);
    }
    end_run();
  }
  std::string finish() {
    const uint64_t hash = base::xxh64(bytes_.data(), bytes_.size());
    char text[kHashBytes];
    std::memcpy(text, &hash, sizeof text);
    bytes_.append(text, sizeof text);
    return std::move(bytes_);
  }

 private:
  std::string bytes_{kMagic};
};

class BlobReader {
 public:
  explicit BlobReader(std::string_view bytes) : rest_(bytes) {}

  bool is_good() const { return is_good_; }
  bool is_at_end() const { return is_good_ && rest_.empty(); }
  uint64_t number() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) break;
      const auto byte = static_cast<unsigned char>(rest_.front());
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    is_good_ = false;
    return 0;
  }
  // 0 where there are more than that.
  uint64_t count(uint64_t most) {
    const uint64_t value = number();
    if (value > most) is_good_ = false;
    return is_good_ ? value : 0;
  }
  std::string text() {
    const uint64_t size = count(rest_.size());
    if (size > rest_.size()) is_good_ = false;
    if (!is_good_) return {};
    std::string text(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return text;
  }
  template <typename Take>
  void column(HealthSeries& series, Take take) {
    uint64_t now = 0, zeros = 0;
    for (HealthBucket& bucket : series) {
      if (zeros > 0) {
        --zeros;
      } else if (const uint64_t difference = number(); difference != 0) {
        now += unzigzag(difference);
      } else {
        zeros = count(series.size());
      }
      if (!is_good_) return;
      take(bucket, now);
    }
    is_good_ = is_good_ && zeros == 0;
  }

 private:
  std::string_view rest_;
  bool is_good_ = true;
};

uint64_t bits(int64_t value) { return static_cast<uint64_t>(value); }

// Whether each bucket holds one reading: then the others columns follow from the first.
bool has_single_readings(const HealthSeries& series) {
  return std::all_of(series.begin(), series.end(), [](const HealthBucket& one) {
    return one.count == 1 && one.most == one.least && one.sum == one.least;
  });
}

void write_series(BlobWriter& out, const HealthSeries& series) {
  const bool is_single = has_single_readings(series);
  out.number(series.size());
  out.number(is_single ? 1 : 0);
  uint32_t next = 0;
  // Where none is left out, the times are all the same.
  out.column(series, [&](const HealthBucket& one) {
    const uint32_t gap = one.at - next;
    next = one.at + 1;
    return uint64_t{gap};
  });
  out.column(series, [](const HealthBucket& one) { return bits(one.least); });
  if (is_single) return;
  out.column(series, [](const HealthBucket& one) { return one.count; });
  out.column(series, [](const HealthBucket& one) { return bits(one.most) - bits(one.least); });
  out.column(series,
             [](const HealthBucket& one) { return bits(one.sum) - bits(one.least) * one.count; });
}

bool read_series(BlobReader& in, HealthSeries& series, uint64_t& left) {
  const uint64_t size = in.count(std::min<uint64_t>(left, kHour_s));
  const bool is_single = in.count(1) == 1;
  left -= size;
  series.resize(size);
  uint64_t next = 0;
  bool is_in_hour = true;
  in.column(series, [&](HealthBucket& one, uint64_t gap) {
    is_in_hour = is_in_hour && gap < static_cast<uint64_t>(kHour_s) && next + gap < kHour_s;
    one.at = static_cast<uint32_t>(next + gap);
    next = uint64_t{one.at} + 1;
  });
  if (!in.is_good() || !is_in_hour) return false;
  in.column(series, [](HealthBucket& one, uint64_t value) {
    one.least = one.most = one.sum = static_cast<int64_t>(value);
    one.count = 1;
  });
  if (is_single) return in.is_good();
  in.column(series, [](HealthBucket& one, uint64_t value) { one.count = value; });
  in.column(series, [](HealthBucket& one, uint64_t value) {
    one.most = static_cast<int64_t>(bits(one.least) + value);
  });
  in.column(series, [](HealthBucket& one, uint64_t value) {
    one.sum = static_cast<int64_t>(bits(one.least) * one.count + value);
  });
  return in.is_good();
}

Status damaged() { return {Code::Corrupt, "it is not packed health, or damaged"}; }

}  // namespace

std::string encode_health(const HealthParts& parts) {
  std::map<std::string_view, uint64_t> names;
  for (const auto& [source, readings] : parts) {
    for (const auto& [name, series] : readings) names.emplace(name.metric, 0);
  }
  BlobWriter out;
  out.number(names.size());
  uint64_t place = 0;
  for (auto& [name, number] : names) {
    out.text(name);
    number = place++;
  }
  out.number(parts.size());
  for (const auto& [source, readings] : parts) {
    out.number(bits(source.first));
    out.number(source.second);
    out.number(readings.size());
    for (const auto& [name, series] : readings) {
      out.number(names[name.metric]);
      out.number(zigzag(bits(name.index)));
      write_series(out, series);
    }
  }
  return out.finish();
}

base::Result<HealthParts> decode_health(std::string_view bytes) {
  if (bytes.size() < kMagic.size() + kHashBytes || !bytes.starts_with(kMagic)) return damaged();
  uint64_t hash = 0;
  const size_t end = bytes.size() - kHashBytes;
  std::memcpy(&hash, bytes.data() + end, sizeof hash);
  if (base::xxh64(bytes.data(), end) != hash) return damaged();
  BlobReader in(bytes.substr(kMagic.size(), end - kMagic.size()));
  std::vector<std::string> names(in.count(kMostNames));
  for (std::string& name : names) name = in.text();
  HealthParts parts;
  uint64_t left = kMostBuckets;
  for (uint64_t i = in.count(kMostHealthParts); i > 0 && in.is_good(); --i) {
    const auto session = static_cast<int64_t>(in.number());
    HealthReadings& readings = parts[{session, in.number()}];
    for (uint64_t j = in.count(kMostSeries); j > 0 && in.is_good(); --j) {
      const uint64_t name = in.number();
      const auto index = static_cast<int64_t>(unzigzag(in.number()));
      if (!in.is_good() || name >= names.size()) return damaged();
      if (!read_series(in, readings[{names[name], index}], left)) return damaged();
    }
  }
  if (!in.is_at_end()) return damaged();
  return parts;
}

base::Result<HealthParts> read_health_blob(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::error_code error;
  if (!in && !std::filesystem::exists(file, error)) {
    return Status(Code::NotFound, file.string() + " is missing");
  }
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (!in.is_open() || in.bad()) return Status(Code::IoError, "cannot read " + file.string());
  return decode_health(bytes);
}

}  // namespace gpufl::store
