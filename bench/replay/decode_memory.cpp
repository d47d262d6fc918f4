// SPDX-License-Identifier: Apache-2.0
// What the collector holds in memory while ten million kernels go by, without a GPU.
//
//   decode_memory [--json FILE]
//
// Rounds as in decode_bench, but as large as those of the fastest programs, on a thread like the
// collector's, with windows that are closed and sealed as in any session. Resident memory is told
// after every million kernels, above what the process had before; what the records themselves need
// is made before. bench/gpu/trace_memory.cu holds the whole of Trace to its bar.
#include <stdlib.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "backend/nvidia/cupti/activity_decoder.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"
#include "bench/replay/log_sink.hpp"
#include "bench/replay/record_stream.hpp"
#include "bench/report.hpp"
#include "capture/scope_history.hpp"
#include "format/log_writer.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;

constexpr size_t kKernelsARound = 25'000;  // 500,000 a second
constexpr int kRoundsAMillion = 40;
constexpr int kMillions = 10;
constexpr double kMostMb = 20;  // of Trace's 48: the rest is CUPTI's buffers, libraries, rings

double resident_mb() {
  std::ifstream lines("/proc/self/smaps_rollup");
  for (std::string word; lines >> word;) {
    double kib = 0;
    if (word == "Rss:" && lines >> kib) return kib * 1024 / 1e6;
  }
  return 0;
}

struct Figures {
  std::vector<double> after_million_mb;
  uint64_t windows_sealed = 0;
};

bool measure(const fs::path& folder, Figures& figures) {
  auto rows = bench::KernelRows::load(GPUFL_BENCH_TRACE);
  setenv("GPUFL_CUPTI_LIBRARY", GPUFL_STANDIN_CUPTI, 1);
  backend::Availability why;
  const auto cupti = backend::CuptiLibrary::open(why);
  if (!rows || !cupti) return false;
  bench::RecordStream stream(std::move(*rows));
  bench::RecordStream::Round round;
  // Until the memory that records come and go in has found its size.
  for (int i = 0; i < kRoundsAMillion; ++i) stream.draw(kKernelsARound, round);
  const double before_mb = resident_mb();

  format::LogOptions options;
  options.session_dir = folder / "session";
  auto log = format::LogWriter::create(options, {});
  if (!log) return false;
  const backend::CudaDriver driver;
  backend::DeviceNumbers devices(driver, {});
  capture::ScopeHistory scopes;
  bench::LogSink sink(**log, scopes);
  backend::ActivityDecoder decoder(cupti->api(), devices, {});
  for (int i = 1; i <= kMillions * kRoundsAMillion; ++i) {
    stream.draw(kKernelsARound, round);
    bench::tell_scopes(round, scopes);
    for (const auto& [note, thread] : round.notes) decoder.joiner().note(note, thread, sink);
    for (auto& buffer : round.buffers) {
      decoder.decode(reinterpret_cast<uint8_t*>(buffer.data()), buffer.size() * sizeof(uint64_t),
                     round.last_ns, sink);
    }
    decoder.joiner().submit(true, round.last_ns, sink);
    if (!(*log)->flush(round.last_ns)) return false;
    if (i % kRoundsAMillion == 0) figures.after_million_mb.push_back(resident_mb() - before_mb);
  }
  figures.windows_sealed = (*log)->counts().windows_sealed;
  decoder.joiner().finish(sink);
  return (*log)->close(round.last_ns, {}).is_ok();
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("decode_memory", argc, argv);
  std::string folder = (fs::temp_directory_path() / "gpufl-memory-XXXXXX").string();
  if (mkdtemp(folder.data()) == nullptr) return 2;
  Figures figures;
  bool is_ok = false;
  std::thread([&] { is_ok = measure(folder, figures); }).join();
  std::error_code ignored;
  fs::remove_all(folder, ignored);
  if (!is_ok) return 2;
  const std::vector<double>& mb = figures.after_million_mb;
  for (size_t i = 0; i < mb.size(); ++i) {
    std::printf("after %zu million: %.1f MB\n", i + 1, mb[i]);
  }
  report.note("windows_sealed", static_cast<int64_t>(figures.windows_sealed));
  report.value("after 1 million", mb.front(), "MB");
  report.value("after 10 million", mb.back(), "MB");
  report.value("most, after any million", *std::max_element(mb.begin(), mb.end()), "MB",
               bench::at_most(kMostMb));
  return report.finish();
}
