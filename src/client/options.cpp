// SPDX-License-Identifier: Apache-2.0
#include "client/options.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "backend/vendor.hpp"
#include "base/json.hpp"
#include "capture/engine_ladder.hpp"
#include "capture/identity.hpp"
#include "client/deep_condition.hpp"
#include "client/launch_request.hpp"
#include "client/option_table.hpp"
#include "format/engines.hpp"
#include "text/near_names.hpp"

namespace gpufl::client {

namespace {

constexpr size_t kMaxConfigBytes = size_t{1} << 20;

constexpr std::string_view kEngineField = "profiling_engine";
constexpr const char* kDeepArm = "GPUFL_DEEP_ARM";
constexpr std::string_view kArmWindow = "window";
constexpr std::string_view kArmField = "deep_window_only";

using Words = std::span<const std::string_view>;

constexpr std::string_view kBackends[] = {"auto", "nvidia", "amd", "none"};
// Not a BackendKind: for demos, tests and load, so only by variable or file.
constexpr std::string_view kSynthetic = "synthetic";

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_word(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return lower(x) == lower(y); });
}

std::optional<size_t> find_word(Words words, std::string_view text) {
  for (size_t i = 0; i < words.size(); ++i) {
    if (same_word(words[i], text)) return i;
  }
  return std::nullopt;
}

std::string_view word(Words words, size_t number) {
  return number < words.size() ? words[number] : "unknown";
}

std::string not_one_of(std::string_view text, Words words) {
  return text::not_one_of(text, {words.begin(), words.end()});
}

constexpr std::string_view kBools[] = {"1", "true", "yes", "on", "0", "false", "no", "off"};
constexpr size_t kFirstNo = 4;

std::optional<bool> parse_bool(std::string_view text) {
  if (text.empty()) return false;
  const auto found = find_word(kBools, text);
  return found ? std::optional(*found < kFirstNo) : std::nullopt;
}

int cost_of(ProfilingEngine engine) { return format::kEngines[static_cast<size_t>(engine)].cost; }

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (stop != text.data() + text.size()) return std::nullopt;
  // Beyond what any option takes, and a number all the same.
  if (error == std::errc::result_out_of_range) return std::numeric_limits<int64_t>::max();
  if (error != std::errc()) return std::nullopt;
  return value;
}

constexpr const char* kPercentWords = "a percentage, such as 2 or 1.5%";

// "2", "2%", "1.5 %".
std::optional<double> parse_percent(std::string_view text) {
  if (text.ends_with('%')) text.remove_suffix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  double value = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || stop != text.data() + text.size()) return std::nullopt;
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

// As people type it: "0.1".
template <typename T>
std::string number(T value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return error == std::errc() ? std::string(text, end) : "a number";
}

// At most `max_bytes` of a regular file; nothing when it cannot be read.
std::optional<std::string> file_text(const std::string& path, size_t max_bytes) {
  // Not blocking: a pipe that nobody writes to is refused, not waited for.
  const int fd = open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(fdopen(fd, "rb"), std::fclose);
  struct stat facts = {};
  if (!file || fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return std::nullopt;
  std::string text(max_bytes, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file.get()));
  if (std::ferror(file.get()) != 0) return std::nullopt;
  return text;
}

// Why a value was not taken: a warning's name, and a sentence with the value and what would be
// right.
struct Refusal {
  std::string name, text;
};
using Outcome = std::optional<Refusal>;

// One source of options: the environment or a file. What it sets lands in `values`.
struct Layer {
  InitOptions values;
  std::set<std::string_view> fields;  // the names of those that it sets
  bool is_synthetic = false;
};

// "5 to 31", "0, or 0.1 to 50".
template <typename T>
std::string accepted(const RangeField<T>& field) {
  return (field.takes_zero ? "0, or " : "") + number(field.min) + " to " + number(field.max);
}

std::string quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

// "32 is out of range; use 5 to 31".
template <typename T>
std::string out_of_range(const RangeField<T>& field, const std::string& given) {
  return given + " is out of range; use " + accepted(field);
}

// Of a config file. Strings are left out: one of them is a key.
Refusal wrong_type(const base::Json& value, std::string_view wanted) {
  const bool is_shown = value.is_number() || value.is_bool();
  return {"wrong_type",
          (is_shown ? value.dump() : "this value") + " is not " + std::string(wanted)};
}

