// SPDX-License-Identifier: Apache-2.0
// What a range of NVTX costs the thread that pushes and pops it: recorded, with the injection but
// without a session, and without any injection. CPU time of that thread, in bursts that a ring
// holds; the collector's part is done between them.
#include <cstdint>
#include <cstdlib>

#include "backend/markers/marker_source.hpp"
#include "backend/nvidia/nvtx/nvtx_injection.hpp"
#include "base/clock.hpp"
#include "bench/nvtx/annotated_work.hpp"
#include "bench/paired_ratio.hpp"
#include "bench/report.hpp"

namespace gpufl::bench {
namespace {

constexpr int kPairs = 40;
constexpr int kBurst = 10'000;

double cpu_ns_each(void (*work)(int pairs)) {
  const int64_t begin = base::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  work(kBurst);
  return static_cast<double>(base::clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / kBurst;
}

class CountingSink : public backend::RowSink {
 public:
  int64_t intern(format::Dict, std::string_view) override { return 1; }
  void submit(const format::Batch& batch) override { rows += batch.rows(); }
  void write(format::Kind, const base::Json&) override {}
  backend::ScopeRef scope_at(int64_t, int64_t) override { return {}; }
  int64_t stack(uint32_t) override { return 0; }
  uint64_t rows = 0;
};

void measure_dormant(Report& report, const AnnotatedWork& plain, const AnnotatedWork& injected) {
  const auto without = [&] { return cpu_ns_each(plain.push_pop); };
  const auto dormant = [&] { return cpu_ns_each(injected.push_pop); };
  without();
  dormant();
  report.value("push and pop without injection", without(), "ns");
  report.difference("without injection over the same (A/A)",
                    difference_of(run_pairs(kPairs, without, without)), "ns");
  report.difference("dormant over without injection",
                    difference_of(run_pairs(kPairs, without, dormant)), "ns", at_most(10));
}

void measure_recorded(Report& report, const AnnotatedWork& plain, const AnnotatedWork& injected) {
  CountingSink sink;
  const auto source = backend::make_marker_source(nullptr);
  const int64_t start_ns = base::monotonic_ns();
  if (!source->start(start_ns).available) std::abort();
  int64_t drain_ns = 0;
  const auto drain = [&] {
    const int64_t begin_ns = base::monotonic_ns();
    source->drain(begin_ns - start_ns, sink);
    drain_ns += base::monotonic_ns() - begin_ns;
  };
  const auto recorded_as = [&](void (*work)(int)) {
    const double cost = cpu_ns_each(work);
    drain();
    return cost;
  };
  const auto without = [&] { return cpu_ns_each(plain.push_pop); };
  const auto recorded = [&] { return recorded_as(injected.push_pop); };
  const auto registered = [&] { return recorded_as(injected.push_pop_in_domain); };
  recorded();
  registered();
  report.difference("recorded over without injection",
                    difference_of(run_pairs(kPairs, without, recorded)), "ns", at_most(150));
  report.difference("recorded, domain and registered message, over without injection",
                    difference_of(run_pairs(kPairs, without, registered)), "ns", at_most(150));
  report.value("collector, a range", static_cast<double>(drain_ns) / static_cast<double>(sink.rows),
               "ns");
  source->stop();
  format::Ledger ledger;
  source->account(ledger);
  report.value("markers dropped", static_cast<double>(ledger.markers_dropped.value_or(1)),
               "markers", at_most(0));
}

}  // namespace
}  // namespace gpufl::bench

int main(int argc, char** argv) {
  using namespace gpufl::bench;
  Report report("nvtx_bench", argc, argv);
  unsetenv("NVTX_INJECTION64_PATH");
  const AnnotatedWork plain = plain_work();
  const AnnotatedWork injected = injected_work();
  injected.inject(gpufl::backend::start_nvtx_injection);
  measure_dormant(report, plain, injected);
  measure_recorded(report, plain, injected);
  return report.finish();
}
