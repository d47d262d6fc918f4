// SPDX-License-Identifier: Apache-2.0
#include "report/text_report.hpp"

#include <algorithm>
#include <limits>

#include "report/text_page.hpp"
#include "report/text_sections.hpp"

namespace gpufl::report {

std::string text_report(const analysis::SessionSummary& summary, const TextOptions& options) {
  constexpr size_t kMinWidth = 60;
  const size_t top = options.top == 0 ? std::numeric_limits<size_t>::max() : options.top;
  TextPage page(std::max(options.width, kMinWidth), options.has_color);
  write_session(page, summary);
  write_ledger(page, summary);
  write_pending(page, summary, top);
  write_devices(page, summary);
  write_activity(page, summary);
  write_waits(page, summary, top);
  write_launches(page, summary, top);
  write_scopes(page, summary, top);
  write_markers(page, summary, top);
  write_counters(page, summary, top);
  write_metrics(page, summary);
  write_events(page, summary, top);
  write_problems(page, summary, top);
  write_cost(page, summary);
  return page.text();
}

}  // namespace gpufl::report
