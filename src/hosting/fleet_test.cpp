// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>

#include "base/clock.hpp"
#include "hosting/test_host.hpp"
#include "store/test_health.hpp"

namespace gpufl::hosting {
namespace {

using base::Json;
using store::Role;
using store::Scope;
using store::testing::HealthText;
using store::testing::kSecond_ns;

constexpr int kReadings = 60;

class FleetTest : public testing::HostTest {
 protected:
  void SetUp() override {
    HostedOptions quick = options();
    quick.store.health.pace = std::chrono::milliseconds(10);
    start(quick);
  }
  // Readings of one GPU, the last of them now.
  void send_readings(const std::string& key, const std::string& id) {
    const int64_t now_ns = base::wall_ns();
    HealthText text(id, 1);
    text.clock(0, now_ns - (kReadings - 1) * kSecond_ns);
    for (int i = 0; i < kReadings; ++i) {
      text.add({{i * kSecond_ns, 0, "power_mw", 1000 + i}, {i * kSecond_ns, 0, "gpu_util_pct", 7}});
    }
    const net::Response sent =
        send(key, "session=" + id + "&kind=window&channel=system&number=1", text.text());
    EXPECT_EQ(sent.status, 200) << sent.body;
  }
  Json devices(const std::string& in, const std::string& headers) {
    return json_of(get("/w/" + in + "/api/v1/devices", headers))["devices"];
  }
  bool has_series(const net::Response& answer) {
    return answer.status == 200 && !json_of(answer)["series"].items().empty();
  }
  std::string device_of(const std::string& in, const std::string& headers) {
    EXPECT_TRUE(base::eventually([&] {
      const Json found = devices(in, headers);
      return found.items().size() == 1 && found.items()[0]["id"].is_string();
    })) << devices(in, headers).dump();
    return devices(in, headers).items()[0]["id"].as_string();
  }
};

TEST_F(FleetTest, ReadersSeeGpusAndWhatWasRead) {
  const std::string sender = make_key("lab", Scope::Ingest).text;
  const std::string reader = bearer(make_key("lab", Scope::Read).text);
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions", reader); });
  send_readings(sender, id_);
  const std::string id = device_of("lab", reader);
  const Json device = devices("lab", reader).items()[0];
  EXPECT_EQ(device["host"].as_string(), "node1");
  EXPECT_EQ(device["uuid"].as_string(), "GPU-0");
  EXPECT_EQ(device["name"].as_string(), "Test GPU");
  EXPECT_TRUE(device["last_reading_wall_ns"].is_string());
  EXPECT_TRUE(device["last_seen_wall_ns"].is_string());
  const std::string health = "/w/lab/api/v1/devices/" + id + "/health";
  const std::string power = health + "?points=2000&metrics=power_mw";
  // A device is listed a moment before its readings are there.
  EXPECT_TRUE(base::eventually([&] { return has_series(get(power, reader)); }));
  for (const std::string& asker : {reader, make_login("vera", "lab", Role::Viewer)}) {
    wait_for(200, [&] { return get(health, asker); });
    const Json found = json_of(get(power, asker));
    ASSERT_EQ(found["series"].items().size(), 1U) << found.dump();
    EXPECT_TRUE(found["from_wall_ns"].is_string());
    const Json& series = found["series"].items()[0];
    int64_t count = 0;
    for (const Json& one : series["count"].items()) count += one.as_integer();
    EXPECT_EQ(count, kReadings);
    EXPECT_EQ(series["step"].items().size(), series["mean"].items().size());
    EXPECT_EQ(series["max"].items().back().as_integer(), 1000 + kReadings - 1);
  }
  EXPECT_EQ(json_of(get(health + "?points=2", reader))["series"].items().size(), 2U);
  EXPECT_NE(get("/w/lab/metrics", reader).body.find("gpufl_server_health_readings_total 120"),
            std::string::npos);
  for (const char* wrong : {"?from=5&to=5", "?from=0&to=999999999", "?points=1", "?points=2001",
                            "?to=x", "?other=1", "?from=-1"}) {
    EXPECT_EQ(get(health + wrong, reader).status, 400) << wrong;
  }
  for (const char* other : {"0", "-1", "99", "x", "99999999999999999999"}) {
    EXPECT_EQ(get("/w/lab/api/v1/devices/" + std::string(other) + "/health", reader).status, 404)
        << other;
  }
}

TEST_F(FleetTest, NobodyElseSeesAnything) {
  const std::string sender = make_key("lab", Scope::Ingest).text;
  const std::string reader = bearer(make_key("lab", Scope::Read).text);
  const std::string other = bearer(make_key("shop", Scope::Read).text);
  wait_for(200, [&] { return get("/w/lab/api/v1/sessions", reader); });
  wait_for(200, [&] { return get("/w/shop/api/v1/sessions", other); });
  send_readings(sender, id_);
  const std::string id = device_of("lab", reader);
  EXPECT_TRUE(devices("shop", other).items().empty());
  const std::string eve = make_login("eve", "shop", Role::Admin);
  wait_for(200, [&] { return get("/w/shop/api/v1/devices", eve); });
  for (const std::string& path :
       {std::string("/api/v1/devices"), "/api/v1/devices/" + id + "/health"}) {
    EXPECT_EQ(get("/w/lab" + path, other).status, 404) << path;
    EXPECT_EQ(get("/w/lab" + path).status, 401) << path;
    EXPECT_EQ(get("/w/lab" + path, bearer(sender)).status, 403) << path;
    EXPECT_EQ(get("/w/lab" + path, eve).status, 404) << path;
  }
  // Of its own workspace's pages, by a number that another workspace's device has.
  EXPECT_EQ(get("/w/shop/api/v1/devices/" + id + "/health", other).status, 404);
}

}  // namespace
}  // namespace gpufl::hosting
