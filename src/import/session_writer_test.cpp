// SPDX-License-Identifier: Apache-2.0
#include "import/session_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <vector>

#include "format/verify.hpp"
#include "import/test_traces.hpp"
#include "import/thread_spans.hpp"
#include "import/torch_trace.hpp"

namespace gpufl::importing {
namespace {

using format::Dict;
using format::Kind;

// Rows by kind as a reader finds them: the columns that are there, and texts for ids.
struct Collector final : format::Visitor {
  using Row = std::map<std::string, int64_t, std::less<>>;
  std::map<Kind, std::vector<Row>> rows;
  std::map<int64_t, std::string> names, configs, stacks, frames, texts;
  std::map<Kind, std::vector<base::Json>> objects;

  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    for (size_t row = 0; row < batch.rows(); ++row) {
      Row& made = rows[batch.kind()].emplace_back();
      for (size_t column = 0; column < batch.kind_spec().columns.size(); ++column) {
        if (batch.has(column)) {
          made[std::string(batch.kind_spec().columns[column].name)] = batch.column(column)[row];
        }
      }
    }
    for (int64_t id = 1; id < 100; ++id) {
      const std::pair<Dict, std::map<int64_t, std::string>*> all[] = {{Dict::Name, &names},
                                                                      {Dict::Config, &configs},
                                                                      {Dict::Stack, &stacks},
                                                                      {Dict::Frame, &frames},
                                                                      {Dict::Text, &texts}};
      for (const auto& [dict, kept] : all) {
        if (const std::string* value = dictionaries.find(dict, id)) (*kept)[id] = *value;
      }
    }
  }
  void on_object(Kind kind, const base::Json& line) override { objects[kind].push_back(line); }
};

// One session for all tests: writing waits for the disk.
class SessionWriterTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string text = testing::torch_trace();
    const auto source = TextSource::of(text, 1 << 16);
    auto trace = read_torch_trace(*source, {});
    ASSERT_TRUE(trace.is_ok());
    folder = std::make_unique<format::testing::TempDir>();
    const auto done = write_session(
        *trace, {folder->path(), "/data/gpt.json", "session-1", "run-1", "gpt", "0.1.0"});
    ASSERT_TRUE(done.is_ok()) << done.status().text();
    written = *done;
    found = {};
    const auto reader = format::SessionReader::open(written.dir);
    ASSERT_TRUE(reader.is_ok());
    header = reader->header();
    reader->read(found);
    for (auto& [kind, rows] : found.rows) {
      std::sort(rows.begin(), rows.end(),
                [](const auto& a, const auto& b) { return a.at("start") < b.at("start"); });
    }
  }
  static void TearDownTestSuite() { folder.reset(); }
  static const std::vector<Collector::Row>& rows(Kind kind) { return found.rows[kind]; }

  static inline std::unique_ptr<format::testing::TempDir> folder;
  static inline WrittenSession written;
  static inline format::SessionHeader header;
  static inline Collector found;
};

TEST_F(SessionWriterTest, IsASoundSessionThatProvesNothing) {
  const format::VerifyResult result = format::verify_session(written.dir);
  EXPECT_EQ(result.verdict, format::Verdict::NotProven);
  EXPECT_TRUE(result.problems.empty());
  EXPECT_TRUE(result.ended);
  EXPECT_EQ(result.windows.live + result.windows.unsealed, 0U);
  EXPECT_EQ(header.start_wall_ns, 1790857026000000000 + 999000);
  EXPECT_EQ(header.rank, 3);
  EXPECT_EQ(header.host, "");
  EXPECT_EQ(written.duration_ns, 200000);
}

TEST_F(SessionWriterTest, JoinsWorkWithTheCallBehindIt) {
  ASSERT_EQ(rows(Kind::Kernel).size(), 3U);
  const Collector::Row& gemm = rows(Kind::Kernel)[0];
  EXPECT_EQ(gemm.at("start"), 31123);
  EXPECT_EQ(gemm.at("dur"), 4160);
  EXPECT_EQ(gemm.at("api_start"), 8500);
  EXPECT_EQ(gemm.at("api_dur"), 3250);
  EXPECT_EQ(gemm.at("thread"), 100);
  EXPECT_EQ(gemm.at("external"), 5);
}

