// SPDX-License-Identifier: Apache-2.0
// A whole session of the RangeProfiler engine over the stand-in libcupti: scopes of the program,
// and what the log says of them.

#include <dlfcn.h>

#include <chrono>
#include <filesystem>
#include <gpufl/scope.hpp>
#include <map>
#include <thread>

#include <gtest/gtest.h>

#include "backend/scope_stops.hpp"
#include "base/eventually.hpp"
#include "capture/session.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"
#include "tests/standin/cupti/cupti_standin.hpp"
#include "tests/standin/cupti/standin_callbacks.hpp"
#include "tests/standin/cupti/standin_ranging.hpp"

namespace gpufl::capture {
namespace {

using format::Dict;
using format::Kind;

constexpr uint32_t kCupti130 = 130'001;
constexpr uint32_t kContextCreated = 1;  // CUPTI_CBID_RESOURCE_CONTEXT_CREATED

template <typename Function>
auto standin_part(const char* name) {
  setenv("GPUFL_CUPTI_LIBRARY", GPUFL_STANDIN_CUPTI, 1);
  void* handle = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW);
  if (handle == nullptr) std::abort();
  return reinterpret_cast<Function*>(dlsym(handle, name))();
}

struct Log : format::Visitor {
  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    const auto text = [&](Dict dict, int64_t id) {
      return std::string(dictionaries.get(dict, id));
    };
    for (size_t i = 0; i < batch.rows(); ++i) {
      if (batch.kind() == Kind::RangeMetric) {
        namespace column = format::range_metric_column;
        const int64_t scope = batch.at(column::kScope, i);
        ranges.push_back({scope, text(Dict::Name, batch.at(column::kRange, i)),
                          batch.at(column::kStart, i),
                          batch.at(column::kStart, i) + batch.at(column::kDuration, i)});
        values[text(Dict::Metric, batch.at(column::kMetric, i))] += batch.at(column::kValue, i);
      } else if (batch.kind() == Kind::Scope) {
        namespace column = format::scope_column;
        scopes[batch.at(column::kId, i)] = text(Dict::Name, batch.at(column::kName, i));
      } else if (batch.kind() == Kind::Coverage) {
        namespace column = format::coverage_column;
        engines.push_back(text(Dict::Name, batch.at(column::kEngine, i)));
      }
    }
  }
  struct Range {
    int64_t scope;
    std::string name;
    int64_t begin_ns, end_ns;
  };
  std::vector<Range> ranges;
  std::map<std::string, int64_t> values;
  std::map<int64_t, std::string> scopes;
  std::vector<std::string> engines;
};

TEST(RangeSession, ScopesHaveTheirCountsAndRecordsFollow) {
  const auto* standin = standin_part<standin::CuptiStandinFunction>("cupti_standin");
  const auto* callbacks =
      standin_part<standin::CuptiStandinCallbacksFunction>("cupti_standin_callbacks");
  const auto* ranging = standin_part<standin::CuptiStandinRangingFunction>("cupti_standin_ranging");
  standin->reset(kCupti130);
  ranging->reset();
  const standin::RangedMetric metrics[] = {{"one.sum", 1, 1}, {"two.sum", 2, 1}};
  ranging->set_metrics(metrics, 2, 1);
  char pattern[] = "/tmp/gpufl_ranges_XXXXXX";
  SessionConfig config;
  config.log_root = mkdtemp(pattern);
  config.backend = "nvidia";
  config.engine = "RangeProfiler";
  config.trace.ranges = backend::RangeOptions{{"one.sum", "two.sum"}, 0};
  auto session = Session::start(config);
  ASSERT_TRUE(session) << session.status().text();
  callbacks->resource(kContextCreated);
  backend::ScopeStops& stops = backend::ScopeStops::instance();
  ASSERT_TRUE(base::eventually([&] { return stops.is_listening(); }));
  int bodies = 0;
  GFL_BENCH("gemm", ScopeMeta{}.setRepeat(3).setWarmup(1)) {
    ++bodies;
    standin->launch({});
  };
  EXPECT_EQ(bodies, 4);
  ASSERT_TRUE(base::eventually([&] { return !stops.is_listening(); }));
  ASSERT_TRUE(base::eventually([&] { return standin->enabled_kinds() != 0; })) << "records";
  standin->launch({});
  EXPECT_TRUE((*session)->stop());

  const auto reader = format::SessionReader::open((*session)->dir());
  ASSERT_TRUE(reader);
  Log log;
  reader->read(log);
  EXPECT_EQ(log.values, (std::map<std::string, int64_t>{{"one.sum", 1}, {"two.sum", 2}}));
  ASSERT_EQ(log.ranges.size(), 2u);
  for (const Log::Range& range : log.ranges) {
    EXPECT_EQ(range.name, "gemm");
    EXPECT_EQ(log.scopes[range.scope], "gemm");
    EXPECT_LT(range.begin_ns, range.end_ns);
  }
  ASSERT_GE(log.engines.size(), 2u);
  EXPECT_EQ(log.engines.front(), "RangeProfiler");
  EXPECT_EQ(log.engines.back(), "Trace");
  const auto verdict = format::verify_session((*session)->dir());
  ASSERT_TRUE(verdict.ledger);
  EXPECT_EQ(verdict.ledger->ranges, 2u);
  EXPECT_EQ(verdict.ledger->launches_counted, 4u);
  EXPECT_EQ(verdict.ledger->launches_without_record(), 0u);
  EXPECT_TRUE(verdict.ledger->is_complete());
  std::filesystem::remove_all(config.log_root);
}

}  // namespace
}  // namespace gpufl::capture
