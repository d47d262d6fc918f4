// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_command.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <gpufl/version.hpp>
#include "backend/diagnosis.hpp"
#include "capture/engine_ladder.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "disassembly/nvdisasm.hpp"
#include "format/log_writer.hpp"

namespace gpufl::cli {
namespace {

using backend::Availability;
using backend::Finding;
using backend::FindingState;

struct Feature {
  std::string name;
  Availability availability;
};

struct Examination {
  std::vector<Finding> findings;
  std::vector<Feature> features;
};

constexpr std::string_view kMonitor = "Monitor", kTrace = "Trace", kPcSampling = "PcSampling";
// What is no engine.
constexpr std::string_view kHostMetrics = "HostMetrics", kPrometheus = "Prometheus",
                           kDisassembly = "Disassembly";

Availability not_in_this_version() {
  return {false, "not_in_this_version", "not in this version yet", ""};
}

std::vector<std::string> feature_names() {
  std::vector<std::string> names;
  for (const std::string_view engine : capture::engine_names()) names.emplace_back(engine);
  for (const std::string_view other : {kHostMetrics, kPrometheus, kDisassembly}) {
    names.emplace_back(other);
  }
  return names;
}

Availability disassembly_available() {
  const auto tool = disassembly::find_nvdisasm(disassembly::nvdisasm_search());
  if (tool) return {true, "", tool->string(), ""};
  return {false, "program_not_found", tool.status().message(), ""};
}

Availability availability_of(std::string_view name, const backend::Diagnosis& diagnosis) {
  if (name == kMonitor) return diagnosis.health;
  if (name == kTrace) return diagnosis.trace;
  if (name == kPcSampling) return diagnosis.sampling;
  if (name == kDisassembly) return disassembly_available();
  if (name == kHostMetrics) return {true, "", "from /proc", ""};
  if (name == kPrometheus) return {true, "", "gpufl monitor --prometheus", ""};
  return not_in_this_version();
}

Finding disk() {
  std::error_code error;
  const auto folder = std::filesystem::current_path(error);
  const auto space = std::filesystem::space(folder, error);
  if (error) return {"disk", FindingState::Problem, "free space unknown: " + error.message(), ""};
  const uint64_t floor = format::LogOptions{}.disk_floor_bytes;
  const std::string text = fmt::format(
      "{:.1f} GiB free in {}", static_cast<double>(space.available) / (1 << 30), folder.string());
  if (space.available > floor) return {"disk", FindingState::Good, text, ""};
  return {"disk", FindingState::Problem, text,
          fmt::format("logs are not written below {} MiB of free space: make room, or log to "
                      "another disk",
                      floor >> 20)};
}

Examination examine() {
  backend::Diagnosis diagnosis = backend::diagnose();
  Examination result;
  for (const std::string& name : feature_names()) {
    result.features.push_back({name, availability_of(name, diagnosis)});
  }
  result.findings = std::move(diagnosis.findings);
  result.findings.push_back(disk());
  return result;
}

std::string_view mark(FindingState state) {
  switch (state) {
    case FindingState::Good: return "ok";
    case FindingState::Absent: return "--";
    case FindingState::Problem: return "!!";
  }
  return "";
}

std::string describe(const Examination& result) {
  std::string out = fmt::format("gpufl {}\n\nThis machine\n", GPUFL_VERSION);
  for (const Finding& finding : result.findings) {
    out += fmt::format("  {:<3}{:<14}{}\n", mark(finding.state), finding.topic, finding.text);
    if (finding.state != FindingState::Good && !finding.hint.empty()) {
      out += fmt::format("  {:<17}-> {}\n", "", finding.hint);
    }
  }
  out += "\nFeatures\n";
  for (const Feature& feature : result.features) {
    const Availability& availability = feature.availability;
    out += fmt::format("  {:<27}{:<5}{}\n", feature.name, availability.available ? "yes" : "no",
                       availability.detail);
    if (!availability.available && !availability.hint.empty()) {
      out += fmt::format("  {:<32}-> {}\n", "", availability.hint);
    }
  }
  return out;
}

base::Json to_json(const Examination& result) {
  base::Json findings = base::Json::array();
  for (const Finding& finding : result.findings) findings.push(finding.to_json());
  base::Json features = base::Json::array();
  for (const Feature& feature : result.features) {
    base::Json json = base::Json::object();
    json.set("feature", feature.name);
    json.set("available", feature.availability.available);
    if (!feature.availability.reason.empty()) json.set("reason", feature.availability.reason);
    json.set("detail", feature.availability.detail);
    if (!feature.availability.hint.empty()) json.set("hint", feature.availability.hint);
    features.push(std::move(json));
  }
  base::Json json = base::Json::object();
  json.set("version", GPUFL_VERSION);
  json.set("findings", std::move(findings));
  json.set("features", std::move(features));
  return json;
}

bool has_all(const Examination& result, const std::vector<std::string>& asked) {
  return std::all_of(asked.begin(), asked.end(), [&](const std::string& name) {
    return std::any_of(result.features.begin(), result.features.end(), [&](const Feature& f) {
      return f.name == name && f.availability.available;
    });
  });
}

}  // namespace

void add_doctor_command(Command program) {
  struct Options {
    std::vector<std::string> features{std::string(kMonitor)};
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command(
      "doctor", "Say what works on this machine, and what to do about the rest");
  command.add_option("feature", options->features, "Features that have to work")
      .choices_in_any_case(feature_names())
      .show_default();
  command.add_flag("--json", options->json, "Print one JSON object");
  command.set_footer(
      "Exit code: 0 every feature named (Monitor, if none is) works; 1 one does not.");
  command.set_action([options] {
    const Examination result = examine();
    print(options->json ? to_json(result).dump() + '\n' : describe(result));
    return has_all(result, options->features) ? kExitGood : kExitNo;
  });
}

}  // namespace gpufl::cli
