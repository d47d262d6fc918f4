// SPDX-License-Identifier: Apache-2.0
// What a scope costs the thread that opens it. Costs are CPU time of that thread, so that a busy
// machine does not change them; scopes come in bursts that a ring holds, as a real program's do,
// and once without pause, where the ring overflows and drops.
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <gpufl/gpufl.hpp>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "bench/paired_ratio.hpp"
#include "bench/report.hpp"
#include "format/session_reader.hpp"

namespace gpufl::bench {
namespace {

using namespace std::chrono_literals;

constexpr int kPairs = 40;
constexpr int kBurst = 10'000;
constexpr int kThreads = 4;
// Longer than the collector's round: every burst meets an empty ring.
constexpr auto kDrainPause = 75ms;

template <typename Body>
double cpu_ns_each(int count, Body&& body) {
  const int64_t begin = base::clock_ns(CLOCK_THREAD_CPUTIME_ID);
  for (int i = 0; i < count; ++i) {
    body();
    asm volatile("" ::: "memory");
  }
  return static_cast<double>(base::clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin) / count;
}

double empty_loop() {
  return cpu_ns_each(kBurst, [] {});
}

double two_clock_reads() {
  return cpu_ns_each(kBurst, [] {
    const auto begin = std::chrono::steady_clock::now();
    const auto end = std::chrono::steady_clock::now();
    asm volatile("" : : "r"(&begin), "r"(&end) : "memory");
  });
}

double scope_pairs() {
  return cpu_ns_each(kBurst, [] {
    GFL_SCOPE("forward_pass") {}
  });
}

double tagged_scope_pairs() {
  return cpu_ns_each(kBurst, [] {
    GFL_SCOPE("forward_pass", "batch_42") {}
  });
}

template <double (*kMeasure)()>
double paced() {
  std::this_thread::sleep_for(kDrainPause);
  return kMeasure();
}

// Threads that live as long as the measurement, so that their rings are warm.
class Team {
 public:
  Team() : begin_(kThreads + 1), end_(kThreads + 1), costs_(kThreads) {
    for (int t = 0; t < kThreads; ++t) threads_.emplace_back([this, t] { work(t); });
    mean_cost(kThreads);
  }
  ~Team() {
    active_ = -1;
    begin_.arrive_and_wait();
    for (std::thread& thread : threads_) thread.join();
  }

  // The mean CPU time of a pair when the first `count` threads open scopes at once.
  double mean_cost(int count) {
    std::this_thread::sleep_for(kDrainPause);
    active_ = count;
    begin_.arrive_and_wait();
    end_.arrive_and_wait();
    double sum = 0;
    for (int t = 0; t < count; ++t) sum += costs_[t];
    return sum / count;
  }

 private:
  void work(int number) {
    while (true) {
      begin_.arrive_and_wait();
      if (active_ < 0) return;
      if (number < active_) costs_[number] = scope_pairs();
      end_.arrive_and_wait();
    }
  }

  std::barrier<> begin_, end_;
  int active_ = 0;
  std::vector<double> costs_;
  std::vector<std::thread> threads_;
};

struct FindLedger : format::Visitor {
  void on_object(format::Kind kind, const base::Json& line) override {
    if (kind == format::Kind::Ledger) ledger = format::Ledger::from_json(line);
  }
  format::Ledger ledger;
};

// A session into a folder of its own; stop() gives its ledger.
class RecordedSession {
 public:
  RecordedSession() {
    char pattern[] = "/tmp/gpufl_scope_bench_XXXXXX";
    folder_ = mkdtemp(pattern);
    InitOptions options;
    options.app_name = "scope_bench";
    options.log_path = folder_;
    options.backend = BackendKind::None;
    if (!init(options)) std::abort();
  }
  ~RecordedSession() { std::filesystem::remove_all(folder_); }

  format::Ledger stop() {
    shutdown();
    FindLedger visitor;
    for (const auto& session : format::find_sessions(folder_)) {
      const auto reader = format::SessionReader::open(session);
      if (reader) reader->read(visitor, {format::Kind::Ledger});
    }
    return visitor.ledger;
  }

 private:
  std::string folder_;
};

void measure_bursts(Report& report) {
  RecordedSession session;
  scope_pairs();
  report.ratio("two clock reads / the same (A/A)",
               paired_ratio(kPairs, two_clock_reads, two_clock_reads));
  report.ratio("scope pair / two clock reads",
               paired_ratio(kPairs, two_clock_reads, paced<scope_pairs>), at_most(2.0));
  report.ratio("scope pair with tag / two clock reads",
               paired_ratio(kPairs, two_clock_reads, paced<tagged_scope_pairs>), at_most(2.0));
  {
    Team team;
    const auto one = [&] { return team.mean_cost(1); };
    const auto all = [&] { return team.mean_cost(kThreads); };
    report.ratio("one thread / the same (A/A)", paired_ratio(kPairs, one, one));
    report.ratio("scope pair on 4 threads / on 1", paired_ratio(kPairs, one, all), at_most(1.3));
  }
  const format::Ledger ledger = session.stop();
  report.value("scopes dropped in bursts", static_cast<double>(ledger.scopes_dropped), "scopes",
               at_most(0));
}

// Without a bar: a scope that is dropped costs less, so the figure means little without its share.
void measure_without_pause(Report& report) {
  constexpr int kRounds = 100;
  RecordedSession session;
  report.ratio("scope pair without pause / two clock reads",
               paired_ratio(kRounds, two_clock_reads, scope_pairs));
  const format::Ledger ledger = session.stop();
  report.value("share dropped without pause",
               100.0 * static_cast<double>(ledger.scopes_dropped) / (kRounds * double{kBurst}),
               "%");
}

}  // namespace
}  // namespace gpufl::bench

int main(int argc, char** argv) {
  using namespace gpufl::bench;
  Report report("scope_bench", argc, argv);
  report.value("two clock reads", two_clock_reads(), "ns");
  report.difference("disabled scope over an empty loop",
                    difference_of(run_pairs(kPairs, empty_loop, scope_pairs)), "ns", at_most(2.0));
  measure_bursts(report);
  measure_without_pause(report);
  return report.finish();
}
