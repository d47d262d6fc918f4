// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <span>

#include <fmt/format.h>

#include "format/capability_words.hpp"
#include "format/vendor_words.hpp"
#include "report/text_sections.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::report {

namespace {

using analysis::SessionSummary;
using base::Json;

void write_field(Page& page, std::string_view label, const std::string& value) {
  if (!value.empty()) page.field(label, value);
}

std::string host_text(const format::SessionHeader& header) {
  std::string text = header.host.empty() ? "unknown" : header.host;
  if (!header.os.empty()) text += ", " + header.os;
  if (!header.container.empty()) text += ", container " + header.container;
  return text;
}

std::string machine_text(const Json& facts) {
  if (!facts.is_object()) return {};
  std::string text = fmt::format("{} cores", facts["core_count"].as_integer());
  if (const Json* model = facts.find("cpu_model")) text += fmt::format(" ({})", model->as_string());
  if (const Json* ram = facts.find("ram_total_bytes")) {
    text += fmt::format(", {} memory", text::bytes(ram->as_number()));
  }
  if (const Json* limit = facts.find("cgroup_cpu_limit_permille")) {
    text += fmt::format(", limited to {:.1f} cores", limit->as_number() / 1000);
  }
  if (const Json* limit = facts.find("cgroup_memory_limit_bytes")) {
    text += fmt::format(", limited to {}", text::bytes(limit->as_number()));
  }
  return text;
}

std::string rank_text(const format::SessionHeader& header) {
  if (!header.rank) return {};
  std::string text = std::to_string(*header.rank);
  if (header.world_size) text += fmt::format(" of {}", *header.world_size);
  if (header.local_rank) text += fmt::format(" (local {})", *header.local_rank);
  return text;
}

// Its text, and every field that has no column of its own: "off the bus (code 79)".
std::string event_text(const Json& event) {
  std::string fields;
  for (const auto& [name, value] : event.members()) {
    if (name == "type" || name == "time" || name == "name" || name == "device" || name == "text") {
      continue;
    }
    fields += fmt::format("{}{} {}", fields.empty() ? "" : ", ", name,
                          value.is_string() ? value.as_string() : value.dump());
  }
  const std::string& text = event["text"].as_string();
  if (fields.empty()) return text;
  return text.empty() ? fields : fmt::format("{} ({})", text, fields);
}

// "backend nvidia"; "backends nvidia (Trace), amd (Monitor)".
std::string backends_text(const format::SessionHeader& header) {
  if (header.backends.size() < 2) return "backend " + header.backend;
  std::string text = "backends";
  for (const format::SessionBackend& one : header.backends) {
    if (one.name.empty()) continue;
    text += fmt::format("{} {} ({})", text.ends_with(')') ? "," : "", one.name, one.engine);
  }
  return text;
}

// What code has to be compiled for: "9.0" of a GPU that has a compute capability.
std::string compute_text(const Json& device) {
  if (device["compute_major"].is_integer() && device["compute_minor"].is_integer()) {
    return fmt::format("{}.{}", device["compute_major"].as_integer(),
                       device["compute_minor"].as_integer());
  }
  const std::string& architecture = device["architecture"].as_string();
  return architecture.empty() ? "unknown" : architecture;
}

// "NVIDIA H200", "8 x NVIDIA H200", "2 GPUs"; empty: none is known.
std::string gpus_text(const SessionSummary& summary) {
  const std::vector<Json>& devices = summary.devices;
  if (devices.empty()) return {};
  const std::string& name = devices.front()["name"].as_string();
  const bool is_alike = std::all_of(devices.begin(), devices.end(), [&](const Json& device) {
    return device["name"].as_string() == name;
  });
  if (name.empty() || !is_alike) return text::plural(devices.size(), "GPU");
  return devices.size() == 1 ? name : fmt::format("{} x {}", devices.size(), name);
}

const analysis::Capability* origin_of(const SessionSummary& summary) {
  const auto found =
      std::find_if(summary.capabilities.begin(), summary.capabilities.end(),
                   [](const auto& note) { return note.reason == "imported" && note.got != "off"; });
  return found == summary.capabilities.end() ? nullptr : &*found;
}

std::string note_text(const analysis::Capability& note, bool has_several_backends) {
  return fmt::format(
      "{}{}: {}{}", format::feature_words(note),
      has_several_backends && !note.backend.empty() ? fmt::format(" of {}", note.backend)
                                                    : std::string(),
      format::outcome_words(note),
      note.detail.empty() && !note.reason.empty() ? fmt::format(" ({})", note.reason) : "");
}

// How many notes of a kind a head of as many lines has; 0: of any number of lines.
size_t shown_notes(size_t lines) { return lines == 0 ? 2 : 1; }

// The first few, a paragraph for each; of a head with few lines the first, and how many there are:
// "! 3 options not used as given (--full lists all): ...".
void write_some(Page& page, std::span<const std::string> notes, std::string_view what_one_is,
                std::string_view what_all_are, size_t lines) {
  const size_t shown = std::min(shown_notes(lines), notes.size());
  const bool is_folded = lines > 0 && notes.size() > shown;
  std::string before = what_one_is.empty() ? "! " : fmt::format("! {}: ", what_one_is);
  if (is_folded) before = fmt::format("! {} {} (--full lists all): ", notes.size(), what_all_are);
  const size_t limit = page.limit_paragraphs(lines);
  for (const std::string& note : notes.first(shown)) {
    page.paragraph(2, before + note, Tone::Warning, 4);
  }
  page.limit_paragraphs(limit);
  if (!is_folded) write_more(page, notes.size(), shown);
}

}  // namespace

