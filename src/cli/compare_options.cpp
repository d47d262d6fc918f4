// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_options.hpp"

#include <algorithm>

#include "analysis/compare/gate_rules.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/sessions_command.hpp"
#include "cli/terminal.hpp"
#include "export/output_file.hpp"
#include "format/session_scan.hpp"

namespace gpufl::cli {

namespace fs = std::filesystem;

namespace {

base::Status write_whole(const fs::path& path, std::string_view text) {
  std::error_code error;
  for (fs::path folder = fs::weakly_canonical(fs::absolute(path), error).parent_path();;
       folder = folder.parent_path()) {
    if (format::is_session_folder(folder)) {
      return base::Status(base::Code::InvalidArgument,
                          path.string() + ": it would lie among the files of the session " +
                              folder.string() + "; write it elsewhere");
    }
    if (folder == folder.parent_path()) break;
  }
  auto file = exporting::OutputFile::open(path, {.compress = false, .overwrite = true});
  if (!file) return file.status();
  file->write(text);
  return file->commit();
}

}  // namespace

std::string group_label(const std::vector<fs::path>& paths) {
  return paths.size() == 1 ? paths.front().string() : std::to_string(paths.size()) + " paths";
}

base::Result<analysis::compare::Group> read_group(const std::vector<fs::path>& paths) {
  auto loaded = analysis::compare::load_group(group_label(paths), paths);
  if (!loaded || !loaded->repeats.empty()) return loaded;
  const analysis::compare::Group& group = *loaded;
  const std::string why = paths.size() == 1 && group.problems.size() <= 1 &&
                                  format::find_sessions(paths.front()).empty()
                              ? why_no_session(paths.front())
                              : group.problems.front();
  return base::Status(base::Code::NotFound, why);
}

Option add_share(Command command, const std::string& name, double& share,
                 const std::string& default_text, const std::string& help) {
  const auto take = [&share](const std::string& text) -> base::Status {
    const auto parsed = analysis::compare::parse_share(text);
    if (!parsed) return parsed.status();
    share = *parsed;
    return {};
  };
  return command.add_parsed(name, take, help).type_name("SHARE").default_text(default_text);
}

void add_output_options(Command command, const std::string& top_help,
                        const std::vector<std::string>& formats, Output& output) {
  command.add_option("--top", output.text.top, top_help).count().show_default();
  std::string listed = formats.front();
  for (size_t i = 1; i < formats.size(); ++i) {
    listed += (i + 1 < formats.size() ? ", " : " or ") + formats[i];
  }
  command.add_option("--format", output.format, listed)
      .choices(formats)
      .type_name("FORMAT")
      .show_default();
  command
      .add_option("-o,--output", output.file,
                  "Write to this file instead of stdout; one that is there is replaced")
      .type_name("FILE");
}

void fit_to_output(Output& output) {
  output.text.width = page_width();
  output.text.has_color = output.file.empty() && terminal_has_color();
}

int deliver_answer(std::string_view who, const std::string& text, const std::string& error,
                   int exit_code, const Output& output) {
  if (!error.empty()) {
    complain(who, error);
    return exit_code;
  }
  return deliver(who, text, output.file) ? exit_code : kExitCannotTell;
}

bool deliver(std::string_view who, const std::string& text, const std::string& file) {
  if (file.empty()) {
    print(text);
    return true;
  }
  const base::Status written = write_whole(file, text);
  if (!written) {
    complain(who, written.message());
    return false;
  }
  tell_written(file, text.size());
  return true;
}

}  // namespace gpufl::cli
