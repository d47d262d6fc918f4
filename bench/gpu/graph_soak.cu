// SPDX-License-Identifier: Apache-2.0
// Thirty million kernels of graphs in one session, as fast as they run: more than it took CUPTI
// elsewhere to begin giving times that are zero or inverted. The program knows what it launched,
// and reads its log back: every kernel has a good row or is counted as bad or missing by the
// ledger, rows of a stream follow each other in the order of the graph's nodes, and none lies
// outside the time in which they ran. About 60 seconds.

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
// CUPTI corrects its conversion of the GPU's clock while it runs, so that a kernel may seem to
// begin before the one that it follows has ended. What overlaps by more than that has another's
// time.
constexpr int64_t kClockStepNs = 5'000;

// Judges rows launch by launch: the kernels of a graph launch share its correlation id.
class RowJudge final : public format::Visitor {
 public:
  RowJudge(int64_t first_ns, int64_t last_ns) : first_ns_(first_ns), last_ns_(last_ns) {}

  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    namespace column = format::kernel_column;
    for (size_t i = 0; i < batch.rows(); ++i) {
      const int64_t start = batch.at(column::kStart, i);
      const int64_t end = start + batch.at(column::kDuration, i);
      rows += 1;
      outside += start < first_ns_ || end > last_ns_ || end <= start;
      Launch& launch = open_[batch.at(column::kCorrelation, i)];
      launch.stream = batch.at(column::kStream, i);
      launch.nodes.push_back({start, end, batch.at(column::kGraphNode, i)});
      if (launch.nodes.size() == kChain) {
        judge(launch);
        open_.erase(batch.at(column::kCorrelation, i));
      }
    }
  }

  // Launches of a stream must not overlap either.
  void finish() {
    for (auto& [stream, spans] : spans_) {
      std::sort(spans.begin(), spans.end());
      for (size_t i = 1; i < spans.size(); ++i) follow(spans[i - 1].second, spans[i].first);
    }
  }
  size_t incomplete_launches() const { return open_.size(); }

  uint64_t rows = 0;
  uint64_t outside = 0;     // of the time in which the program ran them, or with no duration
  uint64_t disordered = 0;  // before the one that they follow
  uint64_t touching = 0;    // so little that it may be the clock's
  int64_t most_overlap_ns = 0;

 private:
  struct Node {
    int64_t start, end, id;
  };
  struct Launch {
    int64_t stream = 0;
    std::vector<Node> nodes;
  };

  // A kernel must begin where the one before it in the chain has ended.
  void follow(int64_t end_before, int64_t start) {
    const int64_t overlap = end_before - start;
    most_overlap_ns = std::max(most_overlap_ns, overlap);
    touching += overlap > 0 && overlap <= kClockStepNs;
    disordered += overlap > kClockStepNs;
  }

  void judge(Launch& launch) {
    std::vector<Node>& nodes = launch.nodes;
    std::unordered_map<int64_t, size_t>& places = places_[launch.stream];
    if (places.empty()) {
      std::sort(nodes.begin(), nodes.end(),
                [](const Node& a, const Node& b) { return a.start < b.start; });
      for (const Node& node : nodes) places.emplace(node.id, places.size());
    }
    std::vector<const Node*> chain(kChain);
    for (const Node& node : nodes) {
      const auto place = places.find(node.id);
      if (place == places.end() || chain[place->second] != nullptr) {
        ++disordered;  // of another graph, or twice
        return;
      }
      chain[place->second] = &node;
    }
    for (size_t i = 1; i < chain.size(); ++i) follow(chain[i - 1]->end, chain[i]->start);
    spans_[launch.stream].emplace_back(chain.front()->start, chain.back()->end);
  }

  const int64_t first_ns_, last_ns_;
  std::unordered_map<int64_t, Launch> open_;  // by correlation id
  // By stream: the place of each node in the chain, as the first launch ran them.
  std::map<int64_t, std::unordered_map<int64_t, size_t>> places_;
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> spans_;
};

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
  report.value("bad times that nobody noticed", count(rows.outside + rows.disordered), "kernels",
               bench::at_most(0));
  report.value("kernels that seem to begin before the one before has ended", count(rows.touching),
               "kernels");
  report.value("by at most", count(static_cast<uint64_t>(rows.most_overlap_ns)), "ns");
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
