// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <string>
#include <utility>

#include "base/json_writer.hpp"
#include "report/json_figures.hpp"
#include "report/json_report.hpp"
#include "report/kernel_report.hpp"

namespace gpufl::report {
namespace {

using analysis::SampleCount;
using base::Json;
using base::JsonWriter;
using disassembly::Instruction;
using disassembly::KernelCode;

Json stalls_json(const SampleCount& count) {
  Json json = Json::object();
  for (const auto& [reason, stall] : count.stalls) {
    json.set(reason,
             Json::object().set("samples", stall.samples).set("not_issued", stall.not_issued));
  }
  return json;
}

void set_samples(Json& json, const SampleCount& count) {
  json.set("samples", count.samples).set("stalls", stalls_json(count));
}

Json counts_json(const analysis::InstructionCounts& counts) {
  if (counts.empty()) return {};
  Json json = Json::object();
  json.set("warps", counts.warps).set("threads", counts.threads);
  json.set("threads_predicated_on", counts.threads_on);
  json.set("sectors", counts.sectors).set("sectors_ideal", counts.sectors_ideal);
  json.set("shared_passes", counts.shared_passes);
  json.set("shared_passes_ideal", counts.shared_passes_ideal);
  return json.set("local_sectors", counts.local_sectors);
}

template <typename Entry, typename Make>
Json callers_json(const analysis::Figure<analysis::Callers<Entry>>& figure, Make make) {
  return json_figure(figure, [&](const analysis::Callers<Entry>& callers) {
    Json json = Json::object();
    json.set("groups", json_array(callers.entries, make));
    Json more = Json::object();
    more.set("groups", callers.more).set("launches", callers.more_launches);
    return json.set("more", more.set("total_ns", callers.more_ns));
  });
}

Json callers_json(const analysis::KernelCallers& callers) {
  const auto group = [](const analysis::KernelGroup& one) { return to_json(one); };
  const auto stack = [](const analysis::CallerStack& one) {
    Json json = to_json(one.group);
    return json.set("frames", json_array(one.frames)).set("more_frames", one.more_frames);
  };
  Json json = Json::object();
  json.set("by_op", callers_json(callers.by_op, group));
  json.set("by_module", callers_json(callers.by_module, group));
  json.set("by_line", callers_json(callers.by_line, group));
  json.set("by_scope", callers_json(callers.by_scope, group));
  json.set("by_api_call", callers_json(callers.by_api_call, group));
  return json.set("by_stack", callers_json(callers.by_stack, stack));
}

Json resources_json(const disassembly::Resources& resources) {
  Json json = Json::object();
  json.set("registers", json_optional(resources.registers));
  json.set("stack_bytes", json_optional(resources.stack_bytes));
  json.set("shared_bytes", json_optional(resources.shared_bytes));
  json.set("constant_bytes", json_optional(resources.constant_bytes));
  return json.set("local_bytes", json_optional(resources.local_bytes));
}

Json place_json(const KernelCode& code, const disassembly::SourcePlace& place) {
  return Json::object().set("file", code.files[place.file]).set("line", place.line);
}

Json instruction_json(const KernelImage& image, size_t i) {
  const KernelCode& code = *image.code;
  const Instruction& instruction = code.instructions[i];
  Json json = Json::object();
  json.set("offset", instruction.offset).set("text", instruction.text);
  Json places = Json::array();
  if (instruction.chain < code.chains.size()) {
    for (const auto& place : code.chains[instruction.chain]) places.push(place_json(code, place));
  }
  json.set("places", std::move(places));
  json.set("ptx_line", instruction.ptx_line > 0 ? Json(instruction.ptx_line) : Json());
  json.set("target", instruction.target >= 0 ? Json(instruction.target) : Json());
  json.set("live_registers",
           instruction.live_registers >= 0 ? Json(instruction.live_registers) : Json());
  set_samples(json, image.sampled.instructions[i]);
  return json.set("counts",
                  counts_json(image.counted.instructions.empty() ? analysis::InstructionCounts{}
                                                                 : image.counted.instructions[i]));
}

Json line_json(const KernelReport& report, const KernelImage& image,
               const analysis::SampledLine& line) {
  Json json = Json::object();
  json.set("file", line.file.empty() ? Json() : Json(line.file));
  json.set("line", line.line > 0 ? Json(line.line) : Json());
  const std::string* source = source_line(report.sources, line.file, line.line);
  json.set("source", source != nullptr ? Json(*source) : Json());
  set_samples(json, line);
  Json offsets = Json::array();
  for (const uint32_t i : line.instructions) offsets.push(image.code->instructions[i].offset);
  return json.set("instructions", std::move(offsets));
}

void write_image(JsonWriter& json, const KernelReport& report, const KernelImage& image,
                 bool with_source) {
  json.begin_object();
  json.set("module", std::to_string(image.module->id)).set("hash", image.code->module);
  json.set("state", image.module->state);
  json.set("architecture",
           image.module->architecture.empty() ? Json() : Json(image.module->architecture));
  json.set("ambiguous", image.is_ambiguous);
  json.set("resources", resources_json(image.code->resources));
  json.set("samples", image.sampled.samples);
  json.set("samples_unlocated", image.sampled.unlocated);
  json.set("counts", counts_json(image.counted.total));
  write_list(json, "counted_lines", image.counted.lines, [](const analysis::CountedLine& line) {
    Json item = Json::object();
    item.set("file", line.file.empty() ? Json() : Json(line.file));
    item.set("line", line.line > 0 ? Json(line.line) : Json());
    return item.set("counts", counts_json(line));
  });
  write_list(json, "lines", image.sampled.lines,
             [&](const analysis::SampledLine& line) { return line_json(report, image, line); });
  json.begin_array("instructions");
  for (size_t i = 0; i < image.code->instructions.size(); ++i) {
    json.push(instruction_json(image, i));
  }
  json.end();
  if (with_source && image.ptx != nullptr) write_list(json, "ptx", *image.ptx);
  json.end();
}

}  // namespace

std::string json_kernel_report(const KernelReport& report, bool with_source) {
  std::string text;
  JsonWriter json(text);
  json.begin_object();
  json.set("format", "gpufl-report").set("version", kJsonReportVersion).set("kind", "kernel");
  json.set("session", session_json(report.summary));
  if (report.passes != nullptr) json.set("passes", passes_json(*report.passes));
  json.set("name", report.name).set("function", report.function);
  json.set("launches", report.launches).set("time_ns", report.time_ns);
  json.set("coverage", coverage_json(report.coverage));
  json.set("callers", callers_json(report.callers));
  json.set("samples", report.samples.samples).set("stalls", stalls_json(report.samples));
  json.set("samples_without_code", report.samples_without_code);
  json.set("counts", counts_json(report.counts));
  write_list(json, "missing", report.missing, [](const auto& missing) {
    Json item = Json::object();
    item.set("what", missing.first).set("reason", missing.second.reason);
    return item.set("remedy", missing.second.remedy);
  });
  json.begin_array("images");
  for (const KernelImage& image : report.images) write_image(json, report, image, with_source);
  json.end();
  write_list(json, "origins", report.origins, [](const disassembly::CompiledOrigin& origin) {
    Json item = Json::object();
    item.set("file", origin.file).set("operators", origin.operators).set("nodes", origin.nodes);
    return item.set("places", json_array(origin.places, [](const disassembly::OriginPlace& place) {
                      Json at = Json::object();
                      at.set("file", place.file).set("line", place.line);
                      return at.set("code", place.code);
                    }));
  });
  if (with_source) {
    write_list(json, "sources", report.sources,
               [](const symbols::SourceText& source) { return symbols::to_json(source); });
  }
  json.end();
  text += '\n';
  return text;
}

}  // namespace gpufl::report