std::vector<analysis::Capability> refused_capabilities(const SessionSummary& summary) {
  const bool is_imported = origin_of(summary) != nullptr;
  std::vector<analysis::Capability> notes;
  for (const analysis::Capability& note : summary.capabilities) {
    if (!note.is_as_asked() && (!is_imported || note.reason == "truncated")) notes.push_back(note);
  }
  return notes;
}

void add_missing_of_import(const SessionSummary& summary, MissingFigures& missing) {
  const analysis::Capability* origin = origin_of(summary);
  if (origin == nullptr) return;
  for (const analysis::Capability& note : summary.capabilities) {
    if (&note == origin || note.is_as_asked() || note.reason == "truncated") continue;
    missing.add(note.feature, {note.detail.empty() ? note.reason : note.detail, note.hint});
  }
}

void write_capabilities(Page& page, std::span<const analysis::Capability> notes,
                        bool has_several_backends) {
  for (const analysis::Capability& note : notes) {
    page.paragraph(2, "! " + note_text(note, has_several_backends), Tone::Warning, 2);
    if (!note.detail.empty()) page.paragraph(4, note.detail);
    if (!note.hint.empty()) page.paragraph(4, "-> " + note.hint, Tone::Plain, 3);
  }
}

std::string lived_text(const SessionSummary& summary, std::string_view at_least) {
  std::string text = duration_text(summary.duration_ns);
  if (summary.ended) return text;
  return summary.duration_ns == 0 ? "unknown" : fmt::format("{} {}", at_least, text);
}

std::string process_text(const format::SessionHeader& header) {
  const std::string name = header.process.empty() ? "unknown" : header.process;
  return header.pid > 0 ? fmt::format("{} (pid {})", name, header.pid) : name;
}

bool is_told_in_title(const SessionSummary& summary, const analysis::Unknown& why, size_t lines) {
  const std::vector<analysis::Capability> notes = refused_capabilities(summary);
  const auto shown = std::span(notes).first(std::min(shown_notes(lines), notes.size()));
  return std::any_of(shown.begin(), shown.end(), [&](const analysis::Capability& note) {
    return !note.detail.empty() && why.reason.ends_with(note.detail) && why.remedy == note.hint;
  });
}

std::vector<std::string> option_warnings(const SessionSummary& summary) {
  std::vector<std::string> lines;
  for (const Json& event : summary.events) {
    if (event["name"].as_string() == "option_warning") lines.push_back(event["text"].as_string());
  }
  return lines;
}

