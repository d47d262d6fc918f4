// SPDX-License-Identifier: Apache-2.0
#include "cli/disassemble_command.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/source_options.hpp"
#include "text/display.hpp"
#include "text/units.hpp"
#include "workbench/disassemble.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using disassembly::DisassemblyFile;
using disassembly::ModuleNote;

constexpr const char* kCommand = "gpufl disassemble";

bool is_whole(const DisassemblyFile& file) {
  return std::all_of(file.modules.begin(), file.modules.end(),
                     [](const ModuleNote& module) { return module.state == "disassembled"; });
}

std::string describe(const fs::path& session, const DisassemblyFile& file) {
  std::string out = text::make_harmless(session.string()) + "\n";
  if (file.modules.empty()) return out + "  it contains no code images\n";
  uint64_t instructions = 0, with_lines = 0;
  for (const disassembly::KernelCode& code : file.kernels) {
    for (const disassembly::Instruction& instruction : code.instructions) {
      ++instructions;
      with_lines += instruction.chain != disassembly::kNoChain ? 1 : 0;
    }
  }
  out += fmt::format("  {} in {}: {}, {} of them with a line\n",
                     text::plural(file.kernels.size(), "function"),
                     text::plural(file.modules.size(), "image"),
                     text::plural(instructions, "instruction"), text::count(with_lines));
  if (!file.sources.empty()) {
    out += fmt::format("  source text of {} kept\n", text::plural(file.sources.size(), "place"));
  }
  for (const ModuleNote& module : file.modules) {
    if (module.state == "disassembled") continue;
    out += fmt::format("  image {}: {}{}\n", module.hash.empty() ? "-" : module.hash,
                       text::make_harmless(module.state),
                       module.detail.empty() ? "" : ": " + text::make_harmless(module.detail));
  }
  return out;
}

int run(const std::vector<std::string>& paths, bool all_functions,
        const disassembly::DisassembleOptions& options) {
  int worst = kExitGood;
  for (const std::string& path : paths) {
    const base::Status status = workbench::disassemble(
        path, all_functions, options,
        [&](const fs::path& session, const base::Result<DisassemblyFile>& outcome) {
          if (!outcome) {
            complain(kCommand, session.string() + ": " + outcome.status().message());
            worst = kExitCannotTell;
            return;
          }
          print(describe(session, *outcome));
          if (!is_whole(*outcome)) worst = std::max(worst, kExitNo);
        });
    if (status) continue;
    complain(kCommand, status.message());
    worst = kExitCannotTell;
  }
  return worst;
}

struct DisassembleLine {
  std::vector<std::string> sessions;
  fs::path nvdisasm;
  bool all = false;
  uint64_t timeout_s = 120;
  SourceLine source;
};

int run(const DisassembleLine& line) {
  const auto tool = disassembly::find_nvdisasm(disassembly::nvdisasm_search(line.nvdisasm));
  if (!tool) {
    complain(kCommand, tool.status().message());
    return kExitCannotTell;
  }
  disassembly::DisassembleOptions options;
  base::ChildLimits limits;
  limits.time = std::chrono::seconds(line.timeout_s);
  options.tool.emplace(*tool, limits);
  options.sources = line.source.options();
  return run(line.sessions, line.all, options);
}

}  // namespace

void add_disassemble_command(Command program) {
  auto line = std::make_shared<DisassembleLine>();
  Command command = program.add_command(
      "disassemble", "Store the instructions, lines and source of the kernels that ran");
  command.add_option("session", line->sessions, "Sessions, runs or log folders").required();
  command
      .add_option("--nvdisasm", line->nvdisasm,
                  "NVIDIA's disassembler [default: GPUFL_NVDISASM, the CUDA toolkit, the wheel "
                  "nvidia-cuda-nvdisasm, PATH]")
      .type_name("FILE");
  command.add_flag("--all-functions", line->all,
                   "Include every function of the images, not only those that ran or were sampled");
  command.add_option("--timeout", line->timeout_s, "Seconds that nvdisasm may take for an image")
      .range(1, 86400)
      .show_default();
  add_source_options(command, line->source);
  command.set_footer(
      "Writes disassembly.ndjson.zst into each session's folder. You can delete it and create it "
      "again as long as modules/ exists. Works on a copy of the session and needs no GPU.\nExit "
      "code: 0 all images were disassembled; 1 some are missing or could not be disassembled; 2 "
      "there is no session or no nvdisasm, or a session cannot be read or written.");
  command.set_action([line] { return run(*line); });
}

}  // namespace gpufl::cli
