// SPDX-License-Identifier: Apache-2.0
#include "cli/verify_command.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/sessions_command.hpp"
#include "format/verify.hpp"
#include "report/text_sections.hpp"
#include "text/display.hpp"
#include "text/units.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::cli {
namespace {

using format::Ledger;
using format::Verdict;
using format::VerifyResult;

constexpr size_t kShownProblems = 10;

int exit_code_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::Complete:
    case Verdict::Live: return kExitGood;
    case Verdict::NotProven:
    case Verdict::Losses: return kExitNo;
    case Verdict::Unreadable: return kExitCannotTell;
  }
  return kExitCannotTell;
}

std::string counts_text(const std::map<std::string, uint64_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts) {
    if (!text.empty()) text += ", ";
    text += fmt::format("{} {}", name, count);
  }
  return text.empty() ? "none" : text;
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(out), "  {:<12}{}\n", name, text::make_harmless(value));
}

std::string known(const std::optional<uint64_t>& value) {
  return value ? std::to_string(*value) : "unknown";
}

void append_ledger(std::string& out, const Ledger& ledger) {
  const auto count = [&](std::string_view name, uint64_t value) {
    return ledger.knows(name) ? std::to_string(value) : "unknown";
  };
  append_field(out, "ledger",
               fmt::format("launches seen {}, kernel records {}, missing {}, of graphs {}; dropped "
                           "by the vendor {}, impossible times {}",
                           known(ledger.launches_seen), known(ledger.kernel_records),
                           known(ledger.launches_missing), known(ledger.graph_kernels_missing),
                           known(ledger.vendor_dropped), known(ledger.impossible_times)));
  if (ledger.kernels_overlapping.value_or(0) > 0) {
    append_field(out, "", "kernels: " + report::overlaps_text(ledger));
  }
  append_field(out, "",
               fmt::format("scopes dropped {}, unclosed {}; samples taken {}, missed {}",
                           count("scopes_dropped", ledger.scopes_dropped),
                           count("scopes_unclosed", ledger.scopes_unclosed),
                           count("samples_taken", ledger.samples_taken),
                           count("samples_missed", ledger.samples_missed)));
  append_field(out, "",
               fmt::format("samplers stuck {}; rounds lost {}; events dropped {}",
                           count("samplers_stuck", ledger.samplers_stuck),
                           count("rounds_lost", ledger.rounds_lost),
                           count("events_dropped", ledger.events_dropped)));
  const uint64_t overflowed =
      ledger.names_overflowed + ledger.counters_overflowed + ledger.writer.dictionary_overflows;
  append_field(out, "",
               fmt::format("names and counters beyond their bounds {}; rows dropped by "
                           "the writer: {}",
                           overflowed, counts_text(ledger.writer.dropped)));
  const std::string collector =
      ledger.knows("collector_cpu_ns")
          ? fmt::format("{:.1f} ms", static_cast<double>(ledger.collector_cpu_ns) / 1e6)
          : "unknown";
  append_field(out, "",
               fmt::format("raw bytes {}; collector time {}",
                           count("raw_bytes", ledger.writer.raw_bytes), collector));
}

void append_symbols(std::string& out, const VerifyResult& result) {
  if (result.named_frames) {
    append_field(out, "symbols",
                 fmt::format("{} of {} named", *result.named_frames,
                             text::plural(result.native_frames, "native frame")));
  } else if (result.native_frames > 0) {
    append_field(out, "symbols",
                 "none; gpufl symbolize looks for the names of " +
                     text::plural(result.native_frames, "native frame"));
  }
}

void append_problems(std::string& out, const VerifyResult& result) {
  if (result.problems.empty()) return;
  append_field(out, "problems", counts_text(result.problems));
  const size_t shown = std::min(result.first_problems.size(), kShownProblems);
  for (size_t i = 0; i < shown; ++i) {
    const format::Problem& problem = result.first_problems[i];
    const std::string line = problem.line > 0 ? fmt::format(":{}", problem.line) : "";
    append_field(
        out, "",
        fmt::format("{}{}: {}: {}", problem.file, line, to_string(problem.kind), problem.text));
  }
  if (result.first_problems.size() > shown) append_field(out, "", "… more with --json");
}

std::string describe(const VerifyResult& result) {
  std::string out = text::make_harmless(result.dir.string()) + "\n";
  if (result.header) {
    const format::SessionHeader& header = *result.header;
    append_field(out, "session", header.session_id);
    append_field(
        out, "of",
        fmt::format("{}, pid {} on {}, engine {}", header.app_name.empty() ? "?" : header.app_name,
                    header.pid, header.host.empty() ? "?" : header.host,
                    header.engine.empty() ? "?" : header.engine));
    append_field(out, "lasted",
                 fmt::format("{}{}{}", result.ended || result.live ? "" : "at least ",
                             text::duration(static_cast<double>(result.last_ns)),
                             result.live ? " so far" : ""));
    const format::WindowCount& windows = result.windows;
    append_field(
        out, "windows",
        fmt::format("{} sealed, {} unsealed, {} live, {} missing, {} deleted", windows.sealed,
                    windows.unsealed, windows.live, windows.missing, windows.deleted));
    append_field(out, "rows", counts_text(result.rows));
    append_symbols(out, result);
    if (result.ledger) {
      append_ledger(out, *result.ledger);
    } else {
      append_field(out, "ledger", "none");
    }
    append_problems(out, result);
  }
  const bool is_cut_off = result.verdict == Verdict::Losses && !result.ended && !result.live;
  append_field(out, "verdict", is_cut_off ? "cut off" : to_string(result.verdict));
  for (const std::string& reason : result.reasons) append_field(out, "", reason);
  if (result.verdict == Verdict::Complete && result.ledger) {
    append_field(out, "", report::no_loss_text(*result.ledger));
  }
  return out;
}

int verify(const std::string& path, bool json) {
  const auto sessions = workbench::session_folders(path);
  if (!sessions) {
    complain("gpufl verify", sessions.status().message());
    return kExitCannotTell;
  }
  int worst = kExitGood;
  base::Json list = base::Json::array();
  for (const auto& session : *sessions) {
    const VerifyResult result = format::verify_session(session);
    worst = std::max(worst, exit_code_of(result.verdict));
    if (json) {
      list.push(result.to_json());
    } else {
      print(describe(result));
    }
  }
  if (json) print(list.dump() + '\n');
  return worst;
}

}  // namespace

void add_verify_command(Command program) {
  add_sessions_command(program, "verify",
                       "Check every window, line, hash, reference and time of sessions", verify)
      .set_footer(
          "Also compares the session lines of all files, and checks symbols.ndjson, the "
          "disassembly and images of code against the log. A session that is being written is "
          "called live.\n"
          "Exit code: 0 complete, or live with nothing missing so far; 1 readable with losses, or "
          "not proven to be complete; 2 a session is unreadable, or there is no session. With "
          "several "
          "sessions, the worst.");
}

}  // namespace gpufl::cli
