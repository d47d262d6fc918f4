// SPDX-License-Identifier: Apache-2.0
#include "report/kernel_report.hpp"

#include <algorithm>
#include <numeric>
#include <string_view>

#include <fmt/format.h>

#include "analysis/code/stall_reasons.hpp"
#include "report/text_sections.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::SampleCount;
using analysis::SampledLine;
using disassembly::Instruction;
using disassembly::KernelCode;

constexpr size_t kShownCallers = 5;  // of a kind
constexpr size_t kShownStalls = 2;
constexpr size_t kLeastInstructionWidth = 28;
constexpr int64_t kContextLines = 2;       // of source, before and after
constexpr size_t kShownInstructions = 16;  // beside one line of source

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

std::string share_of(uint64_t samples, uint64_t all) {
  if (all == 0 || samples == 0) return "";
  return text::percent(static_cast<double>(samples) / static_cast<double>(all));
}

std::string samples_text(const SampleCount& count) {
  return count.samples == 0 ? "" : text::count(count.samples);
}

std::string offset_text(uint32_t offset) { return fmt::format("{:04x}", offset); }

std::string resources_text(const disassembly::Resources& resources) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (resources.registers) {
    add(text::plural(static_cast<uint64_t>(*resources.registers), "register"));
  }
  if (resources.shared_bytes.value_or(0) > 0) {
    add(bytes_text(*resources.shared_bytes) + " shared memory");
  }
  if (resources.stack_bytes.value_or(0) > 0) add(bytes_text(*resources.stack_bytes) + " stack");
  if (resources.local_bytes.value_or(0) > 0) {
    add(bytes_text(*resources.local_bytes) + " local memory");
  }
  return text;
}

// The reasons for which warps waited, most samples first; warps that issue are not stalled.
std::vector<std::pair<uint64_t, std::string_view>> waits_of(const SampleCount& count) {
  std::vector<std::pair<uint64_t, std::string_view>> stalls;
  for (const auto& [reason, stall] : count.stalls) {
    if (stall.samples > 0 && analysis::stall_reason(reason).is_wait) {
      stalls.emplace_back(stall.samples, reason);
    }
  }
  std::stable_sort(stalls.begin(), stalls.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  return stalls;
}

void write_head(Page& page, const KernelReport& report) {
  page.heading("KERNEL", report.name);
  if (report.passes != nullptr) page.field("passes", sources_text(*report.passes));
  if (report.launches > 0) {
    page.field("launches", fmt::format("{}, {} on the GPU", text::count(report.launches),
                                       text::duration(report.time_ns)));
  }
  if (report.coverage.is_budgeted) {
    page.field("traced in", analysis::phases_text(report.coverage.phases, report.coverage.share()) +
                                ": totals are those of the phases");
  }
  if (report.samples.samples > 0) {
    page.field("samples", fmt::format("{}: {}", text::count(report.samples.samples),
                                      stalls_text(report.samples, 4)));
  }
  if (!report.counts.empty()) page.field("counted", counts_text(report.counts));
  if (report.samples_without_code > 0) {
    page.field("without code",
               fmt::format("{} of the samples",
                           share_of(report.samples_without_code, report.samples.samples)),
               Tone::Warning);
  }
}

// Groups of nothing but "(no module)" say nothing.
bool tells(const analysis::Figure<analysis::Callers<analysis::KernelGroup>>& callers) {
  return callers && std::any_of(callers->entries.begin(), callers->entries.end(),
                                [](const analysis::KernelGroup& group) { return !group.is_rest; });
}

void write_callers(Page& page, const analysis::KernelCallers& callers, size_t top) {
  TextTable table{{{"by", true}, {"launched from", true}, {"launches"}, {"total"}, {"share"}}};
  table.flexible = 1;
  size_t all = 0;
  const auto add = [&](const char* what, const auto& figure) {
    if (!tells(figure)) return;
    all += figure->entries.size() + figure->more;
    const size_t shown = std::min({top, kShownCallers, figure->entries.size()});
    for (size_t i = 0; i < shown; ++i) {
      const analysis::KernelGroup& group = figure->entries[i];
      table.rows.push_back({i == 0 ? what : "", group.label, text::count(group.duration_ns.count),
                            duration_text(group.duration_ns.total), text::percent(group.share)});
    }
  };
  add("operator", callers.by_op);
  add("module", callers.by_module);
  add("line", callers.by_line);
  add("scope", callers.by_scope);
  if (table.rows.empty()) return;
  page.heading("LAUNCHED FROM");
  page.table(table);
  write_more(page, all, table.rows.size());
}

// Of a kernel that torch.compile wrote.
void write_origin(Page& page, const disassembly::CompiledOrigin& origin,
                  const std::vector<std::string>& files) {
  if (std::find(files.begin(), files.end(), origin.file) == files.end()) return;
  std::string text = origin.operators;
  if (!origin.nodes.empty()) text += fmt::format(" (nodes {})", origin.nodes);
  if (!text.empty()) page.field("compiled from", text);
  for (const disassembly::OriginPlace& place : origin.places) {
    page.field("at", fmt::format("{}:{}{}{}", place.file, place.line,
                                 place.code.empty() ? "" : ": ", place.code));
  }
}

void write_image(Page& page, const KernelReport& report, const KernelImage& image) {
  const size_t images = report.images.size();
  std::string code =
      fmt::format("{}, image {}", text::plural(image.code->instructions.size(), "instruction"),
                  image.code->module);
  if (!image.module->architecture.empty()) code += " for " + image.module->architecture;
  page.field(images > 1 ? "one image" : "code", code);
  for (const auto& origin : report.origins) write_origin(page, origin, image.code->files);
  const std::string resources = resources_text(image.code->resources);
  if (!resources.empty()) page.field("needs", resources);
  if (images > 1 && image.sampled.samples > 0) {
    page.field("its samples", text::count(image.sampled.samples));
  }
  if (image.is_ambiguous) {
    page.paragraph(2,
                   "Samples name an image by its checksum, and another image of this session has "
                   "the same one: these may be its samples.",
                   Tone::Warning);
  }
}

// Lines that are shown: those with samples; without any, in the order of the source.
std::vector<const SampledLine*> shown_lines(const KernelImage& image) {
  std::vector<const SampledLine*> lines;
  for (const SampledLine& line : image.sampled.lines) {
    const bool is_shown = image.sampled.samples > 0 ? line.samples > 0 : !line.file.empty();
    if (is_shown) lines.push_back(&line);
  }
  return lines;
}

void write_lines(Page& page, const KernelReport& report, const KernelImage& image, size_t top) {
  if (image.sampled.samples == 0) return;
  const auto lines = shown_lines(image);
  TextTable table{{{"line", true},
                   {"samples", false, 2},
                   {"share"},
                   {"stalled by", true, 1},
                   {"source", true, 3}}};
  table.flexible = 4;
  table.min_flexible = 12;
  const size_t shown = std::min(top, lines.size());
  for (size_t i = 0; i < shown; ++i) {
    const SampledLine& line = *lines[i];
    const std::string* source = source_line(report.sources, line.file, line.line);
    const size_t begin = source != nullptr ? source->find_first_not_of(" \t") : std::string::npos;
    table.rows.push_back({line_text(line.file, line.line), samples_text(line),
                          share_of(line.samples, image.sampled.samples),
                          stalls_text(line, kShownStalls),
                          begin != std::string::npos ? source->substr(begin) : ""});
  }
  table.drop_empty_columns();
  page.heading("HOTTEST LINES");
  page.table(table);
  write_more(page, lines.size(), shown);
}

// Of instructions with samples, the most first.
std::vector<uint32_t> hottest(const KernelImage& image) {
  std::vector<uint32_t> order(image.code->instructions.size());
  std::iota(order.begin(), order.end(), 0U);
  std::erase_if(order, [&](uint32_t i) { return image.sampled.instructions[i].samples == 0; });
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return image.sampled.instructions[a].samples > image.sampled.instructions[b].samples;
  });
  return order;
}

