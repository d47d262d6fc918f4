// SPDX-License-Identifier: Apache-2.0
#include "cli/export_command.hpp"

#include <filesystem>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/libdw.hpp"
#include "cli/print.hpp"
#include "cli/progress_line.hpp"
#include "text/display.hpp"
#include "text/units.hpp"
#include "workbench/export_run.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "gpufl export";

struct Options {
  std::string path, target, output;
  bool overwrite = false;
};

void tell(const workbench::ExportedRun& exported) {
  const auto& [output, written] = exported;
  if (written.files.size() == 1 && written.files.front() == output) {
    return tell_written(output, written.bytes);
  }
  std::string text = fmt::format("{} ({}):\n", text::make_harmless(output.string()),
                                 text::bytes(static_cast<double>(written.bytes)));
  for (const fs::path& file : written.files) {
    text += fmt::format("  {}\n", text::make_harmless(file.filename().string()));
  }
  tell_written(output, text);
}

int run_export(const Options& options) {
  const auto run = with_progress([&](const workbench::Progress& progress) {
    return workbench::open_one(options.path, {libdw(), progress});
  });
  if (!run) {
    complain(kCommand, run.status().message());
    return run.status().code() == base::Code::InvalidArgument ? kExitUsage : kExitCannotTell;
  }
  for (const std::string& note : run->notes) complain(kCommand, note);
  const auto exported = with_progress([&](const workbench::Progress& progress) {
    const exporting::Target target = *exporting::target_of(options.target);
    return workbench::export_run(run->data, {target, options.output, options.overwrite, progress});
  });
  if (!exported) {
    complain(kCommand, exported.status().message());
    return kExitCannotTell;
  }
  tell(*exported);
  return run->is_whole ? kExitGood : kExitNo;
}

}  // namespace

void add_export_command(Command program) {
  auto options = std::make_shared<Options>();
  Command command = program.add_command("export", "Write a session in the format of another tool");
  command
      .add_option("path", options->path,
                  "A session, or a run's folder: all ranks on one time "
                  "axis")
      .required();
  command
      .add_option("--to", options->target,
                  "perfetto: a timeline for ui.perfetto.dev; chrome: the same as JSON; speedscope: "
                  "flame graphs; pprof: a profile by CPU stack; csv: a folder with a file for each "
                  "table; json: all tables in one document")
      .type_name("FORMAT")
      .choices(exporting::target_words())
      .required();
  command
      .add_option("-o,--output", options->output,
                  "File, or folder for csv. A name that ends in .gz is compressed; - is standard "
                  "output [default: named after the session, in this folder]")
      .type_name("FILE");
  command.add_flag("--force", options->overwrite, "Replace existing files");
  command.set_footer(
      "Prints what it wrote. If it fails, no partial file is left behind.\nExit code: 0 written; "
      "1 written, but a session or a part of one could not be read; 2 there is no session, it "
      "cannot be read, or the output cannot be written or already exists.");
  command.set_action([options] { return run_export(*options); });
}

}  // namespace gpufl::cli