void write_option_warnings(Page& page, std::span<const std::string> lines) {
  for (const std::string& line : lines) {
    page.paragraph(2, "! option not used as given: " + line, Tone::Warning, 4);
  }
}

void write_notes_briefly(Page& page, std::span<const std::string> warnings,
                         std::span<const analysis::Capability> notes, bool has_several_backends,
                         size_t lines) {
  std::vector<std::string> refused;
  for (const analysis::Capability& note : notes) {
    std::string& text = refused.emplace_back(note_text(note, has_several_backends));
    if (!note.detail.empty()) text += ": " + note.detail;
    if (!note.hint.empty()) text += " -> " + note.hint;
  }
  const size_t for_refused = warnings.empty() ? lines : lines / 2;
  write_some(page, warnings, "option not used as given", "options not used as given",
             refused.empty() ? lines : lines - for_refused);
  write_some(page, refused, "", "features not as asked for", for_refused);
}

void write_title(Page& page, const SessionSummary& summary) {
  const auto notes = refused_capabilities(summary);
  const auto warnings = option_warnings(summary);
  if (!page.has_title()) {
    page.heading("GPUFlight report", summary.header.app_name, Tone::Strong);
  } else if (!notes.empty() || !warnings.empty()) {
    page.heading("NOT AS ASKED");
  }
  write_option_warnings(page, warnings);
  write_capabilities(page, notes, summary.header.backends.size() > 1);
}

void write_title_briefly(Page& page, const SessionSummary& summary, const std::string& chosen,
                         size_t lines) {
  constexpr size_t kMaxName = 40;  // columns
  const format::SessionHeader& header = summary.header;
  page.heading("GPUFlight report", header.app_name, Tone::Strong);
  const std::string gpus = gpus_text(summary);
  std::string text =
      header.process.empty() ? "" : text::fit(text::make_harmless(process_text(header)), kMaxName);
  if (header.rank) text += fmt::format("{}rank {}", text.empty() ? "" : ", ", rank_text(header));
  const std::string place =
      text::fit(text::make_harmless(gpus.empty() ? header.host : gpus), kMaxName);
  if (!place.empty()) text += fmt::format("{}on {}", text.empty() ? "" : " ", place);
  text += fmt::format("{}{}", text.empty() ? "" : ": ", lived_text(summary));
  if (summary.live) {
    text += ", still recording";
  } else if (!summary.ended) {
    text += ", then cut off";
  }
  if (const analysis::Capability* origin = origin_of(summary)) {
    text += fmt::format(", {} ({})", origin->detail, origin->got);
  } else {
    text += fmt::format(", engine {}, {}", header.engine, text::utc(header.start_wall_ns));
  }
  constexpr size_t kForTitle = 2, kForChosen = 1;
  const auto write = [&](std::string_view paragraph, Tone tone, size_t most) {
    const size_t limit = page.limit_paragraphs(lines == 0 ? 0 : most);
    page.paragraph(2, paragraph, tone, 2);
    page.limit_paragraphs(limit);
    if (lines > 0) lines -= std::min(lines - 1, most);
  };
  write(text, Tone::Plain, kForTitle);
  if (!chosen.empty()) write("only: " + chosen, Tone::Strong, kForChosen);
  write_notes_briefly(page, option_warnings(summary), refused_capabilities(summary),
                      header.backends.size() > 1, lines);
}

