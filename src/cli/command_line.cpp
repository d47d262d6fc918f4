// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <gpufl/version.hpp>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "text/near_names.hpp"
#include "text/quantity.hpp"

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
  return text::nearest(word.substr(0, word.find('=')), {names.begin(), names.end()});
}

std::string in_capitals(std::string word) {
  for (char& c : word) {
    if (c >= 'a' && c <= 'z') c += 'A' - 'a';
  }
  return word;
}

// What a command needs, as it is typed: "gpufl export --to TARGET PATH".
std::string least_use(const CLI::App& command, bool is_launcher) {
  std::string options, positionals;
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required()) continue;
    if (option->get_positional()) {
      positionals += (is_launcher ? " -- " : " ") + in_capitals(option->get_name());
    } else {
      options += fmt::format(" {} {}", option->get_name(), option->get_type_name());
    }
  }
  return full_name(&command) + options + positionals;
}

// "name a program: gpufl trace -- PROGRAM", of the first thing that is missing.
std::string missing_text(const CLI::App& command, bool is_launcher) {
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_required() || option->count() > 0) continue;
    const std::string name = option->get_name();
    const bool has_vowel = std::string_view("aeiou").find(name.front()) != std::string_view::npos;
    const std::string what = option->get_positional()
                                 ? fmt::format("name a{} {}", has_vowel ? "n" : "", name)
                                 : "give " + name;
    return fmt::format("{}: {}", what, least_use(command, is_launcher));
  }
  return "something is missing";
}

int refuse(const CLI::App& app, const CLI::ParseError& error, const CLI::App* launcher) {
  const CLI::App* command = reached(app);
  const std::string name = full_name(command);
  const std::string unknown = first_unknown(*command);
  if (unknown.empty()) {
    const bool is_missing = dynamic_cast<const CLI::RequiredError*>(&error) != nullptr;
    print_error(fmt::format(
        "{}: {}\n", name,
        is_missing ? missing_text(*command, command == launcher) : std::string(error.what())));
  } else {
    std::vector<std::string> names;
    const std::string_view meant = suggestion_for(*command, unknown, names);
    const bool is_verb = !unknown.starts_with('-') && !command->get_subcommands({}).empty();
    const char* const kind = unknown.starts_with('-') ? "option" : is_verb ? "command" : "argument";
    print_error(fmt::format("{}: unknown {} '{}'{}\n", name, kind, unknown,
                            meant.empty() ? "" : fmt::format("; did you mean '{}'?", meant)));
  }
  print_error(fmt::format("Run '{} --help' for help.\n", name));
  return kExitUsage;
}

// Whether the value of an option is the word behind this one: not of a flag, nor where it is in the
// same word, as in --output=DIR or -oDIR.
bool is_value_next(const CLI::App& command, const std::string& word) {
  if (word.starts_with("--")) {
    const CLI::Option* option = command.get_option_no_throw(word);
    return option != nullptr && option->get_items_expected_max() > 0;
  }
  for (size_t i = 1; i < word.size(); ++i) {
    const CLI::Option* option = command.get_option_no_throw(std::string("-") + word[i]);
    if (option == nullptr) return false;
    if (option->get_items_expected_max() > 0) return i + 1 == word.size();
  }
  return false;
}

// Puts a -- before the first word of `launcher` that is neither an option nor the value of one.
void separate_program(const CLI::App& launcher, std::vector<std::string>& words) {
  if (words.empty() || words.front() != launcher.get_name()) return;
  for (size_t i = 1; i < words.size() && words[i] != "--"; ++i) {
    if (!words[i].starts_with('-')) {
      words.insert(words.begin() + static_cast<std::ptrdiff_t>(i), "--");
      return;
    }
    if (is_value_next(launcher, words[i])) ++i;
  }
}

// A full disk is a failure of the command; a reader that has seen enough (head, a pager) is not.
int unless_output_failed(const CLI::App& app, int exit_code) {
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return exit_code;
  if (!has_reader()) return exit_code;
  complain(app.get_name(), "standard output cannot be written");
  return std::max(exit_code, kExitCannotTell);
}

std::string not_one_of(const std::string& word, const std::vector<std::string>& words) {
  return text::not_one_of(word, {words.begin(), words.end()});
}

// "--output" of "-o,--output".
std::string long_name(const std::string& names) {
  const size_t begin = names.find("--");
  return begin == std::string::npos ? names : names.substr(begin);
}

void throw_unless(const base::Status& status, const std::string& option) {
  if (!status) throw CLI::ValidationError(option, status.message());
}

// "1ms or more", "10ms to 1h"
std::string accepted(const Bounds& bounds) {
  if (bounds.most.empty()) return bounds.least + " or more";
  return bounds.least.empty() ? bounds.most + " or less" : bounds.least + " to " + bounds.most;
}

// Parses a text and stores the value if it lies within the bounds.
template <typename T, typename Parse>
Command::Take quantity(Parse parse, const Bounds& bounds, const std::function<void(T)>& store) {
  return [=](const std::string& text) -> base::Status {
    const base::Result<T> value = parse(text);
    if (!value) return value.status();
    const bool is_less = !bounds.least.empty() && *value < *parse(bounds.least);
    const bool is_more = !bounds.most.empty() && *value > *parse(bounds.most);
    if (is_less || is_more) {
      return {base::Code::InvalidArgument,
              fmt::format("'{}' is out of range; write {}", text, accepted(bounds))};
    }
    store(*value);
    return {};
  };
}

}  // namespace

