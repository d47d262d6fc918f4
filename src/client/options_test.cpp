// SPDX-License-Identifier: Apache-2.0
#include "client/options.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "client/option_table.hpp"

namespace gpufl::client {
namespace {

using Variables = std::map<std::string, std::string>;

ResolvedOptions resolve(const InitOptions& program, const Variables& variables = {}) {
  return resolve_options(program, [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found != variables.end() ? std::optional(found->second) : std::nullopt;
  });
}

class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    char pattern[] = "/tmp/gpufl_options_XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~OptionsTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& text) {
    const std::string path = folder_ / "gpufl.json";
    std::ofstream(path) << text;
    return path;
  }
  ResolvedOptions with_file(const std::string& text, Variables variables = {},
                            const InitOptions& program = {}) {
    variables["GPUFL_CONFIG_FILE"] = file(text);
    return resolve(program, variables);
  }

  std::filesystem::path folder_;
};

TEST_F(OptionsTest, DefaultsAreThoseOfInitOptions) {
  const ResolvedOptions resolved = resolve({});
  for (const OptionField& field : option_fields()) {
    EXPECT_TRUE(field.is_default(resolved.options)) << field.name;
  }
  EXPECT_FALSE(resolved.is_disabled);
  EXPECT_EQ(resolved.backend_name, "auto");
  EXPECT_TRUE(resolved.warnings.empty());
}

// One value per type that is no default, as a variable's text and as JSON.
struct Other {
  std::string text, json;
  Other operator()(std::string InitOptions::*) const { return {"other", "\"other\""}; }
  Other operator()(bool InitOptions::* member) const {
    return InitOptions().*member ? Other{"off", "false"} : Other{"on", "true"};
  }
  Other operator()(const IntField& field) const {
    const std::string number = std::to_string(field.allows(77) ? 77 : field.max);
    return {number, number};
  }
  Other operator()(const PercentField&) const { return {"1.5%", "1.5"}; }
  Other operator()(BackendKind InitOptions::*) const { return {"none", "\"none\""}; }
  Other operator()(ProfilingEngine InitOptions::*) const { return {"deep", "\"Deep\""}; }
  Other operator()(const ConditionField&) const {
    return {"kernel_launch_rate<7", "\"kernel_launch_rate<7\""};
  }
};

TEST_F(OptionsTest, EveryFieldHasItsVariable) {
  for (const OptionField& field : option_fields()) {
    const Other other = std::visit(Other{}, field.member);
    const ResolvedOptions resolved = resolve({}, {{field.variable(), other.text}});
    EXPECT_FALSE(field.is_default(resolved.options)) << field.name;
    for (const OptionField& untouched : option_fields()) {
      if (untouched.name != field.name) {
        EXPECT_TRUE(untouched.is_default(resolved.options)) << untouched.name;
      }
    }
  }
  EXPECT_EQ(find_field("system_sample_rate_ms")->variable(), "GPUFL_SYSTEM_SAMPLE_RATE_MS");
  EXPECT_EQ(find_field("enable_stack_trace")->variable(), "GPUFL_ENABLE_STACK_TRACE");
}

TEST_F(OptionsTest, EveryFieldHasItsKey) {
  for (const OptionField& field : option_fields()) {
    if (field.name == "config_file") continue;
    const Other other = std::visit(Other{}, field.member);
    const ResolvedOptions resolved =
        with_file("{\"" + std::string(field.name) + "\": " + other.json + "}");
    EXPECT_FALSE(field.is_default(resolved.options)) << field.name;
  }
}

TEST_F(OptionsTest, DeepWindowsAreArmedByTheirFormerVariableToo) {
  EXPECT_TRUE(resolve({}, {{"GPUFL_DEEP_ARM", "window"}}).options.deep_window_only);
  EXPECT_FALSE(resolve({}, {{"GPUFL_DEEP_ARM", ""}}).options.deep_window_only);
  const ResolvedOptions wrong = resolve({}, {{"GPUFL_DEEP_ARM", "windows"}});
  EXPECT_FALSE(wrong.options.deep_window_only);
  ASSERT_EQ(wrong.warnings.size(), 1u);
  EXPECT_EQ(wrong.warnings[0].to_line(),
            "environment: bad_value: GPUFL_DEEP_ARM: 'windows' is not one of window; did you mean "
            "'window'? Using off");
}

