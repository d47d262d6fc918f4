// SPDX-License-Identifier: Apache-2.0
// Thirty million kernels of graphs in one session, as fast as they run: more than it took CUPTI
// elsewhere to begin giving times that are zero or inverted. The program knows what it launched,
// and reads its log back: every kernel has a good row or is counted as bad or missing by the
// ledger, none lies outside the time in which they ran, and of those that seem to begin before the
// one that they follow has ended the ledger knows as many, and by how much. About 60 seconds.

#include <algorithm>
#include <cstdint>
#include <gpufl/gpufl.hpp>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/clock.hpp"
#include "bench/gpu/cuda_work.cuh"
#include "bench/gpu/log_folder.hpp"
#include "bench/report.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"

namespace {

namespace bench = gpufl::bench;
namespace format = gpufl::format;

constexpr uint64_t kKernels = 30'000'000;
constexpr int kChain = 1'000;
constexpr int kStreams = 2;
constexpr int kLaunchesPerSync = 4;  // of each stream
static_assert(kKernels % (kChain * kStreams * kLaunchesPerSync) == 0);
constexpr int64_t kClockSlackNs = 1'000'000;

// Judges rows launch by launch: the kernels of a graph launch share its correlation id. Nodes are
// numbered as they were captured, so their ids tell the order of the chain, and ids of launches
// the order on the stream, whatever the times say and in whatever order rows came.
class RowJudge final : public format::Visitor {
 public:
  RowJudge(int64_t first_ns, int64_t last_ns) : first_ns_(first_ns), last_ns_(last_ns) {}

  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    namespace column = format::kernel_column;
    for (size_t i = 0; i < batch.rows(); ++i) {
      const int64_t start = batch.at(column::kStart, i);
      const int64_t end = start + batch.at(column::kDuration, i);
      const int64_t correlation = batch.at(column::kCorrelation, i);
      rows += 1;
      outside += start < first_ns_ || end > last_ns_ || end <= start;
      std::vector<Node>& nodes = open_[correlation];
      nodes.push_back({batch.at(column::kGraphNode, i), start, end});
      if (nodes.size() == kChain) {
        judge(nodes, spans_[batch.at(column::kStream, i)][correlation]);
        open_.erase(correlation);
      }
    }
  }

  // Launches follow each other on their stream.
  void finish() {
    for (const auto& [stream, launches] : spans_) {
      const Span* before = nullptr;
      for (const auto& [correlation, span] : launches) {
        if (before != nullptr) follow(before->end, span.start);
        before = &span;
      }
    }
  }
  size_t incomplete_launches() const { return open_.size(); }

  uint64_t rows = 0;
  uint64_t outside = 0;      // of the time in which the program ran them, or with no duration
  uint64_t twice = 0;        // the same node in one launch
  uint64_t overlapping = 0;  // begin before the one that they follow has ended
  int64_t most_overlap_ns = 0;

 private:
  struct Node {
    int64_t id, start, end;
  };
  struct Span {
    int64_t start, end;
  };

  void follow(int64_t end_before, int64_t start) {
    overlapping += start < end_before;
    most_overlap_ns = std::max(most_overlap_ns, end_before - start);
  }

  void judge(std::vector<Node>& nodes, Span& launch) {
    std::sort(nodes.begin(), nodes.end(), [](const Node& a, const Node& b) { return a.id < b.id; });
    for (size_t i = 1; i < nodes.size(); ++i) {
      twice += nodes[i].id == nodes[i - 1].id;
      follow(nodes[i - 1].end, nodes[i].start);
    }
    launch = {nodes.front().start, nodes.back().end};
  }

  const int64_t first_ns_, last_ns_;
  std::unordered_map<int64_t, std::vector<Node>> open_;  // by correlation id
  std::map<int64_t, std::map<int64_t, Span>> spans_;     // by stream, by correlation id
};

// Overlaps that the ledger does not know of, or not that they are so long.
uint64_t unnoticed(const RowJudge& rows, const format::Ledger& ledger) {
  const uint64_t noticed = ledger.kernels_overlapping.value_or(0);
  const auto noticed_ns = static_cast<int64_t>(ledger.most_overlap_ns.value_or(0));
  if (rows.overlapping > noticed) return rows.overlapping - noticed;
  return rows.most_overlap_ns > noticed_ns ? 1 : 0;
}

int64_t free_gpu_memory() {
  size_t free_bytes = 0, total = 0;
  GPUFL_CUDA(cudaMemGetInfo(&free_bytes, &total));
  return static_cast<int64_t>(free_bytes);
}

