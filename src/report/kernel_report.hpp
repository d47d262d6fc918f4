// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analysis/figures/counted_code.hpp"
#include "analysis/figures/coverage.hpp"
#include "analysis/figures/kernel_callers.hpp"
#include "analysis/figures/sampled_code.hpp"
#include "analysis/math/figure.hpp"
#include "analysis/session/passes.hpp"
#include "analysis/summary/summary.hpp"
#include "disassembly/disassembly_file.hpp"
#include "report/page.hpp"
#include "report/session_report.hpp"

// The report of one kernel: which lines and instructions are slow, and why. Views: the caller owns
// what they show. Pure functions; any thread.
namespace gpufl::report {

// An image of the kernel's code; a session has several where the kernel was compiled anew.
struct KernelImage {
  const disassembly::ModuleNote* module;
  const disassembly::KernelCode* code;
  analysis::SampledCode sampled;
  analysis::CountedCode counted = {};
  bool is_ambiguous = false;                      // its samples may be of another image
  const std::vector<std::string>* ptx = nullptr;  // lines; null: it has none
};

struct KernelReport {
  const analysis::SessionSummary& summary;
  std::string name;                  // demangled, whole
  std::string function;              // as the log has it
  uint64_t launches = 0;             // 0: none was recorded
  double time_ns = 0;                // on GPUs, all of them
  analysis::Coverage coverage = {};  // of the session or its chosen part
  analysis::KernelCallers callers = {};
  analysis::SampleCount samples = {};  // of the kernel, whether there is code or not
  uint64_t samples_without_code = 0;   // of them
  // Counted by instruction, whether there is code or not.
  analysis::InstructionCounts counts = {};
  std::vector<KernelImage> images = {};  // most samples first
  std::span<const symbols::SourceText> sources = {};
  std::span<const disassembly::CompiledOrigin> origins = {};  // of the images' files
  // What there is not: "samples", "code", "lines", "source text", and why.
  std::vector<std::pair<std::string, analysis::Unknown>> missing = {};
  const analysis::MergedPasses* passes = nullptr;  // whose figures these are; null: of one session
};

// `with_source`: source and instructions side by side.
void write_kernel(Page& page, const KernelReport& report, const TextOptions& options,
                  bool with_source);
// One line that ends with a newline. `with_source`: also source text and PTX.
std::string json_kernel_report(const KernelReport& report, bool with_source);

// "long_scoreboard 40.0%, wait 12.0%": the reasons with the most samples.
std::string stalls_text(const analysis::SampleCount& count, size_t most);
// "12,000 warp instructions, 16.0 of 32 threads active, 4.0 times the sectors needed": what was
// counted; empty: nothing.
std::string counts_text(const analysis::InstructionCounts& counts);
// What was counted of an image's lines and instructions.
void write_counts(Page& page, const KernelReport& report, const KernelImage& image, size_t top);
// "saxpy.cu:12"; "(no line)" where `file` is empty.
std::string line_text(const std::string& file, uint32_t line);
// The text of a line; null: it was not kept.
const std::string* source_line(std::span<const symbols::SourceText> sources,
                               const std::string& file, int64_t line);

}  // namespace gpufl::report
