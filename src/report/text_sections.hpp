// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "analysis/summary.hpp"
#include "report/text_page.hpp"

// The parts of a text report, each with its heading; a part with nothing to say writes nothing.
// Called by text_report.cpp and run_report.cpp only.
namespace gpufl::report {

struct Verdict {
  std::string text;  // "word: what it means"
  Tone tone;
};
// What the ledger comes to.
Verdict ledger_verdict(const analysis::SessionSummary& summary);

// Those that are not as asked; no heading.
void write_capabilities(TextPage& page, std::span<const analysis::Capability> notes);

void write_session(TextPage& page, const analysis::SessionSummary& summary);
void write_ledger(TextPage& page, const analysis::SessionSummary& summary);
void write_devices(TextPage& page, const analysis::SessionSummary& summary);
void write_activity(TextPage& page, const analysis::SessionSummary& summary);
void write_pending(TextPage& page, const analysis::SessionSummary& summary, size_t top);
void write_scopes(TextPage& page, const analysis::SessionSummary& summary, size_t top);
void write_waits(TextPage& page, const analysis::SessionSummary& summary, size_t top);
void write_launches(TextPage& page, const analysis::SessionSummary& summary, size_t top);
void write_markers(TextPage& page, const analysis::SessionSummary& summary, size_t top);
void write_counters(TextPage& page, const analysis::SessionSummary& summary, size_t top);
void write_metrics(TextPage& page, const analysis::SessionSummary& summary);
void write_events(TextPage& page, const analysis::SessionSummary& summary, size_t top);
void write_problems(TextPage& page, const analysis::SessionSummary& summary, size_t top);
void write_cost(TextPage& page, const analysis::SessionSummary& summary);

}  // namespace gpufl::report
