// SPDX-License-Identifier: Apache-2.0
#include "cli/compare_options.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "analysis/compare/gate_rules.hpp"
#include "cli/print.hpp"
#include "cli/quantity_option.hpp"
#include "cli/sessions_command.hpp"

namespace gpufl::cli {

namespace fs = std::filesystem;

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

bool deliver(std::string_view who, const std::string& text, const std::string& file) {
  if (file.empty()) {
    print(text);
    return true;
  }
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  if (out.good()) return true;
  complain(who, file + ": " + std::strerror(errno));
  return false;
}

}  // namespace gpufl::cli