TEST_F(SessionWriterTest, LeavesOutWhatIsUnknown) {
  const auto& kernels = rows(Kind::Kernel);
  ASSERT_EQ(kernels.size(), 3U);
  const Collector::Row& orphan = kernels[2];
  for (const char* absent :
       {"correlation", "api_start", "thread", "scope", "stack", "external", "queued"}) {
    EXPECT_EQ(orphan.count(absent), 0U) << absent;
  }
  const std::string config = found.configs[kernels[0].at("config")];
  EXPECT_NE(config.find(R"("shared_total":1024)"), std::string::npos) << config;
  EXPECT_EQ(config.find("occupancy"), std::string::npos) << config;
  const base::Json& ledger = found.objects[Kind::Ledger].at(0);
  EXPECT_EQ(ledger.find("launches_seen"), nullptr);
  EXPECT_EQ(ledger.find("collector_cpu_ns"), nullptr);
  EXPECT_EQ(ledger.find("kernels_overlapping"), nullptr);
  EXPECT_EQ(ledger["kernel_records"].as_integer(), 3);
}

TEST_F(SessionWriterTest, FindsTheScopeOfACallAndInheritsTheOnlyOne) {
  std::map<std::string, int64_t> ids;
  for (const auto& scope : rows(Kind::Scope)) ids[found.names[scope.at("name")]] = scope.at("id");
  const auto& kernels = rows(Kind::Kernel);
  EXPECT_EQ(kernels[0].at("scope"), ids["forward"]);
  EXPECT_EQ(kernels[0].at("inherited"), 0);
  // Launched by the thread of the backward pass.
  EXPECT_EQ(kernels[1].at("thread"), 200);
  EXPECT_EQ(kernels[1].at("scope"), ids["forward"]);
  EXPECT_EQ(kernels[1].at("inherited"), 1);
}

TEST_F(SessionWriterTest, NestsScopes) {
  ASSERT_EQ(rows(Kind::Scope).size(), 3U);
  const auto& step = rows(Kind::Scope)[0];
  const auto& forward = rows(Kind::Scope)[1];
  EXPECT_EQ(step.at("parent"), 0);
  EXPECT_EQ(forward.at("parent"), step.at("id"));
  EXPECT_EQ(forward.at("depth"), 1);
}

TEST_F(SessionWriterTest, MakesStacksOfPythonFunctions) {
  const auto stack = base::Json::parse(found.stacks[rows(Kind::Kernel)[0].at("stack")]);
  ASSERT_TRUE(stack.is_ok());
  const auto& frames = (*stack)["frames"].items();
  ASSERT_EQ(frames.size(), 2U);
  const auto inner = base::Json::parse(found.frames[frames[0].as_integer()]);
  ASSERT_TRUE(inner.is_ok());
  EXPECT_EQ(found.names[(*inner)["function"].as_integer()], "forward");
  EXPECT_EQ(found.texts[(*inner)["file"].as_integer()], "/home/me/net.py");
  EXPECT_EQ((*inner)["line"].as_integer(), 90);
}

TEST_F(SessionWriterTest, MakesWaitsOfCallsThatWait) {
  ASSERT_EQ(rows(Kind::Sync).size(), 1U);
  const auto& wait = rows(Kind::Sync)[0];
  EXPECT_EQ(wait.at("wait_kind"), 4);
  EXPECT_EQ(wait.at("dur"), 20000);
  EXPECT_EQ(wait.at("api_start"), wait.at("start"));
  EXPECT_EQ(wait.count("device"), 0U);
  // Calls that have a row have no other.
  ASSERT_EQ(rows(Kind::Api).size(), 1U);
  EXPECT_EQ(found.names[rows(Kind::Api)[0].at("name")], "cudaMalloc");
  EXPECT_EQ(rows(Kind::Memcpy).at(0).at("async"), 1);
  EXPECT_EQ(rows(Kind::Memset).at(0).count("value"), 0U);
}

// Each test its own session.
Collector session_of(const std::string& events) {
  const std::string text = R"({"traceEvents":[)" + events + "]}";
  const auto source = TextSource::of(text, 1 << 16);
  auto trace = read_torch_trace(*source, {});
  EXPECT_TRUE(trace.is_ok());
  const format::testing::TempDir folder;
  const auto done = write_session(*trace, {folder.path(), "t.json", "s", "r", "a", "0.1.0"});
  EXPECT_TRUE(done.is_ok());
  Collector found;
  const auto reader = format::SessionReader::open(folder.path() / "s");
  EXPECT_TRUE(reader.is_ok());
  reader->read(found);
  return found;
}

std::string event(const std::string& category, const std::string& name, int64_t start,
                  const std::string& more) {
  return R"({"ph":"X","cat":")" + category + R"(","name":")" + name + R"(","ts":)" +
         std::to_string(start) + R"(,"dur":5,)" + more + "}";
}

