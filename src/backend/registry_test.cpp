// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend/backend.hpp"

namespace gpufl::backend {
namespace {

TEST(Registry, NamesItsBackends) {
  EXPECT_EQ(backend_names(), (std::vector<std::string_view>{"nvidia", "amd", "synthetic"}));
}

TEST(Registry, NoneIsNoBackendAndSaysSo) {
  Availability why;
  EXPECT_EQ(make_backend("none", why), nullptr);
  EXPECT_FALSE(why.available);
  EXPECT_EQ(why.reason, "none");
}

TEST(Registry, AmdIsNotBuilt) {
  Availability why;
  EXPECT_EQ(make_backend("amd", why), nullptr);
  EXPECT_EQ(why.reason, "not_built");
  EXPECT_FALSE(why.detail.empty());
}

TEST(Registry, AnUnknownNameIsRefusedByName) {
  Availability why;
  EXPECT_EQ(make_backend("voodoo", why), nullptr);
  EXPECT_EQ(why.reason, "unknown_backend");
  EXPECT_NE(why.detail.find("voodoo"), std::string::npos);
}

TEST(Registry, SyntheticIsAvailable) {
  Availability why;
  const auto backend = make_backend("synthetic", why);
  ASSERT_NE(backend, nullptr);
  EXPECT_EQ(backend->name(), "synthetic");
  EXPECT_TRUE(why.available);
  EXPECT_TRUE(backend->trace_available().available);
}

TEST(DeviceFacts, AbsentValuesAreAbsentInJson) {
  DeviceFacts facts;
  facts.device = 3;
  facts.name = "GPU";
  facts.sm_count = 0;
  EXPECT_EQ(facts.to_json().dump(), R"({"device":3,"name":"GPU","sm_count":0})");
}

}  // namespace
}  // namespace gpufl::backend