std::string instruction_line(const KernelCode& code, const Instruction& instruction) {
  if (instruction.chain >= code.chains.size()) return "";
  const auto& place = analysis::shown_place(code, code.chains[instruction.chain]);
  return line_text(code.files[place.file], place.line);
}

void write_instructions(Page& page, const KernelImage& image, size_t top) {
  const std::vector<uint32_t> order = hottest(image);
  if (order.empty()) return;
  TextTable table{{{"at", true},
                   {"instruction", true},
                   {"line", true, 2},
                   {"samples", false, 3},
                   {"share"},
                   {"stalled by", true, 1}}};
  table.flexible = 1;
  const size_t shown = std::min(top, order.size());
  for (size_t i = 0; i < shown; ++i) {
    const Instruction& instruction = image.code->instructions[order[i]];
    const SampleCount& count = image.sampled.instructions[order[i]];
    table.rows.push_back({offset_text(instruction.offset), instruction.text,
                          instruction_line(*image.code, instruction), samples_text(count),
                          share_of(count.samples, image.sampled.samples),
                          stalls_text(count, kShownStalls)});
  }
  page.heading("HOTTEST INSTRUCTIONS");
  page.table(table);
  write_more(page, order.size(), shown);
}

// The instructions of a line that have room beside it, in order: those with the most samples.
std::vector<uint32_t> beside(const KernelImage& image, const SampledLine& line) {
  std::vector<uint32_t> chosen = line.instructions;
  std::stable_sort(chosen.begin(), chosen.end(), [&](uint32_t a, uint32_t b) {
    return image.sampled.instructions[a].samples > image.sampled.instructions[b].samples;
  });
  if (chosen.size() > kShownInstructions) chosen.resize(kShownInstructions);
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

// "> 14  y[i] = a * x[i];" and the lines around it, without what all are indented by; empty where
// they were not kept.
std::vector<std::string> context_of(const KernelReport& report, const SampledLine& line) {
  std::vector<std::pair<int64_t, const std::string*>> kept;
  const int64_t at = line.line;
  size_t indent = std::string::npos;
  for (int64_t number = std::max<int64_t>(at - kContextLines, 1); number <= at + kContextLines;
       ++number) {
    const std::string* source = source_line(report.sources, line.file, number);
    if (source == nullptr) continue;
    kept.emplace_back(number, source);
    indent = std::min(indent, source->find_first_not_of(" \t"));
  }
  std::vector<std::string> lines;
  for (const auto& [number, source] : kept) {
    lines.push_back(fmt::format("{}{:>4} {}", number == at ? '>' : ' ', number,
                                source->substr(std::min(indent, source->size()))));
  }
  return lines;
}

void write_beside(Page& page, const KernelReport& report, const KernelImage& image,
                  const SampledLine& line, size_t width) {
  std::string title = line.file.empty() ? std::string("instructions without a line")
                                        : fmt::format("{}:{}", line.file, line.line);
  if (line.samples > 0) {
    title += fmt::format(": {}, {}", share_of(line.samples, image.sampled.samples),
                         stalls_text(line, 4));
  }
  page.paragraph(0, "");
  page.paragraph(0, title, Tone::Strong);
  const std::vector<std::string> source = context_of(report, line);
  const std::vector<uint32_t> instructions = beside(image, line);
  const size_t instruction_width = std::max(kLeastInstructionWidth, (width - 30) / 2);
  TextTable table{{{"source", true, 1},
                   {"at", true},
                   {"instruction", true},
                   {"share"},
                   {"stall", true, 2},
                   {"executed", false, 3},
                   {"threads", false, 3}}};
  for (size_t row = 0; row < std::max(source.size(), instructions.size()); ++row) {
    std::vector<std::string> cells(table.columns.size());
    if (row < source.size()) cells[0] = source[row];
    if (row < instructions.size()) {
      const Instruction& instruction = image.code->instructions[instructions[row]];
      const SampleCount& count = image.sampled.instructions[instructions[row]];
      cells[1] = offset_text(instruction.offset);
      cells[2] = text::fit(instruction.text, instruction_width);
      cells[3] = share_of(count.samples, image.sampled.samples);
      if (const auto waits = waits_of(count); !waits.empty()) cells[4] = waits.front().second;
      if (!image.counted.instructions.empty()) {
        const analysis::InstructionCounts& counted = image.counted.instructions[instructions[row]];
        if (counted.warps > 0) cells[5] = text::count(counted.warps);
        if (const auto active = counted.active_threads()) cells[6] = fmt::format("{:.1f}", *active);
      }
    }
    table.rows.push_back(std::move(cells));
  }
  table.drop_empty_columns();
  page.table(table);
  write_more(page, line.instructions.size(), instructions.size());
}

void write_source(Page& page, const KernelReport& report, const KernelImage& image,
                  const TextOptions& options) {
  const size_t top = rows_of(options);
  const auto lines = shown_lines(image);
  if (lines.empty()) return;
  page.heading("SOURCE AND INSTRUCTIONS",
               image.sampled.samples > 0 ? "hottest first" : "no samples: in source order");
  std::vector<std::string> newer;
  for (const symbols::SourceText& source : report.sources) {
    if (source.is_newer && std::find(newer.begin(), newer.end(), source.path) == newer.end()) {
      newer.push_back(source.path);
      page.paragraph(2,
                     source.path +
                         " was changed after the recording began: these may not be "
                         "the lines that ran.",
                     Tone::Warning);
    }
  }
  const size_t shown = std::min(top, lines.size());
  for (size_t i = 0; i < shown; ++i) {
    write_beside(page, report, image, *lines[i], width_of(options));
  }
  write_more(page, lines.size(), shown);
}

}  // namespace

