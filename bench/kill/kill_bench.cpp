// SPDX-License-Identifier: Apache-2.0
// Twenty programs killed at random moments: is what they had recorded there?
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "bench/kill/kill_run.hpp"
#include "bench/report.hpp"

int main(int argc, char** argv) {
  using namespace gpufl::bench;
  constexpr int kRuns = 20;
  Report report("kill_bench", argc, argv);
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe");
  int failed = 0;
  uint64_t owed = 0, found = 0;
  double newest_age_ms = 0;
  for (int run = 0; run < kRuns; ++run) {
    const auto life = random_life();
    const KillOutcome outcome = kill_and_read(self.parent_path() / "parts" / "kill_victim", life);
    for (const auto& broken : {outcome.failures, outcome.late}) {
      for (const std::string& text : broken) {
        std::printf("run %d, killed after %lld ms: %s\n", run, static_cast<long long>(life.count()),
                    text.c_str());
      }
    }
    failed += !outcome.failures.empty() || !outcome.late.empty();
    owed += outcome.scopes_owed;
    found += outcome.scopes_found;
    newest_age_ms = std::max(newest_age_ms, outcome.newest_age_ms);
  }
  report.note("runs", kRuns);
  report.value("runs that broke the promise", failed, "runs", at_most(0));
  report.value("scopes older than 250 ms", static_cast<double>(owed), "scopes");
  report.value("of those unreadable", static_cast<double>(owed - found), "scopes", at_most(0));
  report.value("age of the newest readable scope, worst run", newest_age_ms, "ms", at_most(250));
  return report.finish();
}
