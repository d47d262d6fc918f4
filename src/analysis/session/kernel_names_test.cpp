// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/kernel_names.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

TEST(KernelNames, AreMadeOfTheSessionsOwnTables) {
  testing::TestSession session;
  session.kernel("_Z5firstv", 0, 1);
  const uint32_t scope = session.name("a scope");
  const SessionData data = session.finish();
  const uint32_t kernel = data.tables.configs.back().name;
  EXPECT_EQ(data.kernel_names().of(kernel).full_name, "first()");
  EXPECT_EQ(&data.kernel_names(), &data.kernel_names());
  EXPECT_EQ(data.kernel_names().of(scope).full_name, "");
  EXPECT_EQ(data.kernel_names().of(1'000'000).full_name, "?");

  SessionData copy = data;
  copy.tables.names[kernel] = "second";
  EXPECT_EQ(copy.kernel_names().of(kernel).full_name, "second");
  const SessionData moved = std::move(copy);
  EXPECT_EQ(moved.kernel_names().of(kernel).full_name, "second");
}

}  // namespace
}  // namespace gpufl::analysis