template <typename T, typename Value>
Outcome set_number(const RangeField<T>& field, Value value, const std::string& given,
                   Layer& layer) {
  const bool fits = value >= std::numeric_limits<T>::lowest() &&
                    value <= std::numeric_limits<T>::max() && field.allows(static_cast<T>(value));
  if (!fits) return Refusal{"out_of_range", out_of_range(field, given)};
  layer.values.*field.member = static_cast<T>(value);
  return std::nullopt;
}

Outcome set_percent(const PercentField& field, std::string_view text, Layer& layer) {
  const auto value = parse_percent(text);
  if (value) return set_number(field, *value, quoted(text), layer);
  return Refusal{"bad_value", quoted(text) + " is not " + kPercentWords};
}

Outcome set_engine(ProfilingEngine InitOptions::* member, std::string_view text, Layer& layer) {
  const auto found = find_word(capture::engine_names(), text);
  if (!found) return Refusal{"bad_value", not_one_of(text, capture::engine_names())};
  layer.values.*member = static_cast<ProfilingEngine>(*found);
  return std::nullopt;
}

Outcome set_backend(BackendKind InitOptions::* member, std::string_view text, Layer& layer) {
  layer.is_synthetic = same_word(text, kSynthetic);
  if (layer.is_synthetic) return std::nullopt;
  const auto found = find_word(kBackends, text);
  if (!found) return Refusal{"bad_value", not_one_of(text, kBackends)};
  layer.values.*member = static_cast<BackendKind>(*found);
  return std::nullopt;
}

Outcome set_condition(const ConditionField& field, std::string_view text, Layer& layer) {
  if (!text.empty()) {
    const auto condition = parse_deep_condition(text);
    if (!condition) return Refusal{"bad_value", condition.status().message()};
  }
  layer.values.*field.member = text;
  return std::nullopt;
}

// From the text of a variable.
struct SetFromText {
  std::string_view text;
  Layer& layer;

  Outcome operator()(std::string InitOptions::* member) const {
    layer.values.*member = text;
    return std::nullopt;
  }
  Outcome operator()(bool InitOptions::* member) const {
    const auto value = parse_bool(text);
    if (!value) return Refusal{"bad_value", not_one_of(text, kBools)};
    layer.values.*member = *value;
    return std::nullopt;
  }
  Outcome operator()(const IntField& field) const {
    const auto value = parse_int(text);
    if (value) return set_number(field, *value, quoted(text), layer);
    return Refusal{"bad_value", quoted(text) + " is not a whole number; use " + accepted(field)};
  }
  Outcome operator()(const PercentField& field) const { return set_percent(field, text, layer); }
  Outcome operator()(BackendKind InitOptions::* member) const {
    return set_backend(member, text, layer);
  }
  Outcome operator()(ProfilingEngine InitOptions::* member) const {
    return set_engine(member, text, layer);
  }
  Outcome operator()(const ConditionField& field) const {
    return set_condition(field, text, layer);
  }
};

// From a value of a config file.
struct SetFromJson {
  const base::Json& value;
  Layer& layer;

  Outcome operator()(std::string InitOptions::* member) const {
    if (!value.is_string()) return wrong_type({}, "a string");
    layer.values.*member = value.as_string();
    return std::nullopt;
  }
  Outcome operator()(bool InitOptions::* member) const {
    if (!value.is_bool()) return wrong_type(value, "true or false");
    layer.values.*member = value.as_bool();
    return std::nullopt;
  }
  Outcome operator()(const IntField& field) const {
    if (!value.is_integer()) return wrong_type(value, "a whole number; use " + accepted(field));
    return set_number(field, value.as_integer(), value.dump(), layer);
  }
  Outcome operator()(const PercentField& field) const {
    if (value.is_string()) return set_percent(field, value.as_string(), layer);
    if (!value.is_number()) return wrong_type(value, kPercentWords);
    return set_number(field, value.as_number(), value.dump(), layer);
  }
  Outcome operator()(BackendKind InitOptions::* member) const {
    if (!value.is_string()) return wrong_type(value, "a backend's name, such as \"nvidia\"");
    return set_backend(member, value.as_string(), layer);
  }
  Outcome operator()(ProfilingEngine InitOptions::* member) const {
    if (!value.is_string()) return wrong_type(value, "an engine's name, such as \"Trace\"");
    return set_engine(member, value.as_string(), layer);
  }
  Outcome operator()(const ConditionField& field) const {
    if (!value.is_string()) return wrong_type(value, "a condition");
    return set_condition(field, value.as_string(), layer);
  }
};

std::string unknown_name(std::string_view name, const std::vector<std::string_view>& names) {
  const std::string_view meant = text::nearest(name, names);
  std::string text = "there is no option of that name";
  return meant.empty() ? text : text + "; did you mean " + std::string(meant) + "?";
}

