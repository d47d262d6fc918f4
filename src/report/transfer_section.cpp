// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/text_sections.hpp"
#include "text/units.hpp"

namespace gpufl::report {
namespace {

using analysis::TransferGroup;

std::string overlap_text(const TransferGroup& group) {
  if (group.duration_ns.total <= 0) return "-";
  return text::percent(static_cast<double>(group.overlapped_ns) /
                       static_cast<double>(group.duration_ns.total));
}

std::vector<std::string> transfer_row(std::string label, const TransferGroup& group) {
  return {std::move(label),
          text::count(group.duration_ns.count),
          copied_text(group.bytes.total, group.bytes.count, group.duration_ns.count),
          duration_text(group.duration_ns.total),
          group.bytes_per_second > 0 ? text::bytes(group.bytes_per_second) + "/s" : "-",
          group.bytes.count > 0 ? text::bytes(group.bytes.mean) : "-",
          overlap_text(group)};
}

}  // namespace

std::string copies_text(const TransferGroup& copies) {
  return fmt::format("{} in {}, {}, {} of it while kernels ran",
                     copied_text(copies.bytes.total, copies.bytes.count, copies.duration_ns.count),
                     text::plural(copies.duration_ns.count, "copy"),
                     duration_text(copies.duration_ns.total),
                     copies.overlapped_ns == 0 ? "none" : overlap_text(copies));
}

void write_transfers(Page& page, const SessionReport& report, size_t top, MissingFigures& missing) {
  const analysis::TransferFigures& transfers = report.overview.transfers;
  const bool has_copies = transfers.copies && transfers.copies->all.duration_ns.count > 0;
  const bool has_fills = transfers.fills && transfers.fills->duration_ns.count > 0;
  if (!transfers.copies) missing.add("memory transfers", transfers.copies.unknown());
  if (!has_copies && !has_fills) return;
  std::string remark;
  if (has_copies) remark = copies_text(transfers.copies->all);
  page.heading("MEMORY TRANSFERS", remark);
  TextTable table{{{"direction and memory", true},
                   {"count"},
                   {"bytes"},
                   {"time"},
                   {"rate"},
                   {"mean size", false, 1},
                   {"overlapped", false, 2}}};
  if (has_copies) {
    for (const TransferGroup& group : transfers.copies->by_memory) {
      if (table.rows.size() == top) break;
      table.rows.push_back(transfer_row(group.label, group));
    }
  }
  const size_t shown = table.rows.size();
  if (has_fills) table.rows.push_back(transfer_row("memset", *transfers.fills));
  table.min_flexible = 36;
  table.drop_empty_columns();
  page.table(table);
  if (has_copies) write_more(page, transfers.copies->by_memory.size(), shown);
}

void write_memory(Page& page, const SessionReport& report, MissingFigures& missing) {
  const auto& memory = report.overview.memory;
  if (!memory) {
    missing.add("allocations", memory.unknown());
    return;
  }
  if (memory->empty()) return;
  page.heading("MEMORY ALLOCATED");
  TextTable table{{{"gpu", true},
                   {"kind", true},
                   {"peak"},
                   {"at", false, 3},
                   {"at the end"},
                   {"allocations"},
                   {"releases", false, 2},
                   {"allocated, total", false, 1},
                   {"time of calls", false, 4}},
                  {},
                  1};
  for (const analysis::MemoryUsage& usage : *memory) {
    table.rows.push_back({usage.device < 0 ? "?" : std::to_string(usage.device),
                          std::string(analysis::to_string(usage.kind)),
                          bytes_text(usage.peak_bytes), duration_text(usage.peak_ns),
                          bytes_text(usage.end_bytes), text::count(usage.allocations),
                          text::count(usage.releases), bytes_text(usage.allocated_bytes),
                          usage.call_ns ? duration_text(*usage.call_ns) : "-"});
  }
  page.table(table);
}

void write_communication(Page& page, const SessionReport& report) {
  const auto& communication = report.overview.communication;
  if (!communication || communication->empty()) return;
  page.heading("COMMUNICATION");
  TextTable table{{{"gpu", true},
                   {"kernels"},
                   {"time"},
                   {"behind compute"},
                   {"share hidden"},
                   {"exposed"},
                   {"compute", false, 1}}};
  for (const analysis::Communication& device : *communication) {
    table.rows.push_back({device.device < 0 ? "?" : std::to_string(device.device),
                          text::count(device.kernels), duration_text(device.communication_ns),
                          duration_text(device.overlapped_ns),
                          text::percent(device.overlap_share()), duration_text(device.exposed_ns()),
                          duration_text(device.compute_ns)});
  }
  page.table(table);
}

}  // namespace gpufl::report
