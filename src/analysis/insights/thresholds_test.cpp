// SPDX-License-Identifier: Apache-2.0
#include "analysis/insights/thresholds.hpp"

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

#include <gtest/gtest.h>

namespace gpufl::analysis {
namespace {

base::Result<Thresholds> read(std::string_view text) {
  return thresholds_from_json(*base::Json::parse(text));
}

TEST(Thresholds, FileNamesSomeAndTheOthersKeepTheirDefaults) {
  const auto thresholds = read(R"({"in_loop_sync.min_syncs": 5, "idle_gaps.min_share": 0.25})");
  ASSERT_TRUE(thresholds) << thresholds.status().text();
  EXPECT_EQ(thresholds->in_loop_sync.min_syncs, 5);
  EXPECT_EQ(thresholds->idle_gaps.min_share, 0.25);
  EXPECT_EQ(thresholds->in_loop_sync.min_kernels, 3);
}

TEST(Thresholds, UnknownNameIsAMistakeWithWhatWasMeant) {
  const auto other = read("{\n\"in_loop_sync.min_sync\": 5}");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.status().code(), base::Code::InvalidArgument);
  EXPECT_EQ(other.status().message(),
            "line 2: unknown threshold in_loop_sync.min_sync: did you mean in_loop_sync.min_syncs "
            "or in_loop_sync.min_kernels?");
  EXPECT_NE(read(R"({"in_loop.min_syncs": 5})")
                .status()
                .message()
                .find("did you mean in_loop_sync.min_syncs?"),
            std::string::npos);
  EXPECT_NE(read(R"({"nothing": 5})").status().message().find("in_loop_sync, idle_gaps"),
            std::string::npos);
}

TEST(Thresholds, OnlyNumbersThatAreNotNegative) {
  EXPECT_FALSE(read(R"({"in_loop_sync.min_syncs": "5"})"));
  EXPECT_FALSE(read(R"({"in_loop_sync.min_syncs": -1})"));
  EXPECT_FALSE(read("[3]"));
  EXPECT_TRUE(read("{}"));
}

TEST(Thresholds, EveryNameHasAValueOfItsOwn) {
  Thresholds thresholds;
  std::set<const double*> values;
  std::set<std::string_view> names;
  for (const ThresholdName& name : threshold_names()) {
    EXPECT_TRUE(values.insert(&name.value(thresholds)).second) << name.name;
    EXPECT_TRUE(names.insert(name.name).second) << name.name;
  }
  EXPECT_EQ(values.size() * sizeof(double), sizeof(Thresholds)) << "a value has no name";
}

TEST(Thresholds, MistakesOfAFileNameTheFile) {
  const std::string file = ::testing::TempDir() + "thresholds.json";
  std::ofstream(file) << "{\"in_loop_sync.min_syncs\": 4}";
  ASSERT_TRUE(load_thresholds(file));
  EXPECT_EQ(load_thresholds(file)->in_loop_sync.min_syncs, 4);
  std::ofstream(file) << "{\"in_loop_sync.min_syncs\": }";
  EXPECT_NE(load_thresholds(file).status().message().find(file), std::string::npos);
  EXPECT_EQ(load_thresholds(file + ".none").status().code(), base::Code::NotFound);
}

}  // namespace
}  // namespace gpufl::analysis
