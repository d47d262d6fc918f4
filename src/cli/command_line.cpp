// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gpufl/version.hpp>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/suggestion.hpp"

namespace gpufl::cli {
namespace {

// Help in two columns, the right one wrapped, with default and variable behind the description.
class HelpFormatter : public CLI::Formatter {
 public:
  HelpFormatter() {
    column_width(kLeftColumns);
    label("SUBCOMMAND", "COMMAND");
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    // Checks stand behind a colon: the description says in words what they ask.
    const std::string type = option->get_type_name();
    const bool is_optional = type.starts_with('[');
    return type.empty() ? ""
                        : " " + type.substr(0, is_optional ? type.find(']') + 1 : type.find(':'));
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    const std::string value = option->get_default_str();
    if (!value.empty()) text += " [default: " + value + "]";
    if (!option->get_envname().empty()) text += " [variable: " + option->get_envname() + "]";
    return wrapped(text, kRightColumns);
  }

  std::string make_footer(const CLI::App* app) const override {
    const std::string text = app->get_footer();
    return text.empty() ? "" : wrapped(text, kLeftColumns + kRightColumns) + "\n";
  }

 private:
  static constexpr size_t kLeftColumns = 32;
  static constexpr size_t kRightColumns = 66;

  static std::string wrapped(std::string_view text, size_t columns) {
    std::string out;
    while (true) {
      const size_t newline = text.find('\n');
      const std::string_view line = text.substr(0, newline);
      if (newline == std::string_view::npos && line.size() <= columns) return out.append(line);
      size_t end = newline;
      if (line.size() > columns) {
        const size_t space = line.rfind(' ', columns);
        if (space != std::string_view::npos) end = space;
      }
      if (end == std::string_view::npos) return out.append(line);
      out.append(text.substr(0, end)) += '\n';
      text.remove_prefix(end + 1);
    }
  }
};

// The command that the arguments reached, down to the last word that named one.
const CLI::App* reached(const CLI::App& app) {
  const CLI::App* current = &app;
  while (!current->get_subcommands().empty()) current = current->get_subcommands().front();
  return current;
}

std::string full_name(const CLI::App* app) {
  const CLI::App* parent = app->get_parent();
  return parent == nullptr ? app->get_name() : full_name(parent) + " " + app->get_name();
}

// The first argument that the command knows nothing of; empty when they are all known.
std::string first_unknown(const CLI::App& command) {
  for (const std::string& word : command.remaining()) {
    if (word != "--") return word;
  }
  return {};
}

std::string_view suggestion_for(const CLI::App& command, std::string_view word,
                                std::vector<std::string>& names) {
  if (word.starts_with('-')) {
    for (const CLI::Option* option : command.get_options()) {
      for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    }
  } else {
    for (const CLI::App* sub : command.get_subcommands({})) names.push_back(sub->get_name());
  }
  return nearest(word.substr(0, word.find('=')), {names.begin(), names.end()});
}

int refuse(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App* command = reached(app);
  const std::string name = full_name(command);
  const std::string unknown = first_unknown(*command);
  if (unknown.empty()) {
    print_error(fmt::format("{}: {}\n", name, error.what()));
  } else {
    std::vector<std::string> names;
    const std::string_view meant = suggestion_for(*command, unknown, names);
    const bool is_verb = !unknown.starts_with('-') && !command->get_subcommands({}).empty();
    const char* const kind = unknown.starts_with('-') ? "option" : is_verb ? "command" : "argument";
    print_error(fmt::format("{}: unknown {} '{}'{}\n", name, kind, unknown,
                            meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
  }
  print_error(fmt::format("Run '{} --help' for what it takes.\n", name));
  return kExitUsage;
}

// A full disk is a failure of the command; a reader that has seen enough (head, a pager) is not.
int unless_output_failed(const CLI::App& app, int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  pollfd output{STDOUT_FILENO, POLLOUT, 0};
  const bool has_reader = ::poll(&output, 1, 0) == 1 && (output.revents & POLLERR) == 0;
  if (!has_reader) return exit_code;
  complain(app.get_name(), "standard output cannot be written");
  return std::max(exit_code, kExitCannotTell);
}

}  // namespace

void set_up_command_line(CLI::App& app) {
  app.formatter(std::make_shared<HelpFormatter>());
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.set_version_flag("--version", app.get_name() + " " GPUFL_VERSION,
                       "Print the version and exit");
}

int run_command_line(CLI::App& app, int argc, char** argv, const int& exit_code) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  // `gpufl help trace` is `gpufl trace --help`.
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  std::reverse(words.begin(), words.end());  // as the parser takes them
  try {
    app.parse(std::move(words));
  } catch (const CLI::Success& asked_for_text) {
    return unless_output_failed(app, app.exit(asked_for_text));
  } catch (const CLI::ParseError& error) {
    return refuse(app, error);
  }
  return unless_output_failed(app, exit_code);
}

}  // namespace gpufl::cli
