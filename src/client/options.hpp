// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gpufl/options.hpp>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "capture/identity.hpp"

// From what the program asked for, the environment and a config file to the options in force. Pure
// but for reading the config file; never throws.
namespace gpufl::client {

using capture::Environment;

// Something in the environment, the file or the program that could not be used as it is.
struct OptionWarning {
  std::string name;  // "unknown_key", "unknown_variable", "wrong_type", "bad_value",
                     // "out_of_range", "broken_json", "unreadable_file", "deprecated", "no_effect"
  std::string source;  // "environment", "program", or the file's path
  std::string key;     // the variable's or the field's name; empty when the whole file is meant
  int line = 0;        // of the file; 0: none
  std::string text;
  // "gpufl.json:12: wrong_type: log_path: ..." for people.
  std::string to_line() const;
  // `option_warning`, as the log keeps it.
  base::Json to_event() const;
};

// Names of fields.
using FieldNames = std::set<std::string, std::less<>>;

struct ResolvedOptions {
  InitOptions options;
  FieldNames chosen;  // that somebody has set, be it to their defaults
  bool is_disabled = false;
  // backend::make_backend's word: "auto", "nvidia", "amd", "none", "synthetic".
  std::string backend_name = "auto";
  std::vector<OptionWarning> warnings;
};

// Precedence: GPUFL_DISABLED; what `program` set (a field that differs from its default, or that
// `named` has, where the caller can tell); the variables; the file; the defaults. GPUFL_OVERRIDE=1
// lets the variables go before `program`, and so does an engine that costs less than the
// program's. `variable_names` are those of the whole environment: one
// that begins with GPUFL_ and means nothing is warned of. `defaults` are in force where nobody says
// anything.
ResolvedOptions resolve_options(const InitOptions& program, const Environment& env,
                                const std::vector<std::string>& variable_names = {},
                                const InitOptions& defaults = {}, const FieldNames& named = {});

// Names of all variables of this process.
std::vector<std::string> variable_names();

// The same with the variables of this process, in which none is looked for that means nothing.
ResolvedOptions options_in_force(const InitOptions& program, const FieldNames& named);

// Why the field's variable cannot have this text; empty: it can.
std::string refusal_of(std::string_view field, std::string_view text);

// Every engine's name, in the order of ProfilingEngine.
std::span<const std::string_view> engine_names();
std::string_view to_string(ProfilingEngine engine);
std::string_view to_string(BackendKind backend);

// A name for files: letters, digits, '.', '_' and '-' stay, everything else is '_'; never empty,
// nor a dot file.
std::string file_name_of(std::string_view app_name);
// The folder that sessions are folders of: log_path without a ".log" at its name's end, or one
// named after the app; absolute.
std::string log_root_of(const InitOptions& options);

}  // namespace gpufl::client