TEST(SessionWriter, DoesNotGuessWhichOfSeveralCallsItWas) {
  Collector found = session_of(
      event("kernel", "k", 100, R"("args":{"correlation":1})") + "," +
      event("cuda_runtime", "cudaLaunchKernel", 90, R"("tid":1,"args":{"correlation":1})") + "," +
      event("cuda_runtime", "cudaLaunchKernel", 80, R"("tid":2,"args":{"correlation":1})") + "," +
      event("kernel", "k", 200, R"("args":{"correlation":2})") + "," +
      event("cuda_driver", "cuLaunchKernel", 190, R"("tid":1,"args":{"correlation":2})") + "," +
      event("cuda_runtime", "cudaLaunchKernel", 190, R"("tid":1,"args":{"correlation":2})"));
  std::map<int64_t, Collector::Row> kernels;
  for (const auto& row : found.rows[Kind::Kernel]) kernels[row.at("start")] = row;
  ASSERT_EQ(kernels.size(), 2U);
  EXPECT_EQ(kernels.at(20'000).count("thread"), 0U);
  EXPECT_EQ(kernels.at(120'000).at("thread"), 1);  // one call inside of another
}

TEST(SessionWriter, WaitsOfStreamsAreWaitsWhateverTheirIdsAre) {
  Collector found = session_of(
      event("cuda_runtime", "cudaStreamWaitEvent", 10, R"("tid":4,"args":{"correlation":1})") +
      "," + event("cuda_runtime", "cudaDeviceSynchronize", 90, R"("args":{"correlation":1})"));
  EXPECT_EQ(found.rows.count(Kind::Api), 0U);
  std::map<int64_t, Collector::Row> waits;
  for (const auto& row : found.rows[Kind::Sync]) waits[row.at("start")] = row;
  ASSERT_EQ(waits.size(), 2U);
  EXPECT_EQ(waits.at(0).at("wait_kind"), 2);
  EXPECT_EQ(waits.at(0).at("thread"), 4);
  EXPECT_EQ(waits.at(80'000).count("thread"), 0U);
}

TEST(SessionWriter, SaysHowManyCopiesDoNotTellTheirBytes) {
  Collector found =
      session_of(event("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", 1, R"("pid":0)"));
  std::string detail;
  for (const base::Json& line : found.objects[Kind::Capability]) {
    if (line["feature"].as_string() == "bytes") detail = line["detail"].as_string();
  }
  EXPECT_TRUE(detail.starts_with("1 copies and memsets have no size")) << detail;
}

TEST(SessionWriter, DoesNotCountTheKernelsOfATraceOfTheCpu) {
  const std::string text = R"({"traceEvents":[{"ph":"X","cat":"cpu_op","name":"aten::mm",)"
                           R"("pid":42,"tid":100,"ts":1006,"dur":10}]})";
  const auto source = TextSource::of(text, 1 << 16);
  auto trace = read_torch_trace(*source, {});
  ASSERT_TRUE(trace.is_ok());
  const format::testing::TempDir folder;
  const auto done =
      write_session(*trace, {folder.path(), "/data/cpu.json", "session-1", "run-1", "cpu", "0.1"});
  ASSERT_TRUE(done.is_ok()) << done.status().text();
  Collector found;
  format::SessionReader::open(done->dir)->read(found);
  std::vector<std::string> features;
  for (const base::Json& line : found.objects[Kind::Capability]) {
    features.push_back(line["feature"].as_string());
  }
  EXPECT_EQ(features, (std::vector<std::string>{"recording", "gpu_work", "scopes", "stacks"}));
  ASSERT_EQ(found.objects[Kind::Ledger].size(), 1U);
  EXPECT_EQ(found.objects[Kind::Ledger][0].find("kernel_records"), nullptr);
}

TEST(SessionWriter, ManyScopesThatOverlapAreQuick) {
  Trace trace;
  constexpr int64_t kScopes = 60'000;
  for (int64_t i = 0; i < kScopes; ++i)
    trace.scopes.push_back({i, kScopes, 1, trace.names.add("s")});
  const ThreadSpans spans(trace.scopes);
  EXPECT_EQ(spans.depth(kScopes - 1), kScopes - 1);
  EXPECT_EQ(spans.depth(0), 0U);
}

TEST_F(SessionWriterTest, TellsOfTheDevicesThatWorkedAndWhereItIsFrom) {
  ASSERT_EQ(found.objects[Kind::Device].size(), 1U);
  EXPECT_EQ(found.objects[Kind::Device][0]["name"].as_string(), "NVIDIA H200");
  const auto& capability = found.objects[Kind::Capability].at(0);
  EXPECT_EQ(capability["got"].as_string(), "torch_profiler");
  EXPECT_EQ(capability["reason"].as_string(), "imported");
  EXPECT_EQ(found.objects[Kind::Event].at(0)["text"].as_string(), "gpt.json");
}

}  // namespace
}  // namespace gpufl::importing
