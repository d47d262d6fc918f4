// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_options.hpp"

#include <filesystem>
#include <system_error>

#include "analysis/compare/gate_rules.hpp"
#include "cli/print.hpp"
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
                          path.string() + ": this is inside the folder of the session " +
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

Option add_format(Command command, std::span<const workbench::Format> formats,
                  workbench::Format& format) {
  std::vector<std::string> words;
  for (const workbench::Format one : formats) words.emplace_back(to_string(one));
  const auto take = [formats, &format](const std::string& word) -> base::Status {
    const auto named = workbench::format_named(word, formats);
    if (!named) return named.status();
    format = *named;
    return {};
  };
  return command.add_parsed("--format", take, workbench::listed(formats))
      .choices(words)
      .type_name("FORMAT")
      .default_text(words.front());
}

void add_output_options(Command command, const std::string& top_help,
                        std::span<const workbench::Format> formats, Output& output) {
  command.add_option("--top", output.text.top, top_help).count().show_default();
  add_format(command, formats, output.format);
  command
      .add_option("-o,--output", output.file,
                  "Write to this file instead of stdout; an existing file is replaced")
      .type_name("FILE");
}

void fit_to_output(Output& output) {
  output.text.width = page_width();
  output.text.has_color = output.file.empty() && terminal_has_color();
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
