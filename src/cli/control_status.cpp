// SPDX-License-Identifier: Apache-2.0
#include "cli/control_status.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "report/text_page.hpp"
#include "report/text_report.hpp"
#include "symbols/demangle.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

using base::Json;
using text::make_harmless;

std::string count_text(const Json& value) {
  return text::count(static_cast<uint64_t>(std::max<int64_t>(value.as_integer(), 0)));
}

std::string duration_text(const Json& value) {
  return text::duration(static_cast<double>(value.as_integer()));
}

// "kernel 120, memcpy 3"
std::string counts_text(const Json& counts) {
  std::string text;
  for (const auto& [name, count] : counts.members()) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, count_text(count));
  }
  return text.empty() ? "none" : text;
}

void write_tracer(report::TextPage& page, const Json& tracer) {
  page.field("tracer", tracer["detail"].as_string().empty()
                           ? tracer["state"].as_string()
                           : tracer["state"].as_string() + ": " + tracer["detail"].as_string());
  page.field("launches seen", count_text(tracer["launches"]));
  page.field("kernel records", count_text(tracer["kernels"]));
  if (tracer["dropped"].as_integer() > 0) {
    page.field("dropped by the vendor", count_text(tracer["dropped"]), report::Tone::Warning);
  }
}

void write_pending(report::TextPage& page, const Json& tracer) {
  if (tracer["pending_count"].as_integer() == 0) return;
  page.heading("NOT FINISHED", count_text(tracer["pending_count"]));
  for (const Json& call : tracer["pending"].items()) {
    std::string text = call["function"].as_string();
    if (call["kernel"].is_string()) {
      text += " of " + symbols::demangle(call["kernel"].as_string());
    }
    text += fmt::format(", for {}, thread {}", duration_text(call["age_ns"]),
                        call["thread"].as_integer());
    if (call["device"].is_integer()) {
      text += fmt::format(", device {}", call["device"].as_integer());
    }
    if (call["scope_name"].is_string()) {
      text += fmt::format(", in scope \"{}\"", call["scope_name"].as_string());
    }
    page.paragraph(2, text, report::Tone::Plain, 2);
    for (const Json& frame : call["stack"].items()) page.paragraph(4, frame.as_string());
  }
}

// "slow step, opened by control, for 1.2 s of 2 s, 120 launches"
std::string deep_window_text(const Json& window) {
  std::string text = window["name"].as_string();
  text += fmt::format("{}opened by {}", text.empty() ? "" : ", ", window["opened_by"].as_string());
  if (!window["attached"].as_bool()) return text + ", being attached";
  text += fmt::format(", for {} of {}", duration_text(window["for_ns"]),
                      duration_text(window["max_duration_ns"]));
  if (!window["launches"].is_integer()) return text;
  const std::string launches = count_text(window["launches"]);
  const Json& most = window["max_launches"];
  return text + (most.is_integer() ? fmt::format(", {} of {} launches", launches, count_text(most))
                                   : fmt::format(", {} launches", launches));
}

}  // namespace

std::string control_line(const Json& status) {
  return fmt::format("{:>8}  {:<10} {:<20} {}\n", status["pid"].as_integer(),
                     make_harmless(status["state"].as_string()),
                     make_harmless(status["app"].as_string()),
                     make_harmless(status["dir"].as_string()));
}

std::string control_page(const Json& status) {
  report::TextPage page(report::TextOptions{}.width, false);
  page.heading(fmt::format("PROCESS {}", status["pid"].as_integer()), status["app"].as_string());
  page.field("state", status["state"].as_string());
  page.field("session", status["dir"].as_string());
  if (status["engine"].is_string()) {
    page.field("engine", status["engine"].as_string());
    page.field("for", duration_text(status["duration_ns"]));
    page.field("rows written", counts_text(status["rows"]));
    page.field("losses", counts_text(status["losses"]));
  }
  if (status["capture_range"].is_string()) {
    page.field("capture range", status["capture_range"].as_string());
  }
  if (const Json& window = status["deep_window"]; window["open"].as_bool()) {
    page.field("deep window", deep_window_text(window));
  }
  for (const char* trouble : {"collector", "log_paused"}) {
    if (status[trouble].is_string()) {
      page.field(trouble, status[trouble].as_string(), report::Tone::Warning);
    }
  }
  const Json& tracer = status["tracer"];
  if (tracer.is_object()) {
    write_tracer(page, tracer);
    write_pending(page, tracer);
  }
  return page.text();
}

}  // namespace gpufl::cli