TEST_F(OptionsTest, AConditionThatCannotBeReadIsToldAndDropped) {
  const ResolvedOptions from_variable = resolve({}, {{"GPUFL_DEEP_WHEN", "kernel_launch_rat<1"}});
  EXPECT_EQ(from_variable.options.deep_when, "");
  ASSERT_EQ(from_variable.warnings.size(), 1u);
  EXPECT_TRUE(
      from_variable.warnings[0].text.ends_with("did you mean 'kernel_launch_rate'? Using none"))
      << from_variable.warnings[0].text;
  InitOptions program;
  program.deep_when = "kernel_launch_rate";
  const ResolvedOptions from_program = resolve(program);
  EXPECT_EQ(from_program.options.deep_when, "");
  ASSERT_EQ(from_program.warnings.size(), 1u);
  EXPECT_EQ(from_program.warnings[0].source, "program");
}

TEST_F(OptionsTest, ProgramThenVariablesThenFileThenDefaults) {
  const std::string json = R"({"app_name": "file", "log_path": "file", "api_path": "file"})";
  const Variables variables = {{"GPUFL_APP_NAME", "env"}, {"GPUFL_LOG_PATH", "env"}};
  InitOptions program;
  program.app_name = "program";
  const ResolvedOptions resolved = with_file(json, variables, program);
  EXPECT_EQ(resolved.options.app_name, "program");
  EXPECT_EQ(resolved.options.log_path, "env");
  EXPECT_EQ(resolved.options.api_path, "file");
  EXPECT_EQ(resolved.options.backend_url, "");
}

TEST_F(OptionsTest, ADefaultThatIsNamedWinsOverTheVariable) {
  const auto env = [](const char* name) -> std::optional<std::string> {
    if (std::string_view(name) == "GPUFL_APP_NAME") return "from_variable";
    if (std::string_view(name) == "GPUFL_LOG_PATH") return "/from/variable";
    return std::nullopt;
  };
  const auto resolved = resolve_options({}, env, {}, {}, {"app_name"});
  EXPECT_EQ(resolved.options.app_name, "gpufl");
  EXPECT_EQ(resolved.options.log_path, "/from/variable");
}

TEST_F(OptionsTest, OverrideLetsVariablesWin) {
  InitOptions program;
  program.profiling_engine = ProfilingEngine::Deep;
  program.app_name = "program";
  program.backend = BackendKind::Nvidia;
  const ResolvedOptions resolved = with_file(R"({"app_name": "file"})",
                                             {{"GPUFL_OVERRIDE", "1"},
                                              {"GPUFL_PROFILING_ENGINE", "Monitor"},
                                              {"GPUFL_BACKEND", "synthetic"}},
                                             program);
  EXPECT_EQ(resolved.options.profiling_engine, ProfilingEngine::Monitor);
  EXPECT_EQ(resolved.backend_name, "synthetic");
  EXPECT_EQ(resolved.options.app_name, "program");
}

TEST_F(OptionsTest, ACheaperEngineOfTheVariableAlwaysWins) {
  constexpr ProfilingEngine kByCost[] = {
      ProfilingEngine::Monitor,       ProfilingEngine::Trace,
      ProfilingEngine::PmSampling,    ProfilingEngine::PcSampling,
      ProfilingEngine::RangeProfiler, ProfilingEngine::RangeProfilerKernelReplay,
      ProfilingEngine::SassMetrics,   ProfilingEngine::Deep};
  for (size_t code = 1; code < std::size(kByCost); ++code) {
    InitOptions program;
    program.profiling_engine = kByCost[code];
    for (size_t variable = 0; variable < std::size(kByCost); ++variable) {
      const std::string name(to_string(kByCost[variable]));
      const ResolvedOptions resolved = resolve(program, {{"GPUFL_PROFILING_ENGINE", name}});
      EXPECT_EQ(resolved.options.profiling_engine, kByCost[std::min(code, variable)]) << name;
      EXPECT_EQ(resolved.warnings.size(), variable > code ? 1u : 0u) << name;
      const ResolvedOptions overridden =
          resolve(program, {{"GPUFL_PROFILING_ENGINE", name}, {"GPUFL_OVERRIDE", "1"}});
      EXPECT_EQ(overridden.options.profiling_engine, kByCost[variable]) << name;
      EXPECT_TRUE(overridden.warnings.empty()) << name;
    }
  }
}