// What a field stands for, in words.
struct InWords {
  const InitOptions& options;

  std::string operator()(std::string InitOptions::* member) const {
    static const InitOptions defaults;
    const std::string_view text = options.*member;
    if (text.empty()) return "none";
    // One that somebody has set may be a key.
    return text == defaults.*member ? quoted(text) : "the value given elsewhere";
  }
  std::string operator()(bool InitOptions::* member) const {
    return options.*member ? "on" : "off";
  }
  std::string operator()(const IntField& field) const { return number(options.*field.member); }
  std::string operator()(const PercentField& field) const {
    return number(options.*field.member) + "%";
  }
  std::string operator()(BackendKind InitOptions::* member) const {
    return std::string(to_string(options.*member));
  }
  std::string operator()(ProfilingEngine InitOptions::* member) const {
    return std::string(to_string(options.*member));
  }
  std::string operator()(const ConditionField& field) const {
    const std::string_view text = options.*field.member;
    return text.empty() ? "none" : quoted(text);
  }
};

// What is in force instead of a value that cannot be: "Using Trace".
std::string used_instead(const OptionField& field, const InitOptions& options) {
  if (field.name == "overhead_budget" && options.overhead_budget == 0) {
    return "Recording without a budget";
  }
  return "Using " + std::visit(InWords{options}, field.member);
}

// A sentence more.
std::string with_sentence(std::string text, const std::string& sentence) {
  text += text.ends_with('?') ? " " : ". ";
  return text + sentence;
}

class Resolver {
 public:
  Resolver(const InitOptions& program, const Environment& env, const InitOptions& defaults,
           const FieldNames& named)
      : program_(program), named_(named), env_(env) {
    result_.options = defaults;
  }

  ResolvedOptions resolve(const std::vector<std::string>& variable_names) {
    override_ = is_on("GPUFL_OVERRIDE");
    read_environment();
    if (is_on("GPUFL_DISABLED")) {
      choose(*find_field("enable_debug_output"));  // which says so
      result_.is_disabled = true;
      return std::move(result_);
    }
    for (const std::string& name : variable_names) check_variable(name);
    const OptionField& file_field = *find_field("config_file");
    choose(file_field);
    if (!result_.options.config_file.empty()) read_file(result_.options.config_file);
    for (const OptionField& field : option_fields()) {
      if (field.name != file_field.name) choose(field);
    }
    choose_backend_name();
    say_what_applies();
    note_costlier_engine();
    check_program_values();
    note_deprecated();
    result_.is_disabled = !result_.options.enabled;
    return std::move(result_);
  }

 private:
  bool is_on(const char* variable) {
    const auto text = env_(variable);
    if (!text) return false;
    const auto value = parse_bool(*text);
    if (!value) {
      warn("bad_value", "environment", variable, 0,
           with_sentence(not_one_of(*text, kBools), "Using off"));
    }
    return value.value_or(false);
  }

  void warn(std::string name, std::string source, std::string_view key, int line,
            std::string text) {
    result_.warnings.push_back(
        {std::move(name), std::move(source), std::string(key), line, std::move(text)});
  }

  void refuse(const OptionField& field, const Refusal& why, std::string source,
              std::string_view key, int line) {
    refused_.emplace_back(result_.warnings.size(), &field);
    warn(why.name, std::move(source), key, line, why.text);
  }

  // Of a value that could not be used: what is in force instead, from wherever it comes.
  void say_what_applies() {
    for (const auto& [warning, field] : refused_) {
      std::string& text = result_.warnings[warning].text;
      text = with_sentence(std::move(text), field->name == "backend"
                                                ? "Using " + result_.backend_name
                                                : used_instead(*field, result_.options));
    }
  }

  void read_environment() {
    for (const OptionField& field : option_fields()) {
      const std::string variable = field.variable();
      const auto text = env_(variable.c_str());
      if (!text) continue;
      if (const Outcome refused = std::visit(SetFromText{*text, environment_}, field.member)) {
        refuse(field, *refused, "environment", variable, 0);
      } else {
        environment_.fields.insert(field.name);
      }
    }
    read_deep_arm();
  }

  // What releases before had instead of deep_window_only.
  void read_deep_arm() {
    const auto text = env_(kDeepArm);
    if (!text || text->empty()) return;
    if (same_word(*text, kArmWindow)) {
      environment_.values.deep_window_only = true;
      environment_.fields.insert(kArmField);
    } else {
      refuse(*find_field(kArmField), {"bad_value", not_one_of(*text, {&kArmWindow, 1})},
             "environment", kDeepArm, 0);
    }
  }

