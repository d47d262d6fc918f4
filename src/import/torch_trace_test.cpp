// SPDX-License-Identifier: Apache-2.0
#include "import/torch_trace.hpp"

#include <gtest/gtest.h>

#include "import/test_traces.hpp"

namespace gpufl::importing {
namespace {

using base::Code;

base::Result<Trace> read(std::string_view text, size_t piece_bytes = 1 << 16) {
  const auto source = TextSource::of(text, piece_bytes);
  return read_torch_trace(*source, {});
}

std::string with_events(const std::string& events) { return R"({"traceEvents":[)" + events + "]}"; }

TEST(TorchTrace, ReadsWhatTheTraceTells) {
  const auto trace = read(testing::torch_trace());
  ASSERT_TRUE(trace.is_ok()) << trace.status().text();
  EXPECT_EQ(trace->wall_of_zero_ns, 1790857026000000000);
  EXPECT_EQ(trace->pid, 42);
  EXPECT_EQ(trace->process, "python3");
  EXPECT_EQ(trace->rank, 3);
  EXPECT_EQ(trace->world_size, 8);
  EXPECT_EQ(trace->overhead_ns, 1500U);
  EXPECT_EQ(trace->devices.at(0)["sm_count"].as_integer(), 132);
  EXPECT_EQ(trace->devices.at(0)["runtime"].as_string(), "13.0");
  EXPECT_TRUE(trace->truncated.empty());
  ASSERT_EQ(trace->kernels.size(), 3U);
  const Kernel& gemm = trace->kernels[0];
  EXPECT_EQ(gemm.start, 1030123);
  EXPECT_EQ(gemm.duration, 4160);
  EXPECT_EQ(gemm.correlation, 21);
  EXPECT_EQ(gemm.external, 5);
  EXPECT_EQ(gemm.graph, kUnknown);
  EXPECT_EQ(trace->kernels[2].correlation, kUnknown);
  EXPECT_EQ(trace->lanes[gemm.lane].stream, 7);
  const Launch& launch = trace->launches[gemm.launch];
  EXPECT_EQ(trace->names[launch.name], "gemm \"a\"");
  EXPECT_EQ(launch.grid, (Launch::Size{2048, 1, 1}));
  EXPECT_EQ(launch.registers, 32);
}

TEST(TorchTrace, DoesNotSplitSharedMemoryThatIsToldAsASum) {
  const auto trace = read(testing::torch_trace());
  ASSERT_TRUE(trace.is_ok());
  const Launch& some = trace->launches[trace->kernels[0].launch];
  EXPECT_EQ(some.shared_total, 1024);
  EXPECT_EQ(some.shared_static, kUnknown);
  const Launch& none = trace->launches[trace->kernels[1].launch];
  EXPECT_EQ(none.shared_static, 0);
  EXPECT_EQ(none.shared_dynamic, 0);
  EXPECT_EQ(none.registers, kUnknown);
}

TEST(TorchTrace, TellsWordsAsNumbers) {
  const auto trace = read(testing::torch_trace());
  ASSERT_TRUE(trace.is_ok());
  ASSERT_EQ(trace->copies.size(), 1U);
  EXPECT_EQ(trace->copies[0].direction, 1);
  EXPECT_EQ(trace->copies[0].source_kind, 2);
  EXPECT_EQ(trace->copies[0].target_kind, 3);
  EXPECT_EQ(trace->copies[0].bytes, 4096);
  ASSERT_EQ(trace->fills.size(), 1U);
  EXPECT_EQ(trace->fills[0].memory_kind, 3);
}

TEST(TorchTrace, MakesStepsOneScopeThatRepeats) {
  const auto trace = read(testing::torch_trace());
  ASSERT_TRUE(trace.is_ok());
  ASSERT_EQ(trace->scopes.size(), 3U);
  EXPECT_EQ(trace->names[trace->scopes[0].name], "ProfilerStep");
  EXPECT_EQ(trace->scopes[0].name, trace->scopes[1].name);
  EXPECT_EQ(trace->scopes[0].start, 1000001);
  EXPECT_EQ(trace->python.size(), 2U);
  EXPECT_EQ(trace->markers.size(), 2U);
}

TEST(TorchTrace, CountsWhatHasNoPlace) {
  const auto trace = read(testing::torch_trace());
  ASSERT_TRUE(trace.is_ok());
  EXPECT_EQ(trace->not_imported.at("[memory]"), 1U);
  EXPECT_EQ(trace->not_imported.at("shapes of operators"), 1U);
  EXPECT_EQ(trace->not_imported.size(), 2U);
}

TEST(TorchTrace, IsTheSameInPiecesOfAnySize) {
  const std::string text = testing::torch_trace();
  for (const size_t piece : {1, 7, 64, 1000}) {
    const auto trace = read(text, piece);
    ASSERT_TRUE(trace.is_ok()) << piece;
    EXPECT_EQ(trace->kernels.size(), 3U);
    EXPECT_EQ(trace->calls.size(), 5U);
    EXPECT_EQ(trace->rank, 3);
  }
}

TEST(TorchTrace, KeepsWhatIsWholeOfATraceThatIsCut) {
  const std::string text = testing::torch_trace();
  const size_t second_kernel = text.find("relu");
  const auto trace = read(std::string_view(text).substr(0, second_kernel));
  ASSERT_TRUE(trace.is_ok()) << trace.status().text();
  EXPECT_EQ(trace->truncated, "the file ends inside the trace");
  EXPECT_EQ(trace->kernels.size(), 1U);
  // Cut right behind an event, that one is whole.
  const auto whole = read(testing::kTorchHead + testing::kTorchEvents);
  ASSERT_TRUE(whole.is_ok());
  EXPECT_FALSE(whole->truncated.empty());
  EXPECT_EQ(whole->not_imported.at("[memory]"), 1U);
}

TEST(TorchTrace, StopsWhereTheTextIsNoJson) {
  const auto trace = read(testing::kTorchHead + testing::kTorchEvents + ",oops]}");
  ASSERT_TRUE(trace.is_ok());
  EXPECT_NE(trace->truncated.find("invalid at byte"), std::string::npos) << trace->truncated;
  EXPECT_EQ(trace->kernels.size(), 3U);
}

TEST(TorchTrace, TakesFactsBehindTheEvents) {
  const auto trace = read(
      R"({"traceEvents":[{"ph":"X","cat":"Kernel","name":"k","pid":0,"tid":7,"ts":5,"dur":1}],)"
      R"("baseTimeNanoseconds":77,"traceName":"a.json"})");
  ASSERT_TRUE(trace.is_ok()) << trace.status().text();
  EXPECT_EQ(trace->wall_of_zero_ns, 77);
  ASSERT_EQ(trace->kernels.size(), 1U);
  EXPECT_EQ(trace->lanes[trace->kernels[0].lane].device, 0);
}

TEST(TorchTrace, TakesSizesAndIdsOnlyWhereTheyAreSuch) {
  const auto trace = read(with_events(
      R"({"ph":"X","cat":"kernel","name":"a","ts":5,"dur":1,"args":{"correlation":0,"grid":[],)"
      R"("block":[1,2,3,4],"stream":"seven"}})"));
  ASSERT_TRUE(trace.is_ok()) << trace.status().text();
  EXPECT_TRUE(trace->truncated.empty()) << trace->truncated;
  ASSERT_EQ(trace->kernels.size(), 1U);
  EXPECT_EQ(trace->kernels[0].correlation, kUnknown);
  const Launch& launch = trace->launches[trace->kernels[0].launch];
  EXPECT_EQ(launch.grid[0], kUnknown);
  EXPECT_EQ(launch.block[0], kUnknown);
}

TEST(TorchTrace, LeavesOutImpossibleTimes) {
  const auto trace = read(with_events(R"({"ph":"X","cat":"kernel","name":"a","ts":5,"dur":-1},)"
                                      R"({"ph":"X","cat":"kernel","name":"a","ts":"soon","dur":1},)"
                                      R"({"ph":"X","cat":"kernel","name":"a","ts":5},)"
                                      R"({"ph":"X","cat":"kernel","name":"a","ts":5,"dur":4e14},)"
                                      R"({"ph":"X","cat":"kernel","name":"a","ts":5,"dur":1})"));
  ASSERT_TRUE(trace.is_ok());
  EXPECT_EQ(trace->kernels.size(), 1U);
  EXPECT_EQ(trace->impossible_times, 4U);  // no duration, and one of more than ten years, too
}

TEST(TorchTrace, KeepsWhatIsNotToldApartFromZero) {
  const auto trace = read(with_events(
      R"({"ph":"X","cat":"gpu_memcpy","name":"Memcpy HtoD","ts":5,"dur":1},)"
      R"({"ph":"X","cat":"gpu_memset","name":"Memset","ts":5,"dur":1,"args":{"bytes":-3}},)"
      R"({"ph":"X","cat":"cuda_runtime","name":"cudaMalloc","ts":5,"dur":1})"));
  ASSERT_TRUE(trace.is_ok());
  EXPECT_EQ(trace->copies.at(0).bytes, kUnknown);
  EXPECT_EQ(trace->fills.at(0).bytes, kUnknown);
  EXPECT_EQ(trace->calls.at(0).thread, kUnknown);
}

TEST(TorchTrace, RowsFarFromMostAreLeftOut) {
  auto trace = read(with_events(R"({"ph":"X","cat":"kernel","name":"a","ts":1e15,"dur":1},)"
                                R"({"ph":"X","cat":"kernel","name":"b","ts":5,"dur":1},)"
                                R"({"ph":"X","cat":"kernel","name":"c","ts":7,"dur":1})"));
  ASSERT_TRUE(trace.is_ok());
  drop_far_times(*trace);
  ASSERT_EQ(trace->kernels.size(), 2U);
  EXPECT_EQ(span_of(*trace).end, 8000);
  EXPECT_EQ(trace->impossible_times, 1U);
}

TEST(TorchTrace, SaysWhatIsWrongWithOtherFiles) {
  const auto code = [](std::string_view text) { return read(text).status().code(); };
  EXPECT_EQ(code(""), Code::Corrupt);
  EXPECT_EQ(code("hello"), Code::Corrupt);
  EXPECT_EQ(code("[1,2]"), Code::Corrupt);
  EXPECT_EQ(code(R"({"a":1})"), Code::Unsupported);
  EXPECT_EQ(code(R"({"traceEvents":7})"), Code::Unsupported);
  EXPECT_EQ(code(R"({"traceEvents":[]})"), Code::NotFound);
  EXPECT_EQ(code(R"({"traceEvents":[{"ph":"M","name":"x"}]})"), Code::NotFound);
  EXPECT_EQ(code(R"({"traceEvents":[{"ph":"X","cat":"ker)"), Code::Corrupt);
  EXPECT_NE(read(R"({"a":1})").status().message().find("export_chrome_trace"), std::string::npos);
}

TEST(TorchTrace, SaysWhatWouldHaveGivenScopesAndStacks) {
  const auto trace = read(with_events(R"({"ph":"X","cat":"kernel","name":"a","ts":5,"dur":1})"));
  ASSERT_TRUE(trace.is_ok());
  ASSERT_EQ(trace->shortfalls.size(), 2U);
  EXPECT_EQ(trace->shortfalls[0].feature, "scopes");
  EXPECT_EQ(trace->shortfalls[1].feature, "stacks");
}

}  // namespace
}  // namespace gpufl::importing
