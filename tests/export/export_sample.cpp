// SPDX-License-Identifier: Apache-2.0
// Writes one small run, known to the last nanosecond, in every format: `export_sample FOLDER`. What
// reads it with other people's readers, export_test.py and speedscope_test.py, knows what is in it.
#include <cstdio>
#include <filesystem>
#include <string>

#include "analysis/session/test_tables.hpp"
#include "base/json.hpp"
#include "export/export.hpp"
#include "symbols/session_frames.hpp"

namespace {

namespace fs = std::filesystem;
namespace exporting = gpufl::exporting;
using gpufl::analysis::CodeMap;
using gpufl::analysis::LaunchConfig;
using gpufl::analysis::RunData;
using gpufl::analysis::SessionData;
using gpufl::analysis::testing::TestSession;
using gpufl::format::MemoryOperation;

// Quotes, a comma, a line break, a control character, a letter of two bytes, a byte that is none.
constexpr const char* kHardName = "gemm<\"q\", 'x'>\n\x01 \xcf\x80 \xff";
// A nanosecond that a double does not have.
constexpr int64_t kLate = (int64_t{1} << 53) + 1;

CodeMap make_code() {
  gpufl::symbols::SessionFrames frames;
  for (
      const char* line :
      {R"({"type":"dict","dict":"name","ids":[1,2],"values":["train_step","main"]})",
       R"({"type":"dict","dict":"text","ids":[1,2],"values":["/home/me/train.py","/usr/lib/libx.so"]})",
       R"({"type":"dict","dict":"frame","ids":[1,2,3],"values":[)"
       R"({"function":1,"file":1,"line":90},{"function":2,"file":1,"line":7},)"
       R"({"module":2,"offset":4660}]})",
       R"({"type":"dict","dict":"stack","ids":[1,2],"values":[)"
       R"({"frames":[3,1,2]},{"frames":[2]}]})"}) {
    frames.add(*gpufl::base::Json::parse(line));
  }
  return CodeMap(frames, {});
}

// Inside of the first kernel: two groups of a block, one with ranges that cross.
void add_warps(TestSession& session) {
  gpufl::format::WarpLaunch launch;
  launch.launch = 1;
  launch.kernel = "gemm";
  launch.device = 0;
  launch.group_names = {"tma", "math"};
  session.data.tables.warp_launches.push_back(launch);
  using gpufl::format::Kind;
  gpufl::format::Batch rows(Kind::WarpSpan);
  const auto add = [&](const char* event, int64_t start, int64_t duration, int64_t group) {
    rows.push_row(
        {start, duration, 0, 1, 0, 12, 3, group, int64_t{session.name(event)}, 0, 65'538, 0, 640});
  };
  add("issue", 10'500, 1'000, 0);
  add("in flight", 11'000, 3'000, 0);
  add("multiply", 11'200, 2'000, 1);
  session.data.tables.others.emplace(Kind::WarpSpan, rows);
}

// A module and in it an operator, open at the launch of the second kernel.
void add_labels(TestSession& session) {
  gpufl::analysis::Markers& markers = session.data.tables.markers;
  constexpr int64_t kOperator = 1;  // that no pass runs backward
  session.marker("Net.head", 9'550, 250, 4711, "torch.module");
  session.marker("aten::add", 9'560, 200, 4711, "torch.op");
  markers.category.back() = kOperator;
  markers.stack.resize(markers.rows());
  markers.stack.back() = 1;
}

SessionData first_session() {
  TestSession session;
  auto& header = session.data.summary.header;
  header.session_id = "20261115T034512.000250Z-1f2e3d4c5b6a7988";
  header.app_name = "train";
  header.pid = 4711;
  header.rank = 0;
  header.start_wall_ns = 1'794'714'312'000'000'001;
  header.start_monotonic_ns = 5'000'000'007;
  session.data.summary.devices.push_back(
      gpufl::base::Json::object().set("device", 0).set("name", "NVIDIA \"H200\""));
  const int64_t step = session.scope("step", 1'000, 99'000, {.thread = 4711, .tag = "train"});
  const int64_t forward = session.scope("forward", 2'000, 40'000, {.parent = step, .thread = 4711});
  LaunchConfig config;
  config.grid = {128, 2, 1};
  config.block = {256, 1, 1};
  config.registers = 40;
  config.shared_static = 1024;
  config.shared_dynamic = 0;
  config.occupancy = 0.5625;
  config.occupancy_bound = "registers";
  const uint32_t hard = session.config(kHardName, config);
  session.kernel(hard, 10'007, 5'001,
                 {.thread = 4711,
                  .scope = forward,
                  .api_start = 9'001,
                  .api_duration = 503,
                  .correlation = 77,
                  .stack = 1});
  // Overlaps the one before on its own stream.
  session.kernel("_Z3addPf", 12'000, 1'000,
                 {.thread = 4711,
                  .scope = forward,
                  .api_start = 9'600,
                  .api_duration = 100,
                  .correlation = 78,
                  .stack = 2});
  // Two nodes of one launched graph.
  session.kernel("node", 20'000, 100,
                 {.thread = 4711, .api_start = 18'000, .api_duration = 900, .correlation = 79},
                 {.graph = 5, .graph_node = (int64_t{1} << 60) + 1});
  session.kernel("node", 20'200, 100,
                 {.thread = 4711, .api_start = 18'000, .api_duration = 900, .correlation = 79},
                 {.graph = 5, .graph_node = (int64_t{1} << 60) + 2});
  session.kernel("late", kLate, 1);
  session.copy(
      1, int64_t{1} << 33, 30'000, 2'000,
      {.stream = 9, .thread = 4711, .api_start = 25'000, .api_duration = 10, .correlation = 80});
  session.fill(4096, 33'000, 10, {.stream = 9});
  session.wait(3, 50'000, 30'000, {.thread = 4711, .scope = step, .stack = 1});
  session.allocation(MemoryOperation::Allocate, 0xFFFF'8000'0000'0001, 64, 3'050,
                     {.thread = 4711, .api_start = 3'000, .api_duration = 100});
  session.api_call("cudaMalloc", 3'000, 100, 0, "", {.thread = 4711});
  session.api_call("cudaFree", 4'000, 5, 1, "cudaErrorInvalidValue", {.thread = 4711});
  session.graph_launch(5, 2, 20'000, 300, {.stream = 11, .thread = 4711});
  add_warps(session);
  session.marker("load", 5'000, 1'000, 4711, "data");
  session.marker("tick", 5'500, 0, 4711);
  add_labels(session);
  session.counter("tokens", 100, 1);
  session.counter("tokens", 200, kLate);
  session.metric("gpu_utilization_pct", 0, 150, 97);
  session.pm_sample("dram__bytes.sum", 10'200, 100, 12, {.exponent = 3});
  session.pm_sample("dram__bytes.sum", 10'100, 100, 3, {.exponent = -1});
  session.metric("cpu_utilization_pct", -1, 160, 12);
  session.metric("core_busy_pct", -1, 160, 50, 1);
  SessionData data = session.finish();
  data.code = make_code();
  return data;
}

SessionData second_session() {
  TestSession session;
  session.data.summary.header.session_id = "20261115T034513.000250Z-aaaaaaaaaaaaaaaa";
  session.data.summary.header.app_name = "train";
  session.data.summary.header.pid = 4711;  // in another container
  session.data.summary.header.rank = 1;
  session.kernel("node", 500, 100, {.thread = 4711, .api_start = 400, .api_duration = 10});
  return session.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: export_sample FOLDER\n");
    return 64;
  }
  RunData run;
  run.id = "run-1";
  run.sessions.push_back(first_session());
  run.sessions.push_back(second_session());
  run.offset_ns = {0, 1'000'000'003};
  for (const auto& [word, name] :
       {std::pair("perfetto", "sample.perfetto-trace"), std::pair("chrome", "sample.chrome.json"),
        std::pair("chrome", "sample.chrome.json.gz"),
        std::pair("speedscope", "sample.speedscope.json"), std::pair("pprof", "sample.pb.gz"),
        std::pair("csv", "sample-csv"), std::pair("json", "sample.json")}) {
    const auto written = exporting::write_export(run, *exporting::target_of(word),
                                                 {fs::path(argv[1]) / name, false, {}});
    if (!written) {
      std::fprintf(stderr, "%s: %s\n", word, written.status().text().c_str());
      return 1;
    }
  }
  return 0;
}