  void check_variable(std::string_view name) {
    constexpr std::string_view kOthers[] = {
        "GPUFL_DISABLED", "GPUFL_OVERRIDE",     "GPUFL_RUN_ID", "GPUFL_INJECT_LIBRARY",
        "GPUFL_NVDISASM", "GPUFL_ENGINE_COMBO", kDeepArm};
    if (!name.starts_with("GPUFL_")) return;
    for (const backend::Vendor& vendor : backend::vendors()) {
      for (const std::string_view prefix : vendor.variables) {
        if (name.starts_with(prefix)) return;
      }
    }
    if (std::find(std::begin(kOthers), std::end(kOthers), name) != std::end(kOthers)) return;
    const auto launch = launch_variables();
    if (std::find(launch.begin(), launch.end(), name) != launch.end()) return;
    for (const OptionField& field : option_fields()) {
      if (field.variable() == name) return;
    }
    std::vector<std::string> variables(std::begin(kOthers), std::end(kOthers));
    for (const OptionField& field : option_fields()) variables.push_back(field.variable());
    warn("unknown_variable", "environment", name, 0,
         unknown_name(name, {variables.begin(), variables.end()}));
  }

  void read_file(const std::string& path) {
    const auto text = file_text(path, kMaxConfigBytes + 1);
    if (!text) {
      warn("unreadable_file", path, "", 0,
           "the config file cannot be read, or is not a regular file. Nothing of it applies");
      return;
    }
    const auto parsed = base::Json::parse(*text, kMaxConfigBytes);
    if (!parsed) {
      warn("broken_json", path, "", 0,
           with_sentence(parsed.status().message(), "Nothing of the file applies"));
      return;
    }
    if (!parsed->is_object()) {
      warn("wrong_type", path, "", parsed->line(),
           "the config file must hold one JSON object. Nothing of it applies");
      return;
    }
    for (const auto& [key, value] : parsed->members()) read_member(path, key, value);
  }

  void read_member(const std::string& path, const std::string& key, const base::Json& value) {
    const OptionField* field = find_field(key);
    if (field == nullptr) {
      std::vector<std::string_view> names;
      for (const OptionField& one : option_fields()) names.push_back(one.name);
      warn("unknown_key", path, key, value.line(), unknown_name(key, names));
    } else if (field->name == "config_file") {
      warn("no_effect", path, key, value.line(), "a config file cannot name another");
    } else if (const Outcome refused = std::visit(SetFromJson{value, file_}, field->member)) {
      refuse(*field, *refused, path, key, value.line());
    } else {
      file_.fields.insert(field->name);
    }
  }

  enum class Source { Default, File, Environment, Program };

  Source winner(const OptionField& field) const {
    const bool program_sets = !field.is_default(program_) || named_.contains(field.name);
    const bool environment_sets = environment_.fields.contains(field.name);
    const bool environment_wins = override_ || !program_sets || turns_engine_down(field);
    if (environment_sets && environment_wins) return Source::Environment;
    if (program_sets) return Source::Program;
    return file_.fields.contains(field.name) ? Source::File : Source::Default;
  }

  // One binary, with an engine in its code, records less in production than in development.
  bool turns_engine_down(const OptionField& field) const {
    return field.name == kEngineField &&
           cost_of(environment_.values.profiling_engine) < cost_of(program_.profiling_engine);
  }

  // The user asked for more than the program, and would otherwise look for it in vain.
  void note_costlier_engine() {
    const OptionField& field = *find_field(kEngineField);
    if (winner(field) != Source::Program || !environment_.fields.contains(field.name)) return;
    const ProfilingEngine asked = environment_.values.profiling_engine;
    if (asked == program_.profiling_engine) return;
    warn("no_effect", "environment", field.variable(), 0,
         std::string(to_string(asked)) + " costs more than " +
             std::string(to_string(program_.profiling_engine)) +
             ", which the program asks for; GPUFL_OVERRIDE=1 records with it anyway");
  }

  std::string source_of(const OptionField& field) const {
    switch (winner(field)) {
      case Source::Environment: return "environment";
      case Source::File: return result_.options.config_file;
      case Source::Program: return "program";
      case Source::Default: break;
    }
    return "default";
  }

  void choose(const OptionField& field) {
    switch (winner(field)) {
      case Source::Environment: field.copy(environment_.values, result_.options); break;
      case Source::File: field.copy(file_.values, result_.options); break;
      case Source::Program: field.copy(program_, result_.options); break;
      case Source::Default: return;
    }
    result_.chosen.emplace(field.name);
  }

