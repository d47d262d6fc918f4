// SPDX-License-Identifier: Apache-2.0
// The report of a session of 100,000 kernels, as people wait for it: `gpufl report` from its start
// to its end, its output read.
//
//   report_100k [--json FILE]
//
// Not timed: writing the session. The best of several rounds counts.
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>

#include "base/clock.hpp"
#include "bench/analysis/kernel_session.hpp"
#include "bench/report.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;

constexpr size_t kKernels = 100'000;
constexpr int kRounds = 15;

// Seconds; below 0 where it failed.
double time_report(const fs::path& gpufl, const fs::path& session, const char* format) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const int64_t begin_ns = base::monotonic_ns();
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDOUT_FILENO);
    execl(gpufl.c_str(), "gpufl", "report", "--format", format, session.c_str(), nullptr);
    _exit(127);
  }
  close(ends[1]);
  std::array<char, 65536> buffer;
  size_t bytes = 0;
  for (ssize_t got; (got = read(ends[0], buffer.data(), buffer.size())) > 0;) {
    bytes += static_cast<size_t>(got);
  }
  close(ends[0]);
  int status = 0;
  const bool is_done = child > 0 && waitpid(child, &status, 0) == child && status == 0 && bytes > 0;
  return is_done ? static_cast<double>(base::monotonic_ns() - begin_ns) * 1e-9 : -1;
}

double best_of_rounds(const fs::path& gpufl, const fs::path& session, const char* format) {
  double best = time_report(gpufl, session, format);
  for (int round = 1; round < kRounds && best >= 0; ++round) {
    best = std::min(best, time_report(gpufl, session, format));
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("report_100k", argc, argv);
  const fs::path gpufl =
      fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin" / "gpufl";
  std::string folder = (fs::temp_directory_path() / "gpufl_report_100k_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 2;
  }
  const fs::path session = fs::path(folder) / "session";
  double text_s = -1;
  double json_s = -1;
  if (const auto status = bench::write_kernel_session(session, kKernels); status) {
    text_s = best_of_rounds(gpufl, session, "text");
    json_s = best_of_rounds(gpufl, session, "json");
  } else {
    std::fprintf(stderr, "%s\n", status.text().c_str());
  }
  fs::remove_all(folder);
  if (text_s < 0 || json_s < 0) {
    std::fprintf(stderr, "no report: %s\n", gpufl.c_str());
    return 2;
  }
  report.note("kernels", static_cast<int64_t>(kKernels));
  report.note("rounds", kRounds);
  report.value("text report of 100,000 kernels, wall time", text_s, "s", bench::at_most(0.25));
  report.value("the same as JSON", json_s, "s", bench::at_most(0.25));
  return report.finish();
}