TEST_F(OptionsTest, AMisspeltEngineTurnsNothingDown) {
  InitOptions program;
  program.profiling_engine = ProfilingEngine::Deep;
  const ResolvedOptions resolved = resolve(program, {{"GPUFL_PROFILING_ENGINE", "Turbo"}});
  EXPECT_EQ(resolved.options.profiling_engine, ProfilingEngine::Deep);
}

TEST_F(OptionsTest, ACostlierEngineOfTheVariableNeedsTheOverride) {
  InitOptions program;
  program.profiling_engine = ProfilingEngine::Trace;
  const ResolvedOptions resolved = resolve(program, {{"GPUFL_PROFILING_ENGINE", "Deep"}});
  ASSERT_EQ(resolved.warnings.size(), 1u);
  EXPECT_EQ(resolved.warnings[0].to_line(),
            "environment: no_effect: GPUFL_PROFILING_ENGINE: Deep costs more than Trace, which the "
            "program asks for; GPUFL_OVERRIDE=1 records with it anyway");
}

TEST_F(OptionsTest, DisabledWinsOverEverything) {
  InitOptions program;
  program.log_path = "set";
  for (const char* yes : {"1", "true", "YES", "On"}) {
    EXPECT_TRUE(resolve(program, {{"GPUFL_DISABLED", yes}}).is_disabled) << yes;
    EXPECT_TRUE(
        resolve(program, {{"GPUFL_DISABLED", yes}, {"GPUFL_OVERRIDE", "1"}, {"GPUFL_ENABLED", "1"}})
            .is_disabled);
  }
  for (const char* no : {"0", "false", "No", "off", ""}) {
    EXPECT_FALSE(resolve(program, {{"GPUFL_DISABLED", no}}).is_disabled) << no;
  }
  program.enabled = false;
  EXPECT_TRUE(resolve(program).is_disabled);
}

TEST_F(OptionsTest, BackendNames) {
  EXPECT_EQ(resolve({}, {{"GPUFL_BACKEND", "synthetic"}}).backend_name, "synthetic");
  EXPECT_EQ(resolve({}, {{"GPUFL_BACKEND", "Nvidia"}}).backend_name, "nvidia");
  EXPECT_EQ(with_file(R"({"backend": "synthetic"})").backend_name, "synthetic");
  InitOptions program;
  program.backend = BackendKind::None;
  EXPECT_EQ(resolve(program, {{"GPUFL_BACKEND", "synthetic"}}).backend_name, "none");
}

TEST_F(OptionsTest, EnginesByName) {
  for (const char* name : {"Monitor", "Trace", "PcSampling", "SassMetrics", "RangeProfiler", "Deep",
                           "PmSampling", "RangeProfilerKernelReplay"}) {
    const ResolvedOptions resolved = resolve({}, {{"GPUFL_PROFILING_ENGINE", name}});
    EXPECT_EQ(to_string(resolved.options.profiling_engine), name);
    EXPECT_TRUE(resolved.warnings.empty());
  }
}

TEST_F(OptionsTest, BadVariableIsNamedAndNotUsed) {
  for (const auto& [variable, value] : Variables{{"GPUFL_SYSTEM_SAMPLE_RATE_MS", "fast"},
                                                 {"GPUFL_ENABLE_STACK_TRACE", "maybe"},
                                                 {"GPUFL_PROFILING_ENGINE", "Turbo"},
                                                 {"GPUFL_BACKEND", "abacus"},
                                                 {"GPUFL_DISABLED", "perhaps"}}) {
    const ResolvedOptions resolved = resolve({}, {{variable, value}});
    ASSERT_EQ(resolved.warnings.size(), 1u) << variable;
    EXPECT_EQ(resolved.warnings[0].name, "bad_value");
    EXPECT_EQ(resolved.warnings[0].source, "environment");
    EXPECT_EQ(resolved.warnings[0].key, variable);
    EXPECT_FALSE(resolved.is_disabled);
  }
}

