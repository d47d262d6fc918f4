// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/measured_noise.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "base/json.hpp"

namespace gpufl::bench {
namespace {

using base::Json;

// Runs that differ by what `noise` says.
std::string runs_with(const Noise& noise, size_t runs, double disturbed_by = 0) {
  RandomNoise random(7);
  Json list = Json::array();
  for (size_t i = 0; i < runs; ++i) {
    const double run = noise.run * random.normal() + (i == 0 ? disturbed_by : 0);
    double drift[4];
    for (double& quarter : drift) quarter = noise.drift * random.normal();
    Json medians = Json::object(), quarters = Json::object();
    for (int kernel = 0; kernel < 10; ++kernel) {
      const double ns = 10'000 * (kernel + 1) * std::exp(run + noise.kernel * random.normal());
      const std::string name = "kernel" + std::to_string(kernel);
      medians.set(name, ns);
      Json parts = Json::array();
      for (const double quarter : drift) parts.push(ns * std::exp(quarter));
      quarters.set(name, std::move(parts));
    }
    Json one = Json::object();
    one.set("median_ns", std::move(medians)).set("quarter_median_ns", std::move(quarters));
    one.set("busy_ns", 1e8).set("span_ns", 1e8 + 1e6 * std::exp(noise.host * random.normal()));
    list.push(std::move(one));
  }
  return Json::object().set("runs", std::move(list)).dump();
}

TEST(MeasuredNoise, FindsTheSpreadsThatRunsWereMadeWith) {
  Noise made;
  made.run = 0.004;
  made.kernel = 0.002;
  made.drift = 0.001;
  made.host = 0.05;
  const auto found = measured_noise(runs_with(made, 2'000));
  ASSERT_TRUE(found) << found.status().text();
  EXPECT_NEAR(found->run, std::hypot(made.run, made.kernel / std::sqrt(10.0)), 0.0002);
  EXPECT_NEAR(found->kernel, made.kernel, 0.0001);
  EXPECT_NEAR(found->drift, made.drift, 0.00005);
  EXPECT_NEAR(found->host, made.host, 0.003);
  EXPECT_EQ(found->disturbed_runs, Noise{}.disturbed_runs);
}

TEST(MeasuredNoise, CountsRunsThatWereDisturbed) {
  Noise made;
  made.run = made.kernel = 0.001;
  const auto found = measured_noise(runs_with(made, 10, 0.05));
  ASSERT_TRUE(found) << found.status().text();
  EXPECT_EQ(found->disturbed_runs, 0.1);
}

// What is assumed where nobody measured is the more careful.
TEST(MeasuredNoise, AnH200DiffersByLessThanIsAssumed) {
  const auto found = load_measured_noise(GPUFL_MEASURED_NOISE);
  ASSERT_TRUE(found) << found.status().text();
  const Noise assumed;
  EXPECT_NEAR(found->run, 0.0004, 0.0001);
  EXPECT_NEAR(found->kernel, 0.0011, 0.0001);
  EXPECT_NEAR(found->drift, 0.0006, 0.0001);
  EXPECT_NEAR(found->host, 0.045, 0.001);
  EXPECT_LT(found->kernel, assumed.kernel);
  EXPECT_EQ(found->disturbed_runs, assumed.disturbed_runs);
}

TEST(MeasuredNoise, NothingWithoutRunsOfTheSameKernels) {
  EXPECT_FALSE(measured_noise("{}"));
  EXPECT_FALSE(measured_noise(R"({"runs":[{},{}]})"));
  EXPECT_FALSE(measured_noise(runs_with({}, 1)));
  EXPECT_FALSE(measured_noise("["));
  EXPECT_FALSE(load_measured_noise("no such file"));
}

}  // namespace
}  // namespace gpufl::bench
