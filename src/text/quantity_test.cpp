// SPDX-License-Identifier: Apache-2.0
#include "text/quantity.hpp"

#include <gtest/gtest.h>

namespace gpufl::text {
namespace {

int64_t duration(std::string_view text) {
  const auto result = parse_duration_ns(text);
  return result ? *result : -1;
}

int64_t bytes(std::string_view text) {
  const auto result = parse_bytes(text);
  return result ? static_cast<int64_t>(*result) : -1;
}

TEST(Quantity, ReadsDurations) {
  EXPECT_EQ(duration("10"), 10'000'000'000);
  EXPECT_EQ(duration("10s"), 10'000'000'000);
  EXPECT_EQ(duration("500ms"), 500'000'000);
  EXPECT_EQ(duration("5m"), 300'000'000'000);
  EXPECT_EQ(duration("1h"), 3'600'000'000'000);
  EXPECT_EQ(duration("1.5h"), 5'400'000'000'000);
  EXPECT_EQ(duration("2d"), 172'800'000'000'000);
  EXPECT_EQ(duration("0"), 0);
  EXPECT_EQ(duration("250us"), 250'000);
}

TEST(Quantity, RefusesWhatIsNoDuration) {
  for (const char* text : {"", "s", "-1", "-1s", "+1s", "10 s", "10S", "10sec", "ten", "inf", "nan",
                           "1e3s", "0x10", "1..5s", "99999999999999999999d", ".5s"}) {
    EXPECT_EQ(duration(text), -1) << text;
  }
  EXPECT_EQ(parse_duration_ns("soon").status().message(),
            "'soon' is not a duration; write for example 500ms, 10s, 5m or 1h");
  EXPECT_EQ(parse_duration_ns("1e300s").status().message(),
            "'1e300s' is not a duration; write for example 500ms, 10s, 5m or 1h");
  EXPECT_EQ(parse_duration_ns("99999d").status().message(),
            "'99999d' is out of range; write 3650d or less");
  EXPECT_EQ(parse_duration_ns(std::string(400, '9')).status().message(),
            "'" + std::string(400, '9') + "' is out of range; write 3650d or less");
  EXPECT_EQ(duration("3650d"), 315'360'000'000'000'000);
}

TEST(Quantity, ReadsSizes) {
  EXPECT_EQ(bytes("0"), 0);
  EXPECT_EQ(bytes("64K"), 65536);
  EXPECT_EQ(bytes("512M"), 536870912);
  EXPECT_EQ(bytes("8G"), 8589934592);
  EXPECT_EQ(bytes("1.5GiB"), 1610612736);
  EXPECT_EQ(bytes("1TB"), 1099511627776);
  for (const char* text : {"", "512", "-1G", "8g", "8 G", "G", "8GG", "99999999T"}) {
    EXPECT_EQ(bytes(text), -1) << text;
  }
  EXPECT_EQ(parse_bytes("1025T").status().message(),
            "'1025T' is out of range; write 1024T or less");
}

TEST(Quantity, WritesDurationsThatReadBack) {
  for (const char* text : {"250ms", "10s", "90s", "5m", "1h", "2d", "1500us", "7ns"}) {
    EXPECT_EQ(typed_duration(duration(text)), text);
  }
  EXPECT_EQ(typed_duration(0), "0s");
  EXPECT_EQ(typed_duration(60'000'000'000), "1m");
}

}  // namespace
}  // namespace gpufl::text
