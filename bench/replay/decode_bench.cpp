// SPDX-License-Identifier: Apache-2.0
// From CUPTI's buffers to the log, on one core.
//
//   decode_bench [--json FILE]
//
// Timed, as a round of the collector does it: notes of launches and full buffers of records (a
// kernel and its API call each) decoded, joined, given their scope, written to the log's live file
// as batches, flushed. Sealing runs on its own thread and is not part of it (log_bench times that).
// The sequence of kernels, their configurations and times are those of a small GPT on an H200. Not
// timed: making the records. The best of several rounds counts, on the time that this thread
// worked.
#include <stdlib.h>
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "backend/nvidia/cupti/activity_decoder.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"
#include "base/clock.hpp"
#include "bench/one_core.hpp"
#include "bench/replay/log_sink.hpp"
#include "bench/replay/record_stream.hpp"
#include "bench/report.hpp"
#include "capture/scope_history.hpp"
#include "format/log_writer.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;

constexpr size_t kKernelsARound = 4'096;  // some 80,000 launches a second
constexpr int kRounds = 200;
constexpr int64_t kSealNeverNs = int64_t{3600} * 1'000'000'000;

double thread_cpu_s() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

struct Cost {
  double decode_s = 1e9, all_s = 1e9;  // of the best round
  double wall_s = 1e9;
  uint64_t rows = 0, bytes = 0;
};

int measure(const fs::path& folder, bench::Report& report) {
  auto rows = bench::KernelRows::load(GPUFL_BENCH_TRACE);
  setenv("GPUFL_CUPTI_LIBRARY", GPUFL_STANDIN_CUPTI, 1);
  backend::Availability why;
  const auto cupti = backend::CuptiLibrary::open(why);
  format::LogOptions options;
  options.session_dir = folder / "session";
  options.window_age_ns = kSealNeverNs;
  options.window_bytes = uint64_t{1} << 40;
  auto log = format::LogWriter::create(options, {});
  if (!rows || !cupti || !log) {
    std::fprintf(stderr, "decode_bench: %s %s %s\n", rows.status().text().c_str(),
                 why.detail.c_str(), log.status().text().c_str());
    return 2;
  }
  bench::RecordStream stream(std::move(*rows));
  const backend::CudaDriver driver;
  backend::DeviceNumbers devices(driver, {});
  capture::ScopeHistory scopes;
  bench::LogSink sink(**log, scopes);
  backend::ActivityDecoder decoder(cupti->api(), devices, {});
  bench::RecordStream::Round round;
  Cost cost;
  for (int i = 0; i < kRounds; ++i) {
    stream.draw(kKernelsARound, round);
    bench::tell_scopes(round, scopes);
    const double begin = thread_cpu_s();
    const int64_t wall_begin = base::monotonic_ns();
    for (const auto& [note, thread] : round.notes) decoder.joiner().note(note, thread, sink);
    for (auto& buffer : round.buffers) {
      decoder.decode(reinterpret_cast<uint8_t*>(buffer.data()), buffer.size() * sizeof(uint64_t),
                     round.last_ns, sink);
    }
    const double decoded = thread_cpu_s();
    decoder.joiner().submit(true, round.last_ns, sink);
    if (!(*log)->flush(round.last_ns)) return 2;
    cost.decode_s = std::min(cost.decode_s, decoded - begin);
    cost.all_s = std::min(cost.all_s, thread_cpu_s() - begin);
    cost.wall_s =
        std::min(cost.wall_s, static_cast<double>(base::monotonic_ns() - wall_begin) * 1e-9);
  }
  decoder.joiner().finish(sink);
  const backend::CallCounts& counts = decoder.account().counts();
  const format::WriterCounts written = (*log)->counts();
  const uint64_t kernels = uint64_t{kRounds} * kKernelsARound;
  if (counts.missing != 0 || counts.unclaimed != 0 || counts.impossible_times != 0 ||
      written.rows.at("kernel") != kernels || written.rows.count("api") != 0) {
    std::fprintf(stderr, "decode_bench: what was written is not what was recorded\n");
    return 2;
  }
  report.note("kernels", static_cast<int64_t>(kernels));
  report.note("kernels_a_round", static_cast<int64_t>(kKernelsARound));
  const auto millions = [](double seconds) { return kKernelsARound / seconds * 1e-6; };
  report.value("decoded alone", millions(cost.decode_s), "M kernels/s");
  report.value("buffers to log, CPU time of one core", millions(cost.all_s), "M kernels/s",
               bench::at_least(3));
  report.value("buffers to log, wall time", millions(cost.wall_s), "M kernels/s");
  report.value("raw", static_cast<double>(written.raw_bytes) / static_cast<double>(kernels),
               "B a kernel", bench::at_most(26));
  return report.finish();
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("decode_bench", argc, argv);
  bench::pin_to_one_core();
  std::string folder = (fs::temp_directory_path() / "gpufl-decode-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 2;
  const int code = measure(folder, report);
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  return code;
}
