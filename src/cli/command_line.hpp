// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.hpp"

// The command line of a program: options, commands, --help and --version, and one way to say that
// it was used wrongly. Every command is declared with this, so that the parser behind it is
// compiled once, in command_line.cpp. Main thread only. Handles are pointers into the CommandLine
// and as cheap to copy; variables that options fill must outlive it.
namespace CLI {  // NOLINT(readability-identifier-naming): the name is not ours
class App;
class Option;
}  // namespace CLI

namespace gpufl::cli {

inline constexpr int64_t kLargestCount = 1'000'000'000;

// An option or a positional argument.
class Option {
 public:
  explicit Option(CLI::Option* option) : option_(option) {}

  Option required();
  Option type_name(const std::string& text);  // what stands for the value in the help
  Option default_text(const std::string& text);
  Option show_default();                     // the value that the variable has now
  Option variable(const std::string& name);  // of the environment, where it is not given
  Option choices(const std::vector<std::string>& words);
  // As they are spelt in `words`, whatever the case they were given in.
  Option choices_in_any_case(const std::vector<std::string>& words);
  Option range(int64_t least, int64_t most);  // a whole number, both among what is allowed
  Option count();                             // from 0 to what nobody needs more than
  // A sentence about the value that cannot be meant; empty: it is fine.
  Option check(std::function<std::string(const std::string& value)> why_not);
  Option one_value();  // of a list: each takes one word and can be given again
  Option excludes(Option other);
  Option needs(Option other);

 private:
  CLI::Option* option_;
};

// Of a quantity, both among what is allowed; empty: there is none.
struct Bounds {
  std::string least = {}, most = {};
};

// For options whose value is wanted as it was parsed.
template <typename Variable>
auto store_in(Variable& variable) {
  return [&variable](auto value) { variable = value; };
}

// What all commands of a command line share.
struct CommandLineState {
  int exit_code = 0;
  const CLI::App* launcher = nullptr;  // the command that runs another program, if there is one
};

// The program itself or one of its commands.
class Command {
 public:
  Command(CLI::App* app, CommandLineState* state) : app_(app), state_(state) {}

  Command add_command(const std::string& name, const std::string& description);
  // For our own processes to start: no help text lists it.
  Command add_hidden_command(const std::string& name);

  // `names` is "-o,--output" of an option and "path" of a positional argument.
  Option add_option(const std::string& names, std::string& value, const std::string& help);
  Option add_option(const std::string& names, std::filesystem::path& value,
                    const std::string& help);
  Option add_option(const std::string& names, std::vector<std::string>& values,
                    const std::string& help);
  Option add_option(const std::string& names, uint64_t& value, const std::string& help);
  Option add_option(const std::string& names, std::optional<uint64_t>& value,
                    const std::string& help);
  Option add_option(const std::string& names, std::optional<int64_t>& value,
                    const std::string& help);
  Option add_flag(const std::string& names, bool& value, const std::string& help);
  // Another program's name and arguments. From the name on every word is the program's, with or
  // without a -- before it. One command can have it.
  Option add_program(const std::string& name, std::vector<std::string>& words,
                     const std::string& help);

  // A value that is not kept as it is typed. A status that is not ok is a wrong use.
  using Take = std::function<base::Status(const std::string& text)>;
  Option add_parsed(const std::string& names, const Take& take, const std::string& help);
  // Likewise, and the value can be left out: then it is empty.
  Option add_optionally_parsed(const std::string& names, const Take& take, const std::string& help);

  // Durations and sizes as people type them, and so are their bounds.
  Option add_duration(const std::string& names, const Bounds& bounds, const std::string& help,
                      const std::function<void(int64_t duration_ns)>& store);
  Option add_bytes(const std::string& names, const Bounds& bounds, const std::string& help,
                   const std::function<void(uint64_t bytes)>& store);

  void set_footer(const std::string& text);
  // What the command does once all options are read. Its exit code, or why it was used wrongly.
  void set_action(std::function<base::Result<int>()> run);

 private:
  CLI::App* app_;
  CommandLineState* state_;
};

class CommandLine {
 public:
  CommandLine(const std::string& name, const std::string& description);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  Command program();

  // Runs the command that the words ask for; a program with commands prints its help where they ask
  // for none. The exit code is the command's; 64 and a sentence with a hint on stderr where the use
  // was wrong; 2 where output could not be written.
  int run(int argc, char** argv);
  int run(std::vector<std::string> words);

 private:
  std::unique_ptr<CLI::App> app_;
  CommandLineState state_;
};

}  // namespace gpufl::cli