TEST_F(OptionsTest, AWarningSaysWhatWasGivenAndWhatIsAccepted) {
  const std::map<std::string, Variables> expected = {
      {"'fast' is not a whole number; use 0 to 3600000. Using 0",
       {{"GPUFL_SYSTEM_SAMPLE_RATE_MS", "fast"}}},
      {"'-1' is out of range; use 0 to 3600000. Using 0", {{"GPUFL_SYSTEM_SAMPLE_RATE_MS", "-1"}}},
      {"'99999999999999999999' is out of range; use 0 to 3600000. Using 0",
       {{"GPUFL_SYSTEM_SAMPLE_RATE_MS", "99999999999999999999"}}},
      {"'99' is out of range; use 0, or 5 to 31. Using 0", {{"GPUFL_PC_SAMPLING_PERIOD", "99"}}},
      {"'maybe' is not one of 1, true, yes, on, 0, false, no, off. Using off",
       {{"GPUFL_ENABLE_STACK_TRACE", "maybe"}}},
      {"'perhaps' is not one of 1, true, yes, on, 0, false, no, off. Using off",
       {{"GPUFL_DISABLED", "perhaps"}}},
      {"'Trce' is not one of Monitor, Trace, PcSampling, SassMetrics, RangeProfiler, Deep, "
       "PmSampling, RangeProfilerKernelReplay; did you mean 'Trace'? Using Monitor",
       {{"GPUFL_PROFILING_ENGINE", "Trce"}}},
      {"'nvida' is not one of auto, nvidia, amd, none; did you mean 'nvidia'? Using auto",
       {{"GPUFL_BACKEND", "nvida"}}},
      {"'60%' is out of range; use 0, or 0.1 to 50. Recording without a budget",
       {{"GPUFL_OVERHEAD_BUDGET", "60%"}}},
      {"'much' is not a percentage, such as 2 or 1.5%. Recording without a budget",
       {{"GPUFL_OVERHEAD_BUDGET", "much"}}}};
  for (const auto& [text, variables] : expected) {
    const ResolvedOptions resolved = resolve({}, variables);
    ASSERT_EQ(resolved.warnings.size(), 1u) << text;
    EXPECT_EQ(resolved.warnings[0].text, text);
  }
  const ResolvedOptions file = with_file(
      R"({"app_name": 5, "app_nam": "x", "enabled": 7, "log_window_mb": 1.5, "backend": []})");
  const char* const lines[] = {
      "this value is not a string. Using 'gpufl'",
      "there is no option of that name; did you mean app_name?", "7 is not true or false. Using on",
      "1.5 is not a whole number; use 1 to 4096. Using 64",
      "this value is not a backend's name, such as \"nvidia\". Using auto"};
  ASSERT_EQ(file.warnings.size(), std::size(lines));
  for (size_t i = 0; i < std::size(lines); ++i) EXPECT_EQ(file.warnings[i].text, lines[i]);
}

TEST_F(OptionsTest, AWarningSaysWhatAppliesInstead) {
  InitOptions program;
  program.overhead_budget = 3;
  program.profiling_engine = ProfilingEngine::Trace;
  const ResolvedOptions resolved =
      resolve(program, {{"GPUFL_OVERHEAD_BUDGET", "60%"}, {"GPUFL_PROFILING_ENGINE", "Trce"}});
  ASSERT_EQ(resolved.warnings.size(), 2u);
  for (const OptionWarning& warning : resolved.warnings) {
    const bool is_budget = warning.key == "GPUFL_OVERHEAD_BUDGET";
    EXPECT_TRUE(warning.text.ends_with(is_budget ? ". Using 3%" : "? Using Trace")) << warning.text;
  }
}

TEST_F(OptionsTest, NumbersOutOfRange) {
  const ResolvedOptions resolved = resolve({}, {{"GPUFL_SYSTEM_SAMPLE_RATE_MS", "-5"}});
  ASSERT_EQ(resolved.warnings.size(), 1u);
  EXPECT_EQ(resolved.warnings[0].name, "out_of_range");
  EXPECT_EQ(resolved.options.system_sample_rate_ms, 0);
  InitOptions program;
  program.log_window_mb = 0;
  const ResolvedOptions from_program = resolve(program);
  ASSERT_EQ(from_program.warnings.size(), 1u);
  EXPECT_EQ(from_program.warnings[0].source, "program");
  EXPECT_EQ(from_program.warnings[0].text, "0 is out of range; use 1 to 4096. Using 64");
  EXPECT_EQ(from_program.options.log_window_mb, InitOptions().log_window_mb);
}

