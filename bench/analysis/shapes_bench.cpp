// SPDX-License-Identifier: Apache-2.0
// Whether reading a session costs in proportion to its size, whatever its shape.
//
//   shapes_bench [--shape WORD] [--full] [--keep FOLDER] [--json FILE]
//
// Each shape is written with n rows and with 4n, and read by the `gpufl` beside this program, in a
// process of its own that stays on one core. Its CPU time, the least of several rounds, and its
// peak memory at 4n are held to 4.6 times those at n. What the command takes for a session of a few
// kernels is subtracted from both, so that the program's start does not hide how they grow.
// Besides, kernels whose streams, devices, threads and scopes take turns are loaded by turns with
// the same kernels of one stream: 10 million with --full, else 2 million. --keep leaves the
// sessions in a folder, to be looked at.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/session/session_data.hpp"
#include "bench/analysis/kernel_session.hpp"
#include "bench/analysis/shapes.hpp"
#include "bench/one_core.hpp"
#include "bench/report.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;
using bench::Shape;

constexpr size_t kGrowth = 4;
constexpr double kMaxGrowth = 4.6;
constexpr int kRounds = 3;

struct Cost {
  double cpu_s = 0, peak_mb = 0;
};

// Runs `work` in a process of its own, and says what that took; none where it failed. Nothing is
// allocated here that such a process would begin with.
template <typename Work>
std::optional<Cost> run_apart(Work work) {
  const pid_t child = fork();
  if (child == 0) {
    bench::pin_to_one_core();
    _exit(work());
  }
  int status = 0;
  rusage usage{};
  if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) return std::nullopt;
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return Cost{seconds(usage.ru_utime) + seconds(usage.ru_stime),
              static_cast<double>(usage.ru_maxrss) * 1.024e-3};
}

// In a process of its own, whose memory is not counted.
template <typename Write>
bool write_apart(const fs::path& folder, Write write, size_t n) {
  return run_apart([&] {
           const base::Status status = write(folder, n);
           if (!status) std::fprintf(stderr, "%s\n", status.text().c_str());
           return status ? 0 : 1;
         })
      .has_value();
}

std::optional<Cost> read_apart(const fs::path& gpufl, const Shape& shape, const fs::path& folder) {
  return run_apart([&] {
    std::vector<const char*> arguments = {"gpufl"};
    arguments.insert(arguments.end(), shape.command.begin(), shape.command.end());
    arguments.insert(arguments.end(), {folder.c_str(), nullptr});
    const int null = open("/dev/null", O_WRONLY);
    if (null < 0 || dup2(null, STDOUT_FILENO) < 0) return 1;
    execv(gpufl.c_str(), const_cast<char**>(arguments.data()));
    return 127;
  });
}

// The least time and the least peak of several rounds, which take turns with those of others.
struct Least {
  fs::path folder;
  size_t rows;
  Cost cost{1e9, 1e9};
};

bool measure(const fs::path& gpufl, const Shape& shape, std::vector<Least>& sizes) {
  for (const Least& size : sizes) {
    if (!write_apart(size.folder, shape.write, size.rows)) return false;
  }
  for (int round = 0; round < kRounds; ++round) {
    for (Least& size : sizes) {
      const auto cost = read_apart(gpufl, shape, size.folder);
      if (!cost) return false;
      size.cost.cpu_s = std::min(size.cost.cpu_s, cost->cpu_s);
      size.cost.peak_mb = std::min(size.cost.peak_mb, cost->peak_mb);
    }
  }
  return true;
}

bool judge(const fs::path& gpufl, const Shape& shape, const fs::path& folder,
           bench::Report& report) {
  constexpr size_t kFew = 20;  // enough to be cut into halves
  std::vector<Least> sizes = {
      {folder / "few", kFew}, {folder / "n", shape.rows}, {folder / "4n", kGrowth * shape.rows}};
  if (!measure(gpufl, shape, sizes)) {
    std::fprintf(stderr, "%s: failed\n", std::string(shape.what).c_str());
    return false;
  }
  const Cost& floor = sizes[0].cost;
  const Cost& small = sizes[1].cost;
  const Cost& large = sizes[2].cost;
  const std::string what(shape.what);
  report.value(what + ", 4n", large.cpu_s, "s");
  report.value(what + ", 4n", large.peak_mb, "MB");
  report.value(what + ", growth of time", (large.cpu_s - floor.cpu_s) / (small.cpu_s - floor.cpu_s),
               "x", bench::at_most(kMaxGrowth));
  report.value(what + ", growth of memory",
               (large.peak_mb - floor.peak_mb) / (small.peak_mb - floor.peak_mb), "x",
               bench::at_most(kMaxGrowth));
  return true;
}

