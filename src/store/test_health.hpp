// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "format/batch_codec.hpp"
#include "format/schema.hpp"
#include "store/test_pieces.hpp"

// For tests and benchmarks: windows of the `system` channel with readings of GPUs.
namespace gpufl::store::testing {

inline constexpr int64_t kSecond_ns = 1'000'000'000;
// When format::testing::test_header() says that the session began: 03:45:12 of its day.
inline constexpr int64_t kStart_s = 1'794'714'312;

struct TestReading {
  int64_t time_ns;
  int64_t device;
  std::string metric;
  int64_t value;
  int64_t index = 0;
};

class HealthText {
 public:
  HealthText(const std::string& session, uint64_t number, int devices = 1)
      : text_(live_text(session, format::Channel::System, number, 0)) {
    for (int i = 0; i < devices; ++i) {
      text_ += R"({"type":"device","device":)" + std::to_string(i) +
               R"(,"vendor":"nvidia","name":"Test GPU","uuid":"GPU-)" + std::to_string(i) + "\"}\n";
    }
  }
  HealthText& line(const std::string& line) {
    text_ += line + "\n";
    return *this;
  }
  HealthText& clock(int64_t time_ns, int64_t wall_ns) {
    return line(R"({"type":"clock","time":)" + std::to_string(time_ns) + R"(,"wall":")" +
                std::to_string(wall_ns) + R"(","error":1})");
  }
  HealthText& add(const std::vector<TestReading>& readings) {
    format::Batch batch(format::Kind::DeviceMetric);
    for (const TestReading& one : readings) {
      batch.push_row({one.time_ns, one.device, one.index, id_of(one.metric), one.value});
    }
    format::BatchCodec().encode(batch, text_);
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  int64_t id_of(const std::string& metric) {
    for (size_t i = 0; i < metrics_.size(); ++i) {
      if (metrics_[i] == metric) return static_cast<int64_t>(i) + 1;
    }
    metrics_.push_back(metric);
    line(R"({"type":"dict","dict":"metric","ids":[)" + std::to_string(metrics_.size()) +
         R"(],"values":[")" + metric + "\"]}");
    return static_cast<int64_t>(metrics_.size());
  }

  std::string text_;
  std::vector<std::string> metrics_;
};

}  // namespace gpufl::store::testing
