// SPDX-License-Identifier: Apache-2.0
// What a CPU stack costs the thread that it is taken of, against what every program has for it.
// Costs are CPU time of the thread, so that a busy machine does not change them.
#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "bench/paired_ratio.hpp"
#include "bench/report.hpp"
#include "bench/stacks/stack_cost.hpp"

namespace gpufl::bench {
namespace {

constexpr int kPairs = 40;
constexpr int kOurCount = 20'000;
constexpr int kOtherCount = 2'000;

// A function of its own for every depth, with a frame of its own size: recursion would meet one
// return address again and again.
template <int Depth, typename Bottom>
[[gnu::noinline]] void descend(Bottom& bottom) {
  volatile char frame[16 + (Depth * 37) % 200];
  frame[0] = 0;
  if constexpr (Depth == 0) {
    bottom();
  } else {
    descend<Depth - 1>(bottom);
  }
  asm volatile("" : : "r"(&frame) : "memory");
}

int frames_here() {
  symbols::StackTable& table = symbols::StackTable::instance();
  return static_cast<int>(table.frames(table.record()).size());
}

double best_of(const std::vector<double>& costs) {
  double best = costs[0];
  for (const double cost : costs) best = cost < best ? cost : best;
  return best;
}

template <int Depth>
void measure_native(Report& report, double bar_ns) {
  auto bottom = [&] {
    const std::string name = "depth " + std::to_string(Depth) + ": ";
    record_ns(100);
    report.note("frames_at_depth_" + std::to_string(Depth), frames_here());
    std::vector<double> ours;
    const auto subject = [&] { return ours.emplace_back(record_ns(kOurCount)); };
    const Ratio to_backtrace =
        paired_ratio(kPairs, [] { return backtrace_ns(kOtherCount); }, subject);
    const Ratio to_unwind =
        paired_ratio(kPairs, [] { return unwind_backtrace_ns(kOtherCount); }, subject);
    report.value(name + "a stack", best_of(ours), "ns", at_most(bar_ns));
    report.ratio(name + "a stack over backtrace()", to_backtrace, at_most(0.25));
    report.ratio(name + "a stack over _Unwind_Backtrace", to_unwind, at_most(0.25));
    report.ratio(name + "a stack over a stack", paired_ratio(kPairs, subject, subject));
  };
  // What is on the stack anyway: three of libc's, main(), and those between it and the bottom.
  constexpr int kBelow = 7;
  descend<Depth - kBelow>(bottom);
}

// The interpreter is a program of its own, found where a user's shell would.
void measure_python(Report& report) {
  std::error_code error;
  const std::filesystem::path parts =
      std::filesystem::read_symlink("/proc/self/exe", error).parent_path() / "parts";
  const std::string command = "python3 " + (parts / "python_stack_cost.py").string() + " " +
                              (parts / "libpython_stack_cost.so").string() + " " +
                              std::to_string(kPairs) + " " + std::to_string(kOurCount);
  // NOLINTNEXTLINE(bugprone-command-processor): this benchmark's own program
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return;
  std::stringstream text;
  std::array<char, 256> line;
  while (std::fgets(line.data(), line.size(), pipe) != nullptr) text << line.data();
  pclose(pipe);
  int frames = 0;
  std::vector<double> ours, ratios;
  text >> frames;
  for (double our_ns = 0, other_ns = 0; text >> our_ns >> other_ns;) {
    ours.push_back(our_ns);
    ratios.push_back(our_ns / other_ns);
  }
  report.note("python_frames", frames);
  if (ours.empty() || frames == 0) return;  // no python3 here, or one whose frames are not read
  report.value("20 Python functions: a stack", best_of(ours), "ns");
  report.ratio("20 Python functions: a stack over backtrace()", summarize_ratios(ratios));
}

int run(int argc, char** argv) {
  Report report("stack_bench", argc, argv);
  measure_native<10>(report, 500);
  measure_native<40>(report, 1500);
  measure_python(report);
  return report.finish();
}

}  // namespace
}  // namespace gpufl::bench

int main(int argc, char** argv) { return gpufl::bench::run(argc, argv); }