struct Window {
  int64_t begin_ns, end_ns;  // monotonic clock
  int64_t gpu_growth_bytes;  // after the first million
};

Window launch_all() {
  bench::KernelChain chains[kStreams] = {bench::KernelChain(kChain), bench::KernelChain(kChain)};
  Window window{gpufl::base::monotonic_ns(), 0, 0};
  int64_t free_before = 0;
  uint64_t launched = 0;
  while (launched < kKernels) {
    for (int i = 0; i < kLaunchesPerSync; ++i) {
      for (bench::KernelChain& chain : chains) chain.launch();
    }
    for (bench::KernelChain& chain : chains) chain.wait();
    launched += uint64_t{kChain} * kStreams * kLaunchesPerSync;
    if (free_before == 0 && launched >= 1'000'000) free_before = free_gpu_memory();
  }
  window.end_ns = gpufl::base::monotonic_ns();
  window.gpu_growth_bytes = free_before - free_gpu_memory();
  return window;
}

void judge_session(const std::filesystem::path& logs, const Window& window, bench::Report& report) {
  const auto sessions = format::find_sessions(logs);
  const auto reader = format::SessionReader::open(sessions.empty() ? logs : sessions[0]);
  if (!reader) {
    std::fprintf(stderr, "graph_soak: %s\n", reader.status().message().c_str());
    std::exit(2);
  }
  const format::VerifyResult verified = format::verify_session(sessions[0]);
  const format::Ledger ledger = verified.ledger.value_or(format::Ledger());
  const int64_t start_ns = reader->header().start_monotonic_ns;
  RowJudge rows(window.begin_ns - start_ns - kClockSlackNs,
                window.end_ns - start_ns + kClockSlackNs);
  reader->read(rows, {format::Kind::Kernel});
  rows.finish();

  const auto count = [](uint64_t value) { return static_cast<double>(value); };
  const uint64_t impossible = ledger.impossible_times.value_or(0);
  const uint64_t dropped = ledger.vendor_dropped.value_or(0);
  const uint64_t missing = ledger.graph_kernels_missing.value_or(0);
  // A record with impossible times is no row, and may be missed at its own launch as well.
  const uint64_t told = rows.rows + std::max(impossible, missing) + dropped;
  report.value("rows", count(rows.rows), "kernels");
  report.value("of impossible times", count(impossible), "kernels");
  report.value("dropped by CUPTI", count(dropped), "kernels");
  report.value("missing", count(missing), "kernels");
  report.value("neither recorded nor counted", count(kKernels) - count(std::min(told, kKernels)),
               "kernels", bench::at_most(0));
  report.value("rows beyond what was launched", count(std::max(rows.rows, kKernels) - kKernels),
               "kernels", bench::at_most(0));
  report.value("bad times that nobody noticed",
               count(rows.outside + rows.twice + unnoticed(rows, ledger)), "kernels",
               bench::at_most(0));
  report.value("kernels that seem to begin before the one before has ended",
               count(rows.overlapping), "kernels");
  report.value("by at most", count(static_cast<uint64_t>(rows.most_overlap_ns)), "ns");
  report.value("such kernels that the ledger counts", count(ledger.kernels_overlapping.value_or(0)),
               "kernels");
  report.value("by at most, as the ledger says", count(ledger.most_overlap_ns.value_or(0)), "ns");
  report.value("graph launches with a kernel missing", count(rows.incomplete_launches()),
               "launches", bench::at_most(0));
  report.value("log, sealed", count(ledger.writer.sealed_bytes) / count(kKernels), "B a kernel");
  for (const std::string& reason : verified.reasons) std::printf("verify: %s\n", reason.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("graph_soak", argc, argv);
  report.note("gpu", bench::require_gpu());
  report.note("kernels", kKernels);
  const bench::LogFolder logs;
  gpufl::InitOptions options;
  options.app_name = "graph_soak";
  options.log_path = logs.path().string();
  options.profiling_engine = gpufl::ProfilingEngine::Trace;
  if (!gpufl::init(options)) {
    std::fprintf(stderr, "graph_soak: no session in %s\n", options.log_path.c_str());
    return 2;
  }
  const Window window = launch_all();
  gpufl::shutdown();
  report.value(
      "kernels a second",
      static_cast<double>(kKernels) / (static_cast<double>(window.end_ns - window.begin_ns) / 1e9),
      "kernels/s");
  report.value("GPU memory taken after the first million",
               static_cast<double>(window.gpu_growth_bytes) / 1e6, "MB", bench::at_most(64));
  judge_session(logs.path(), window, report);
  return report.finish();
}
