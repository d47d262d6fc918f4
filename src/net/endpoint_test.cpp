// SPDX-License-Identifier: Apache-2.0
#include "net/endpoint.hpp"

#include <gtest/gtest.h>

namespace gpufl::net {
namespace {

const Endpoint kFallback{"127.0.0.1", 14783};

std::string parsed(std::string_view text) {
  const auto result = parse_endpoint(text, kFallback);
  return result ? result->text() : result.status().message();
}

TEST(Endpoint, FillsInWhatIsLeftOut) {
  EXPECT_EQ(parsed("8080"), "127.0.0.1:8080");
  EXPECT_EQ(parsed("0"), "127.0.0.1:0");
  EXPECT_EQ(parsed("10.0.0.7"), "10.0.0.7:14783");
  EXPECT_EQ(parsed("10.0.0.7:80"), "10.0.0.7:80");
  EXPECT_EQ(parsed("localhost:80"), "127.0.0.1:80");
  EXPECT_EQ(parsed("::1"), "[::1]:14783");
  EXPECT_EQ(parsed("[::1]"), "[::1]:14783");
  EXPECT_EQ(parsed("[fe80::1]:65535"), "[fe80::1]:65535");
}

TEST(Endpoint, RefusesWithTheReason) {
  for (const char* text : {"", ":80", "127.0.0.1:", "[::1]:", "[::1", "[::1]80", "127.0.0.1:65536",
                           "127.0.0.1:-1", "127.0.0.1:8x", "example.org:80", "999.0.0.1:80",
                           "99999", "127.0.0.1:80:80", "[127.0.0.1:80"}) {
    const auto result = parse_endpoint(text, kFallback);
    ASSERT_FALSE(result) << text;
    EXPECT_EQ(result.status().code(), base::Code::InvalidArgument);
    EXPECT_NE(result.status().message().find(text), std::string::npos) << "names the input";
  }
  EXPECT_EQ(parsed(":80"), "':80' has no address; write 127.0.0.1:80 or 0.0.0.0:80");
}

TEST(Endpoint, KnowsLoopback) {
  EXPECT_TRUE((Endpoint{"127.0.0.1", 1}.is_loopback()));
  EXPECT_TRUE((Endpoint{"127.8.9.1", 1}.is_loopback()));
  EXPECT_TRUE((Endpoint{"::1", 1}.is_loopback()));
  EXPECT_FALSE((Endpoint{"0.0.0.0", 1}.is_loopback()));
  EXPECT_FALSE((Endpoint{"::", 1}.is_loopback()));
  EXPECT_FALSE((Endpoint{"128.0.0.1", 1}.is_loopback()));
}

TEST(AddressTest, IsWrittenInOneWay) {
  EXPECT_EQ(usual_address("127.0.0.1"), "127.0.0.1");
  EXPECT_EQ(usual_address("0:0::0001"), "::1");
  EXPECT_EQ(usual_address("2001:DB8:0:0::7"), "2001:db8::7");
  EXPECT_EQ(usual_address("::ffff:192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(usual_address("::FFFF:c000:0207"), "192.0.2.7");
  for (const char* none : {"", "localhost", "10.0.0.0/8", "127.1", "[::1]", "::1%lo", "1.2.3.4 "}) {
    EXPECT_EQ(usual_address(none), std::nullopt) << none;
  }
}

TEST(AddressTest, AHalfOfIPv6IsOneUsers) {
  EXPECT_EQ(network_of("192.0.2.7"), "192.0.2.7");
  EXPECT_EQ(network_of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(network_of("2001:db8:1:2::9"), "2001:db8:1:2::");
}

}  // namespace
}  // namespace gpufl::net