void write_session(Page& page, const SessionSummary& summary) {
  const format::SessionHeader& header = summary.header;
  page.heading("SESSION");
  page.field("id", header.session_id);
  write_field(page, "run", header.run_id);
  write_field(page, "rank", rank_text(header));
  if (analysis::is_pass(header)) {
    page.field("pass", fmt::format("{} of {}, asked for {}", *header.pass, header.passes.size(),
                                   header.passes[static_cast<size_t>(*header.pass - 1)]));
  }
  page.field("process", process_text(header));
  write_field(page, "command", header.command);
  page.field("host", host_text(header));
  write_field(page, "machine", machine_text(summary.host_facts));
  if (const analysis::Capability* origin = origin_of(summary)) {
    page.field("recorded by", fmt::format("{}; {}", origin->got, origin->detail));
  }
  page.field("engine", fmt::format("{}, {}, gpufl {}", header.engine, backends_text(header),
                                   header.gpufl_version));
  page.field("started", text::utc(header.start_wall_ns));
  page.field("duration", lived_text(summary));
  if (summary.ended) {
    page.field("ended", "cleanly");
  } else if (summary.live) {
    page.field("ended", "not yet: still recording");
  } else {
    page.field("ended",
               fmt::format("cut off: {}; everything up to a quarter of a second before was kept",
                           format::kUnclosed),
               Tone::Warning);
  }
  page.field("log", summary.dir.string());
}

void write_devices(Page& page, const SessionSummary& summary) {
  if (summary.devices.empty()) return;
  page.heading("DEVICES");
  const auto words = format::words_of_vendor(summary.devices.front()["vendor"].as_string());
  TextTable table{{{"gpu", true},
                   {"name", true},
                   {"memory"},
                   {std::string(words.compute_units)},
                   {"compute", false, 1},
                   {"driver", true, 2},
                   {"pci bus", true, 3},
                   {"uuid", true, 4}},
                  {},
                  1};
  const auto text_or_unknown = [](const Json& value) {
    return value.as_string().empty() ? std::string("unknown") : value.as_string();
  };
  for (const Json& device : summary.devices) {
    std::string gpu = std::to_string(device["device"].as_integer());
    if (const Json* parent = device.find("parent")) {
      gpu += fmt::format(" (MIG of {})", parent->as_integer());
    }
    const Json* memory = device.find("memory_bytes");
    const Json* units = device.find("compute_units");
    table.rows.push_back(
        {std::move(gpu), text_or_unknown(device["name"]),
         memory != nullptr ? text::bytes(memory->as_number()) : "unknown",
         units != nullptr && units->is_integer() ? std::to_string(units->as_integer()) : "unknown",
         compute_text(device), text_or_unknown(device["driver"]),
         text_or_unknown(device["pci_bus"]), text_or_unknown(device["uuid"])});
  }
  table.drop_empty_columns();
  page.table(table);
}

void write_events(Page& page, const SessionSummary& summary, size_t top) {
  if (summary.event_counts.empty()) return;
  page.heading("EVENTS");
  std::string counts;
  uint64_t total = 0;
  for (const auto& [name, count] : summary.event_counts) {
    counts += fmt::format("{}{} {}", counts.empty() ? "" : ", ", name, text::count(count));
    total += count;
  }
  if (total > std::min<uint64_t>(top, summary.events.size())) page.paragraph(2, counts);
  TextTable table{{{"time"}, {"event", true}, {"gpu"}, {"text", true}}, {}, 3};
  for (const Json& event : summary.events) {
    if (table.rows.size() == top) break;
    const Json* device = event.find("device");
    table.rows.push_back({text::duration(event["time"].as_number()), event["name"].as_string(),
                          device != nullptr ? std::to_string(device->as_integer()) : "-",
                          event_text(event)});
  }
  page.table(table);
  write_more(page, total, table.rows.size());
}

void write_problems(Page& page, const SessionSummary& summary, size_t top) {
  if (summary.problem_count == 0) return;
  page.heading("PROBLEMS FOUND WHILE READING", text::count(summary.problem_count), Tone::Warning);
  size_t shown = 0;
  for (const format::Problem& problem : summary.problems) {
    if (shown == top) break;
    ++shown;
    const std::string where =
        problem.line == 0 ? problem.file : fmt::format("{}:{}", problem.file, problem.line);
    page.paragraph(2,
                   fmt::format("{}: {}: {}", where, format::to_string(problem.kind), problem.text),
                   Tone::Plain, 2);
  }
  write_more(page, summary.problem_count, shown);
}

}  // namespace gpufl::report
