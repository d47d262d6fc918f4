// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "backend/backend.hpp"

namespace gpufl::backend {
namespace {

TEST(Registry, NamesItsBackends) {
  EXPECT_EQ(backend_names(), (std::vector<std::string_view>{"nvidia", "amd", "synthetic"}));
}

// Why the only name is refused.
Availability refusal(std::string_view name) {
  const OpenedBackends backends = make_backends(name);
  EXPECT_TRUE(backends.list.empty());
  if (backends.refused.size() != 1) return {};
  EXPECT_EQ(backends.refused[0].asked, name);
  EXPECT_FALSE(backends.refused[0].why.available);
  return backends.refused[0].why;
}

TEST(Registry, NoneIsNoBackendAndSaysSo) { EXPECT_EQ(refusal("none").reason, "none"); }

TEST(Registry, AmdIsNotBuilt) {
  EXPECT_EQ(refusal("amd").reason, "not_built");
  EXPECT_FALSE(refusal("amd").detail.empty());
}

TEST(Registry, AnUnknownNameIsRefusedByName) {
  EXPECT_EQ(refusal("voodoo").reason, "unknown_backend");
  EXPECT_NE(refusal("voodoo").detail.find("voodoo"), std::string::npos);
}

TEST(Registry, SyntheticIsAvailable) {
  const OpenedBackends backends = make_backends("synthetic");
  ASSERT_EQ(backends.list.size(), 1u);
  EXPECT_EQ(backends.list[0].backend->name(), "synthetic");
  EXPECT_TRUE(backends.list[0].health.available);
  EXPECT_TRUE(backends.list[0].backend->trace_available().available);
}

TEST(Registry, SeveralNamesGiveSeveralBackends) {
  const OpenedBackends backends = make_backends("synthetic,amd,synthetic");
  EXPECT_EQ(backends.list.size(), 2u);
  ASSERT_EQ(backends.refused.size(), 1u);
  EXPECT_EQ(backends.refused[0].asked, "amd");
}

TEST(DeviceFacts, AbsentValuesAreAbsentInJson) {
  DeviceFacts facts;
  facts.device = 3;
  facts.name = "GPU";
  facts.compute_units = 0;
  EXPECT_EQ(facts.to_json().dump(), R"({"device":3,"name":"GPU","compute_units":0})");
}

}  // namespace
}  // namespace gpufl::backend