  // "synthetic" is no BackendKind, so it follows the precedence beside the field.
  void choose_backend_name() {
    const Source source = winner(*find_field("backend"));
    const bool is_synthetic = (source == Source::Environment && environment_.is_synthetic) ||
                              (source == Source::File && file_.is_synthetic);
    result_.backend_name = is_synthetic ? kSynthetic : to_string(result_.options.backend);
  }

  void check_program_values() {
    for (const OptionField& field : option_fields()) {
      if (const auto* whole = std::get_if<IntField>(&field.member)) check_range(field, *whole);
      if (const auto* percent = std::get_if<PercentField>(&field.member)) {
        check_range(field, *percent);
      }
      if (const auto* condition = std::get_if<ConditionField>(&field.member)) {
        check_condition(field, *condition);
      }
    }
  }

  void check_condition(const OptionField& field, const ConditionField& condition) {
    std::string& text = result_.options.*condition.member;
    const std::string refusal = text.empty() ? "" : refusal_of(field.name, text);
    if (refusal.empty()) return;
    text.clear();
    warn("bad_value", source_of(field), field.name, 0,
         with_sentence(refusal, used_instead(field, result_.options)));
  }

  template <typename T>
  void check_range(const OptionField& field, const RangeField<T>& range) {
    static const InitOptions defaults;
    T& value = result_.options.*range.member;
    if (range.allows(value)) return;
    warn("out_of_range", source_of(field), field.name, 0,
         with_sentence(out_of_range(range, number(value)), used_instead(field, defaults)));
    value = defaults.*range.member;
  }

  void note_deprecated() {
    for (const OptionField& field : option_fields()) {
      if (field.deprecation.empty() || field.is_default(result_.options)) continue;
      warn("deprecated", source_of(field), field.name, 0, std::string(field.deprecation));
    }
  }

  const InitOptions& program_;
  const FieldNames& named_;
  const Environment& env_;
  bool override_ = false;
  Layer environment_;
  Layer file_;
  std::vector<std::pair<size_t, const OptionField*>> refused_;  // by place among the warnings
  ResolvedOptions result_;
};

}  // namespace

std::string OptionWarning::to_line() const {
  std::string text = source;
  if (line > 0) text += ":" + std::to_string(line);
  text += ": " + name;
  if (!key.empty()) text += ": " + key;
  return text + ": " + this->text;
}

base::Json OptionWarning::to_event() const {
  base::Json event = base::Json::object();
  event.set("name", "option_warning").set("reason", name).set("source", source);
  if (!key.empty()) event.set("key", key);
  if (line > 0) event.set("line", line);
  return event.set("text", to_line());
}

std::vector<std::string> variable_names() {
  std::vector<std::string> names;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    names.emplace_back(text.substr(0, text.find('=')));
  }
  return names;
}

ResolvedOptions resolve_options(const InitOptions& program, const Environment& env,
                                const std::vector<std::string>& variable_names,
                                const InitOptions& defaults, const FieldNames& named) {
  return Resolver(program, env, defaults, named).resolve(variable_names);
}

ResolvedOptions options_in_force(const InitOptions& program, const FieldNames& named) {
  return resolve_options(program, capture::process_environment(), {}, {}, named);
}

std::string refusal_of(std::string_view field, std::string_view text) {
  Layer layer;
  const Outcome refused = std::visit(SetFromText{text, layer}, find_field(field)->member);
  return refused ? refused->text : "";
}

std::span<const std::string_view> engine_names() { return capture::engine_names(); }

std::string_view to_string(ProfilingEngine engine) {
  return word(capture::engine_names(), static_cast<size_t>(engine));
}

std::string_view to_string(BackendKind backend) {
  return word(kBackends, static_cast<size_t>(backend));
}

std::string file_name_of(std::string_view app_name) {
  constexpr size_t kMaxBytes = 200;
  std::string name;
  for (const char c : app_name.substr(0, kMaxBytes)) {
    const bool is_plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                          (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
    name += is_plain ? c : '_';
  }
  if (name.empty()) return "gpufl";
  if (name.front() == '.') name.front() = '_';
  return name;
}

std::string log_root_of(const InitOptions& options) {
  constexpr std::string_view kSuffix = ".log";
  std::string path = options.log_path.empty() ? file_name_of(options.app_name) : options.log_path;
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  const bool is_only_suffix = path == kSuffix || path.ends_with("/.log");
  if (path.ends_with(kSuffix) && !is_only_suffix) path.resize(path.size() - kSuffix.size());
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(path, error);
  return error ? path : absolute.string();
}

}  // namespace gpufl::client
