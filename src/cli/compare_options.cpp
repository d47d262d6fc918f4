// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_options.hpp"

#include <algorithm>
#include <cctype>

#include "analysis/compare/gate_rules.hpp"
#include "cli/print.hpp"
#include "cli/quantity_option.hpp"
#include "cli/sessions_command.hpp"
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
  analysis::compare::Group group = analysis::compare::load_group(group_label(paths), paths);
  if (!group.repeats.empty()) return group;
  const std::string why = paths.size() == 1 && group.problems.size() <= 1 &&
                                  format::find_sessions(paths.front()).empty()
                              ? why_no_session(paths.front())
                              : group.problems.front();
  return base::Status(base::Code::NotFound, why);
}

CLI::Option* add_share(CLI::App& app, const std::string& name, double& share,
                       const std::string& default_text, const std::string& help) {
  return app
      .add_option_function<std::string>(
          name,
          [&share, name](const std::string& text) {
            share = value_or_throw<double>(name, analysis::compare::parse_share(text));
          },
          help)
      ->type_name("SHARE")
      ->default_str(default_text);
}

CLI::Validator count_check() {
  return CLI::Validator(
      [](const std::string& text) {
        const bool is_count = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
          return std::isdigit(static_cast<unsigned char>(c)) != 0;
        });
        return is_count ? std::string() : "'" + text + "' is no whole number from 0 on";
      },
      "");
}

bool deliver(std::string_view who, const std::string& text, const std::string& file) {
  if (file.empty()) {
    print(text);
    return true;
  }
  const base::Status written = write_whole(file, text);
  if (!written) complain(who, written.message());
  return written.is_ok();
}

}  // namespace gpufl::cli
