// SPDX-License-Identifier: Apache-2.0
#include "cli/export_command.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "analysis/session/session_data.hpp"
#include "base/clock.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/run_sessions.hpp"
#include "cli/sessions_command.hpp"
#include "cli/status_line.hpp"
#include "cli/symbolize_command.hpp"
#include "export/export.hpp"
#include "format/session_reader.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCommand = "gpufl export";

// A line on the terminal, a few times a second, for work that takes longer than that.
class Progress {
 public:
  void show(std::string_view what, uint64_t done, uint64_t total) {
    constexpr int64_t kEveryNs = 200'000'000;
    const int64_t now = base::monotonic_ns();
    if (!line_.is_usable() || now - shown_ns_ < kEveryNs) return;
    shown_ns_ = now;
    const uint64_t percent = total > 0 ? std::min<uint64_t>(100, done * 100 / total) : 0;
    line_.show(fmt::format("{}: {}%", what, percent));
  }

 private:
  StatusLine line_{true};
  int64_t shown_ns_ = base::monotonic_ns();
};

struct Options {
  std::string path, target, output;
  bool overwrite = false;
};

// Empty: it is one session, or one run.
std::string why_not_one(const std::vector<fs::path>& sessions, const std::string& path) {
  if (sessions.size() < 2 || are_one_run(sessions)) return {};
  const fs::path& newest = *std::max_element(
      sessions.begin(), sessions.end(),
      [](const fs::path& a, const fs::path& b) { return a.filename() < b.filename(); });
  return fmt::format("{} holds {} sessions of several runs; name one, the newest is {}", path,
                     sessions.size(), newest.string());
}

// What of the session's log is not in what is written; empty: nothing.
std::string damage_of(const analysis::SessionSummary& summary) {
  const analysis::UnreadRows rows = analysis::unread_rows(summary);
  if (rows.unread > 0) {
    return fmt::format("{} of {} rows cannot be read and are not in it", text::count(rows.unread),
                       text::count(rows.written));
  }
  return summary.has_faults ? "parts of its log cannot be read and are not in it" : "";
}

void tell(const exporting::Written& written, const fs::path& output) {
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
  const std::vector<fs::path> sessions = format::find_sessions(options.path);
  if (sessions.empty()) {
    complain(kCommand, why_no_session(options.path));
    return kExitCannotTell;
  }
  if (const std::string why = why_not_one(sessions, options.path); !why.empty()) {
    complain(kCommand, why);
    return kExitUsage;
  }
  const exporting::Target target = *exporting::target_of(options.target);
  fs::path output = options.output;
  base::Result<exporting::Written> written = exporting::Written{};
  bool is_whole = true;
  {
    Progress progress;
    const symbols::SymbolizeOptions on_the_fly = reading_options();
    analysis::LoadOptions how;
    how.symbolize = &on_the_fly;
    how.progress = [&](uint64_t done, uint64_t total) {
      progress.show("reading", done, total);
      return true;
    };
    const auto run = analysis::load_run(options.path, how);
    if (!run) {
      complain(kCommand, run.status().message());
      return kExitCannotTell;
    }
    for (const std::string& problem : run->problems) complain(kCommand, problem);
    for (const std::string& copy : run->copies) complain(kCommand, copy);
    is_whole = run->problems.empty();
    for (const analysis::SessionData& session : run->sessions) {
      const std::string damage = damage_of(session.summary);
      if (damage.empty()) continue;
      complain(kCommand, fmt::format("{}: {}; `gpufl verify` tells more",
                                     session.summary.dir.string(), damage));
      is_whole = false;
    }
    if (output.empty()) output = exporting::default_name(*run, target);
    written = exporting::write_export(
        *run, target, {output, options.overwrite, [&](uint64_t done, uint64_t total) {
                         progress.show("writing", done, total);
                         return true;
                       }});
  }
  if (!written) {
    complain(kCommand, written.status().message());
    return kExitCannotTell;
  }
  tell(*written, output);
  return is_whole ? kExitGood : kExitNo;
}

}  // namespace

void add_export_command(Command program) {
  auto options = std::make_shared<Options>();
  Command command = program.add_command("export", "Write a session in the format of another tool");
  command.add_option("path", options->path, "A session, or a run's folder: all of it on one axis")
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
  command.add_flag("--force", options->overwrite, "Replace files that are there already");
  command.set_footer(
      "A file is there whole or not at all. Prints what it wrote.\n"
      "Exit code: 0 written; 1 written, but a session or a part of one could not be read; 2 there "
      "is no "
      "session, it cannot be read, or the output cannot be written or is there already.");
  command.set_action([options] { return run_export(*options); });
}

}  // namespace gpufl::cli