TEST_F(OptionsTest, APercentageIsTypedAsPeopleDo) {
  const auto budget = [](const std::string& text) {
    return resolve({}, {{"GPUFL_OVERHEAD_BUDGET", text}}).options.overhead_budget;
  };
  EXPECT_EQ(budget("2"), 2);
  EXPECT_EQ(budget("2%"), 2);
  EXPECT_EQ(budget("1.5%"), 1.5);
  EXPECT_EQ(budget("0.1 %"), 0.1);
  EXPECT_EQ(with_file(R"({"overhead_budget": "2.5%"})").options.overhead_budget, 2.5);
  EXPECT_EQ(with_file(R"({"overhead_budget": 2.5})").options.overhead_budget, 2.5);
  EXPECT_EQ(with_file(R"({"overhead_budget": 3})").options.overhead_budget, 3);
  for (const char* bad : {"", "%", "two", "2%%", "-2", "51", "0.05%", "nan", "inf", "2 percent"}) {
    const ResolvedOptions resolved = resolve({}, {{"GPUFL_OVERHEAD_BUDGET", bad}});
    EXPECT_EQ(resolved.options.overhead_budget, 0) << bad;
    EXPECT_EQ(resolved.warnings.size(), 1u) << bad;
    EXPECT_NE(refusal_of("overhead_budget", bad), "") << bad;
  }
  EXPECT_EQ(refusal_of("overhead_budget", "2%"), "");
  EXPECT_EQ(refusal_of("overhead_budget", "60"), "'60' is out of range; use 0, or 0.1 to 50");
  EXPECT_EQ(refusal_of("overhead_budget", "much"), "'much' is not a percentage, such as 2 or 1.5%");
  InitOptions program;
  program.overhead_budget = 99;
  program.pc_sampling_period = 3;
  const ResolvedOptions resolved = resolve(program);
  EXPECT_EQ(resolved.options.overhead_budget, 0);
  EXPECT_EQ(resolved.options.pc_sampling_period, 0);
  EXPECT_EQ(resolved.warnings.size(), 2u);
}

TEST_F(OptionsTest, FileWarningsNameLineAndKey) {
  const ResolvedOptions resolved = with_file(
      "{\n  \"app_name\": 5,\n  \"colour\": \"red\",\n  \"log_path\": \"kept\",\n"
      "  \"enabled\": \"yes\",\n  \"system_sample_rate_ms\": 1.5,\n  \"log_window_mb\": 0,\n"
      "  \"profiling_engine\": \"Turbo\",\n  \"config_file\": \"other.json\"\n}\n");
  struct Expected {
    const char *name, *key;
    int line;
  };
  const Expected expected[] = {
      {"wrong_type", "app_name", 2},        {"unknown_key", "colour", 3},
      {"wrong_type", "enabled", 5},         {"wrong_type", "system_sample_rate_ms", 6},
      {"out_of_range", "log_window_mb", 7}, {"bad_value", "profiling_engine", 8},
      {"no_effect", "config_file", 9}};
  ASSERT_EQ(resolved.warnings.size(), std::size(expected));
  for (size_t i = 0; i < std::size(expected); ++i) {
    const OptionWarning& warning = resolved.warnings[i];
    EXPECT_EQ(warning.name, expected[i].name);
    EXPECT_EQ(warning.key, expected[i].key);
    EXPECT_EQ(warning.line, expected[i].line);
    EXPECT_EQ(warning.source, (folder_ / "gpufl.json").string());
  }
  EXPECT_EQ(resolved.options.log_path, "kept");
  EXPECT_EQ(resolved.options.app_name, "gpufl");
  EXPECT_NE(resolved.warnings[1].to_line().find("gpufl.json:3: unknown_key: colour"),
            std::string::npos);
}

TEST_F(OptionsTest, BrokenFile) {
  const ResolvedOptions resolved = with_file("{\n  \"app_name\": \"x\",\n  broken\n}");
  ASSERT_EQ(resolved.warnings.size(), 1u);
  EXPECT_EQ(resolved.warnings[0].name, "broken_json");
  EXPECT_NE(resolved.warnings[0].text.find("3"), std::string::npos) << resolved.warnings[0].text;
  EXPECT_EQ(resolved.options.app_name, "gpufl");

  EXPECT_EQ(with_file("[1, 2]").warnings.at(0).name, "wrong_type");
  EXPECT_EQ(with_file("").warnings.at(0).name, "broken_json");
  const std::string missing = folder_ / "missing.json";
  const ResolvedOptions absent = resolve({}, {{"GPUFL_CONFIG_FILE", missing}});
  ASSERT_EQ(absent.warnings.size(), 1u);
  EXPECT_EQ(absent.warnings[0].name, "unreadable_file");
  EXPECT_EQ(resolve({}, {{"GPUFL_CONFIG_FILE", folder_}}).warnings.at(0).name, "unreadable_file");
}