Option Option::required() { return Option(option_->required()); }
Option Option::type_name(const std::string& text) { return Option(option_->type_name(text)); }
Option Option::default_text(const std::string& text) { return Option(option_->default_str(text)); }
Option Option::show_default() { return Option(option_->capture_default_str()); }
Option Option::variable(const std::string& name) { return Option(option_->envname(name)); }

Option Option::choices(const std::vector<std::string>& words) {
  return check([words](const std::string& word) {
    const bool is_known = std::find(words.begin(), words.end(), word) != words.end();
    return is_known ? std::string() : not_one_of(word, words);
  });
}

Option Option::choices_in_any_case(const std::vector<std::string>& words) {
  const auto spell = [words](std::string& word) {
    for (const std::string& known : words) {
      if (CLI::detail::to_lower(known) != CLI::detail::to_lower(word)) continue;
      word = known;
      return std::string();
    }
    return not_one_of(word, words);
  };
  return Option(option_->transform(CLI::Validator(spell, "")));
}

Option Option::range(int64_t least, int64_t most) {
  return type_name("N").check([least, most](const std::string& text) {
    int64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    const bool is_number = error == std::errc() && stop == end;
    if (is_number && number >= least && number <= most) return std::string();
    return fmt::format("'{}' is not a whole number from {} to {}", text, least, most);
  });
}

Option Option::count() { return range(0, kLargestCount); }

Option Option::check(std::function<std::string(const std::string&)> why_not) {
  const auto validate = [why_not = std::move(why_not)](std::string& value) {
    return why_not(value);
  };
  return Option(option_->check(CLI::Validator(validate, "")));
}

Option Option::one_value() { return Option(option_->allow_extra_args(false)); }
Option Option::excludes(Option other) { return Option(option_->excludes(other.option_)); }
Option Option::needs(Option other) { return Option(option_->needs(other.option_)); }

Command Command::add_command(const std::string& name, const std::string& description) {
  return Command(app_->add_subcommand(name, description)->group("Commands"), state_);
}

Command Command::add_hidden_command(const std::string& name) {
  return Command(app_->add_subcommand(name)->group(""), state_);
}

Option Command::add_option(const std::string& names, std::string& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::filesystem::path& value,
                           const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::vector<std::string>& values,
                           const std::string& help) {
  return Option(app_->add_option(names, values, help));
}

Option Command::add_option(const std::string& names, uint64_t& value, const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::optional<uint64_t>& value,
                           const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_option(const std::string& names, std::optional<int64_t>& value,
                           const std::string& help) {
  return Option(app_->add_option(names, value, help));
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& help) {
  return Option(app_->add_flag(names, value, help));
}

Option Command::add_program(const std::string& name, std::vector<std::string>& words,
                            const std::string& help) {
  state_->launcher = app_;
  return add_option(name, words, help);
}

Option Command::add_parsed(const std::string& names, const Take& take, const std::string& help) {
  return Option(app_->add_option_function<std::string>(
      names,
      [take, name = long_name(names)](const std::string& text) { throw_unless(take(text), name); },
      help));
}

Option Command::add_optionally_parsed(const std::string& names, const Take& take,
                                      const std::string& help) {
  return Option(app_->add_option_function<std::vector<std::string>>(
                        names,
                        [take, name = long_name(names)](const std::vector<std::string>& texts) {
                          throw_unless(take(texts.front()), name);
                        },
                        help)
                    ->expected(0, 1));
}

Option Command::add_duration(const std::string& names, const Bounds& bounds,
                             const std::string& help, const std::function<void(int64_t)>& store) {
  return add_parsed(names, quantity<int64_t>(text::parse_duration_ns, bounds, store), help)
      .type_name("DURATION");
}

Option Command::add_bytes(const std::string& names, const Bounds& bounds, const std::string& help,
                          const std::function<void(uint64_t)>& store) {
  return add_parsed(names, quantity<uint64_t>(text::parse_bytes, bounds, store), help)
      .type_name("SIZE");
}

void Command::set_footer(const std::string& text) { app_->footer(text); }

void Command::set_action(std::function<base::Result<int>()> run) {
  app_->callback([run = std::move(run), state = state_] {
    const base::Result<int> result = run();
    if (!result) throw CLI::ValidationError(result.status().message());
    state->exit_code = *result;
  });
}

CommandLine::CommandLine(const std::string& name, const std::string& description)
    : app_(std::make_unique<CLI::App>(description, name)) {
  app_->formatter(std::make_shared<HelpFormatter>());
  app_->set_help_flag("-h,--help", "Print this help and exit");
  app_->set_version_flag("--version", name + " " GPUFL_VERSION, "Print the version and exit");
}

CommandLine::~CommandLine() = default;

Command CommandLine::program() { return Command(app_.get(), &state_); }

int CommandLine::run(int argc, char** argv) {
  return run(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

int CommandLine::run(std::vector<std::string> words) {
  // `gpufl help trace` is `gpufl trace --help`.
  if (!words.empty() && words.front() == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  if (!app_->get_subcommands({}).empty()) {
    app_->require_subcommand(0, 1);
    app_->callback([this] {
      if (app_->get_subcommands().empty()) print(app_->help());
    });
  }
  if (state_.launcher != nullptr) separate_program(*state_.launcher, words);
  std::reverse(words.begin(), words.end());  // as the parser takes them
  state_.exit_code = kExitGood;
  try {
    app_->parse(std::move(words));
  } catch (const CLI::Success& asked_for_text) {
    state_.exit_code = app_->exit(asked_for_text);
  } catch (const CLI::ParseError& error) {
    return refuse(*app_, error, state_.launcher);
  }
  return unless_output_failed(*app_, state_.exit_code);
}

}  // namespace gpufl::cli