// Loads kernels of one stream, and the same kernels dealt to eight streams, devices, threads and
// scopes: one after the other, and at random.
constexpr size_t kAllKernels = 10'000'000, kFewerKernels = 2'000'000;
bool judge_turns(const fs::path& folder, size_t kernels, bench::Report& report) {
  constexpr int64_t kLanes = 8;
  constexpr double kMaxRatio = 1.3;
  const fs::path one = folder / "one", turns = folder / "turns", random = folder / "random";
  const auto write = [&](const fs::path& session, const bench::Lanes& lanes) {
    const auto write_lanes = [&](const fs::path& place, size_t rows) {
      return bench::write_kernel_session(place, rows, lanes);
    };
    return write_apart(session, write_lanes, kernels);
  };
  if (!write(one, {}) || !write(turns, {kLanes}) || !write(random, {kLanes, true})) return false;
  bool is_done = true;
  const auto load = [&](const fs::path& session) {
    const auto cost =
        run_apart([&] { return analysis::load(session, {.threads = 1}).is_ok() ? 0 : 1; });
    is_done &= cost.has_value();
    return cost ? cost->cpu_s : 1;
  };
  const auto against_one = [&](const fs::path& session) {
    return bench::paired_ratio(
        bench::kMinPairs, [&] { return load(one); }, [&] { return load(session); });
  };
  report.note("kernels", uint64_t{kernels});
  report.ratio("load of kernels in turns against one stream", against_one(turns),
               bench::at_most(kMaxRatio));
  report.ratio("load of kernels at random against one stream", against_one(random));
  return is_done;
}

struct Arguments {
  std::string shape;  // empty: all of them
  std::string keep;   // empty: sessions are removed
  bool is_full = false;
};

// Takes what is this benchmark's own out of the arguments.
Arguments take_arguments(int& argc, char** argv) {
  Arguments taken;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--full") {
      taken.is_full = true;
    } else if (word == "--shape" && i + 1 < argc) {
      taken.shape = argv[++i];
    } else if (word == "--keep" && i + 1 < argc) {
      taken.keep = argv[++i];
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return taken;
}

}  // namespace

int main(int argc, char** argv) {
  const Arguments arguments = take_arguments(argc, argv);
  bench::Report report("shapes_bench", argc, argv);
  const fs::path gpufl =
      fs::read_symlink("/proc/self/exe").parent_path().parent_path() / "bin" / "gpufl";
  std::string folder = arguments.keep;
  if (folder.empty()) {
    folder = (fs::temp_directory_path() / "gpufl_shapes_bench_XXXXXX").string();
    if (::mkdtemp(folder.data()) == nullptr) {
      std::perror(folder.c_str());
      return 2;
    }
  }
  bool is_done = true, is_known = false;
  const auto run = [&](std::string_view word, auto judge_it) {
    if (!arguments.shape.empty() && arguments.shape != word) return;
    is_known = true;
    const fs::path place = fs::path(folder) / word;
    is_done &= judge_it(place);
    if (arguments.keep.empty()) fs::remove_all(place);
  };
  for (const Shape& shape : bench::shapes()) {
    run(shape.word, [&](const fs::path& place) { return judge(gpufl, shape, place, report); });
  }
  run("turns", [&](const fs::path& place) {
    return judge_turns(place, arguments.is_full ? kAllKernels : kFewerKernels, report);
  });
  if (arguments.keep.empty()) fs::remove_all(folder);
  if (!is_known) std::fprintf(stderr, "there is no shape '%s'\n", arguments.shape.c_str());
  const int code = report.finish();
  return is_done && is_known ? code : 2;
}