TEST_F(OptionsTest, PipeIsNoConfigFile) {
  InitOptions program;
  program.config_file = folder_ / "pipe";
  ASSERT_EQ(mkfifo(program.config_file.c_str(), 0600), 0);
  const ResolvedOptions resolved = resolve(program);  // and does not wait for a writer
  ASSERT_EQ(resolved.warnings.size(), 1u);
  EXPECT_EQ(resolved.warnings[0].name, "unreadable_file");
}

TEST_F(OptionsTest, VariablesThatMeanNothingAreNamed) {
  const auto none = [](const char*) { return std::nullopt; };
  const ResolvedOptions resolved = resolve_options(
      {}, none,
      {"PATH", "GPUFL_LOG_PAHT", "GPUFL_LOG_PATH", "GPUFL_DISABLED", "GPUFL_OVERRIDE",
       "GPUFL_RUN_ID", "GPUFL_SYNTHETIC_SEED", "GPUFL_NVML_LIBRARY", "GPUFL_BACKEND"});
  ASSERT_EQ(resolved.warnings.size(), 1u);
  EXPECT_EQ(resolved.warnings[0].name, "unknown_variable");
  EXPECT_EQ(resolved.warnings[0].key, "GPUFL_LOG_PAHT");
  EXPECT_EQ(resolved.warnings[0].text,
            "there is no option of that name; did you mean GPUFL_LOG_PATH?");
}

TEST_F(OptionsTest, DeprecatedFieldsAreNotedWhereTheyCameFrom) {
  InitOptions program;
  program.remote_upload = true;
  const ResolvedOptions resolved = resolve(program, {{"GPUFL_KERNEL_SAMPLE_RATE_MS", "10"}});
  ASSERT_EQ(resolved.warnings.size(), 2u);
  EXPECT_EQ(resolved.warnings[0].name, "deprecated");
  EXPECT_EQ(resolved.warnings[0].key, "remote_upload");
  EXPECT_EQ(resolved.warnings[0].source, "program");
  EXPECT_EQ(resolved.warnings[0].to_line(),
            "program: deprecated: remote_upload: nothing is uploaded while the program runs; "
            "upload the logs after shutdown()");
  EXPECT_EQ(resolved.warnings[1].key, "kernel_sample_rate_ms");
  EXPECT_EQ(resolved.warnings[1].source, "environment");
}

TEST_F(OptionsTest, KeysAreNeverRepeatedInWarnings) {
  InitOptions program;
  program.api_key = "gpfl_secret";
  const ResolvedOptions resolved = with_file(R"({"api_key": {"gpfl_secret": 1}})", {}, program);
  ASSERT_EQ(resolved.warnings.size(), 1u);
  EXPECT_TRUE(resolved.warnings[0].text.ends_with("Using the value given elsewhere"));
  EXPECT_EQ(resolved.warnings[0].to_line().find("secret"), std::string::npos);
}

TEST(LogRoot, NamedAfterTheApp) {
  InitOptions options;
  options.app_name = "my app/../x";
  EXPECT_EQ(log_root_of(options), (std::filesystem::current_path() / "my_app_.._x").string());
  options.app_name = "..";
  EXPECT_EQ(log_root_of(options), (std::filesystem::current_path() / "_.").string());
  options.app_name = "";
  EXPECT_EQ(log_root_of(options), (std::filesystem::current_path() / "gpufl").string());
}

TEST(LogRoot, NameThatIsOnlyTheSuffixStays) {
  InitOptions options;
  options.log_path = "/tmp/.log";
  EXPECT_EQ(log_root_of(options), "/tmp/.log");
  options.log_path = "/tmp/run.log/";
  EXPECT_EQ(log_root_of(options), "/tmp/run");
}

TEST(LogRoot, TrailingLogIsDropped) {
  InitOptions options;
  options.log_path = "/tmp/run.log";
  EXPECT_EQ(log_root_of(options), "/tmp/run");
  options.log_path = "/tmp/logs";
  EXPECT_EQ(log_root_of(options), "/tmp/logs");
  options.log_path = "relative.log";
  EXPECT_EQ(log_root_of(options), (std::filesystem::current_path() / "relative").string());
}

}  // namespace
}  // namespace gpufl::client
