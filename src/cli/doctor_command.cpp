// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_command.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <gpufl/version.hpp>
#include "backend/diagnosis.hpp"
#include "capture/engine_ladder.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/terminal.hpp"
#include "disassembly/nvdisasm.hpp"
#include "format/engines.hpp"
#include "format/log_writer.hpp"
#include "report/text_page.hpp"

namespace gpufl::cli {
namespace {

using backend::Availability;
using backend::Finding;
using backend::FindingState;

constexpr size_t kIndent = 2;

struct Feature {
  std::string name;
  Availability availability;
};

struct Examination {
  std::vector<Finding> findings;
  std::vector<Feature> features;
};

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
  if (name == format::kMonitorEngine) return diagnosis.health;
  if (name == format::kTraceEngine) return diagnosis.trace;
  if (name == format::kSamplingEngine) return diagnosis.sampling;
  if (name == format::kSassEngine) return diagnosis.counting;
  if (name == format::kRangeEngine) return diagnosis.ranging;
  if (name == format::kPmEngine) return diagnosis.pm_sampling;
  if (name == format::kDeepEngine) {
    return diagnosis.sampling.available ? diagnosis.counting : diagnosis.sampling;
  }
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

// A label, what there is to say, and what to do about it.
void write_entry(report::Page& page, std::string_view label, std::string_view text,
                 std::string_view hint) {
  page.paragraph(kIndent, fmt::format("{}{}", label, text), report::Tone::Plain, label.size());
  if (!hint.empty()) {
    page.paragraph(kIndent + label.size(), fmt::format("-> {}", hint), report::Tone::Plain, 3);
  }
}

std::string describe(const Examination& result, size_t width) {
  report::TextPage page(width, false);
  page.paragraph(0, fmt::format("gpufl {}", GPUFL_VERSION));
  page.heading("This machine");
  for (const Finding& finding : result.findings) {
    write_entry(page, fmt::format("{:<3}{:<14}", mark(finding.state), finding.topic), finding.text,
                finding.state == FindingState::Good ? "" : finding.hint);
  }
  page.heading("Features");
  std::map<std::string, std::string> explained;  // by what was said of the first of them
  for (const auto& [name, availability] : result.features) {
    const std::string label =
        fmt::format("{:<27}{:<5}", name, availability.available ? "yes" : "no");
    // What is long is said once.
    const auto [first, is_new] = explained.try_emplace(availability.detail, name);
    if (!is_new && !availability.hint.empty()) {
      write_entry(page, label, "as " + first->second, "");
    } else {
      write_entry(page, label, availability.detail,
                  availability.available ? "" : availability.hint);
    }
  }
  return page.text();
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
    std::vector<std::string> features{std::string(format::kMonitorEngine)};
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command(
      "doctor", "Show what works on this machine, and what to do about the rest");
  command.add_option("feature", options->features, "Features that must work")
      .choices_in_any_case(feature_names())
      .show_default();
  command.add_flag("--json", options->json, "Print one JSON object");
  command.set_footer(
      "Exit code: 0 every named feature works (Monitor by default); 1 one does not.");
  command.set_action([options] {
    const Examination result = examine();
    print(options->json ? to_json(result).dump() + '\n' : describe(result, page_width()));
    return has_all(result, options->features) ? kExitGood : kExitNo;
  });
}

}  // namespace gpufl::cli
