// SPDX-License-Identifier: Apache-2.0
// A session of a million kernels as a Perfetto trace, on one core.
//
//   export_bench [--json FILE]
//
// Timed, pinned to one core: the session loaded from its sealed log, and exported to a file, with
// an arrow from each call to its kernel and with arguments: grid, block, registers, shared memory,
// occupancy, correlation, scope and line. Occupancy and lines are added to what was loaded, because
// the recorded trace that the kernels are drawn from has none. The best of several rounds counts,
// on the time that the core worked. Not timed: writing the session, compressing the trace.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>

#include "analysis/session/session_data.hpp"
#include "base/json.hpp"
#include "bench/analysis/kernel_session.hpp"
#include "bench/one_core.hpp"
#include "bench/report.hpp"
#include "export/export.hpp"
#include "symbols/session_frames.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;

constexpr size_t kRows = 1'000'000;
constexpr int kRounds = 5;
constexpr uint32_t kLines = 120;

base::Json dictionary(const char* name) {
  return base::Json::object().set("type", "dict").set("dict", name);
}

// A line of a program for each kernel, and an occupancy for each configuration.
void add_arguments(analysis::SessionData& session) {
  symbols::SessionFrames frames;
  base::Json ids = base::Json::array();
  base::Json places = base::Json::array();
  base::Json stacks = base::Json::array();
  for (uint32_t id = 1; id <= kLines; ++id) {
    ids.push(id);
    places.push(base::Json::object().set("file", 1).set("line", 3 * id));
    stacks.push(base::Json::object().set("frames", base::Json::array().push(id)));
  }
  frames.add(dictionary("text")
                 .set("ids", base::Json::array().push(1))
                 .set("values", base::Json::array().push("/home/me/train.py")));
  frames.add(dictionary("frame").set("ids", ids).set("values", places));
  frames.add(dictionary("stack").set("ids", ids).set("values", stacks));
  session.code = analysis::CodeMap(frames, {});
  analysis::Kernels& kernels = session.tables.kernels;
  kernels.stack.clear();
  for (const uint32_t config : kernels.config) kernels.stack.push_back(config % kLines + 1);
  for (size_t i = 0; i < session.tables.configs.size(); ++i) {
    analysis::LaunchConfig& config = session.tables.configs[i];
    config.shared_static = static_cast<int64_t>(i % 3) * 1024;
    config.shared_dynamic = static_cast<int64_t>(i % 5) * 8192;
    config.occupancy = static_cast<double>(1 + i % 16) / 16;
    config.occupancy_bound = i % 2 == 0 ? "registers" : "shared_memory";
  }
}

int measure(const fs::path& folder, bench::Report& report) {
  const auto fail = [](const base::Status& status) {
    std::fprintf(stderr, "%s\n", status.text().c_str());
    return 2;
  };
  const fs::path log = folder / "session";
  if (const auto written = bench::write_kernel_session(log, kRows); !written) return fail(written);
  double load_s = 1e9;
  double export_s = 1e9;
  uint64_t bytes = 0;
  uint64_t packed_bytes = 0;
  for (int round = 0; round < kRounds; ++round) {
    const double begin_s = bench::cpu_s();
    auto run = analysis::load_run(log, {.threads = 1});
    if (!run) return fail(run.status());
    load_s = std::min(load_s, bench::cpu_s() - begin_s);
    add_arguments(run->sessions.front());
    const double loaded_s = bench::cpu_s();
    const auto written =
        exporting::write_export(*run, exporting::Target::Perfetto, {folder / "trace", true, {}});
    if (!written) return fail(written.status());
    export_s = std::min(export_s, bench::cpu_s() - loaded_s);
    bytes = written->bytes;
    if (round != 0) continue;
    const auto packed =
        exporting::write_export(*run, exporting::Target::Perfetto, {folder / "trace.gz", true, {}});
    if (!packed) return fail(packed.status());
    packed_bytes = packed->bytes;
  }
  const auto per_kernel = [](uint64_t size) { return static_cast<double>(size) / kRows; };
  report.note("kernels", static_cast<int64_t>(kRows));
  report.note("rounds", kRounds);
  report.value("load and export", load_s + export_s, "s", bench::at_most(1.5));
  report.value("export alone", export_s, "s");
  report.value("trace", per_kernel(bytes), "B a kernel", bench::at_most(150));
  report.value("trace, gzipped", per_kernel(packed_bytes), "B a kernel", bench::at_most(35));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("export_bench", argc, argv);
  bench::pin_to_one_core();
  std::string folder = (fs::temp_directory_path() / "gpufl_export_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 2;
  }
  const int outcome = measure(folder, report);
  fs::remove_all(folder);
  return outcome != 0 ? outcome : report.finish();
}