std::string line_text(const std::string& file, uint32_t line) {
  return file.empty() ? "(no line)" : fmt::format("{}:{}", file_name(file), line);
}

std::string stalls_text(const SampleCount& count, size_t most) {
  const auto stalls = waits_of(count);
  std::string text;
  for (size_t i = 0; i < std::min(most, stalls.size()); ++i) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", stalls[i].second,
                        share_of(stalls[i].first, count.samples));
  }
  return text;
}

const std::string* source_line(std::span<const symbols::SourceText> sources,
                               const std::string& file, int64_t line) {
  for (const symbols::SourceText& source : sources) {
    const int64_t at = line - source.first_line;
    if (source.path != file || at < 0) continue;
    if (at < static_cast<int64_t>(source.lines.size())) {
      return &source.lines[static_cast<size_t>(at)];
    }
  }
  return nullptr;
}

void write_kernel(Page& page, const KernelReport& report, const TextOptions& options,
                  bool with_source) {
  const size_t top = rows_of(options);
  write_head(page, report);
  write_callers(page, report.callers, top);
  for (const KernelImage& image : report.images) {
    write_image(page, report, image);
    write_lines(page, report, image, top);
    write_instructions(page, image, top);
    write_counts(page, report, image, top);
    if (with_source) write_source(page, report, image, options);
  }
  MissingFigures missing;
  for (const auto& [what, unknown] : report.missing) missing.add(what, unknown);
  missing.write(page);
}

}  // namespace gpufl::report
