// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "agent/redaction.hpp"
#include "cli/command_line.hpp"
#include "client/options.hpp"

// What `gpufl trace` can be told.
namespace gpufl::cli {

struct TraceOptions {
  std::vector<std::string> command;
  std::string name;  // empty: each program's own
  std::filesystem::path output = "gpufl-logs";
  std::string engine;  // empty: as GPUFL_PROFILING_ENGINE or the config file says, else Trace
  // Runs the program once with each of these engines; empty: once, with `engine`.
  std::vector<std::string> passes;
  std::optional<int64_t> pass;  // which of them it is, from 1
  std::string budget;           // a percentage; empty: none
  // Any of them arms deep windows: the engine is then attached in these only.
  std::optional<int64_t> deep_after_ns, deep_for_ns, deep_cooldown_ns, deep_launches;
  std::string deep_when;
  bool stacks = false, memory = false, graphs = false;
  std::optional<int64_t> interval_ns;  // none: health is not sampled
  std::optional<int64_t> delay_ns, duration_ns;
  int64_t keep_last_ns = 0;
  std::string capture_range;
  bool dormant = false;
  bool no_symbols = false;
  bool upload = false;
  agent::Redaction redaction;  // of what is uploaded
  bool quiet = false;
  bool replace = false;  // another tool's injection
  // Of variables and the config file. The sessions find them, too, but for those that are replaced.
  std::vector<client::OptionWarning> warnings;

  bool has_deep_windows() const {
    return deep_after_ns || deep_for_ns || deep_cooldown_ns || deep_launches || !deep_when.empty();
  }
  // What its options say, as variables of the library.
  std::map<std::string, std::string, std::less<>> given_variables() const;
  // The environment of the program: `inherited` with what tells the injected library what to do.
  // The clock's reading is when the program is started.
  std::vector<std::string> environment(const std::vector<std::string>& inherited,
                                       const std::filesystem::path& library,
                                       const std::string& run_id, int64_t monotonic_ns) const;
};

// `options` is filled while the command line is read and must outlive that.
void add_trace_options(Command command, TraceOptions& options);

}  // namespace gpufl::cli
