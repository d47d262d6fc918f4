// SPDX-License-Identifier: Apache-2.0
#include "cli/sessions_list_command.hpp"

#include <algorithm>
#include <memory>
#include <system_error>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "analysis/summary/summary.hpp"
#include "base/json.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/sessions_command.hpp"
#include "format/batch_codec.hpp"
#include "format/ledger.hpp"
#include "format/seal.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using base::Json;

constexpr const char* kCommand = "gpufl sessions";

uint64_t bytes_below(const fs::path& dir) {
  uint64_t bytes = 0;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(dir, error)) {
    const auto size = entry.file_size(error);
    if (!error) bytes += size;
  }
  return bytes;
}

// None where nobody recorded them, which is not zero: only such sessions are read once more.
std::optional<uint64_t> kernels_of(const format::SessionReader& reader,
                                   const std::map<std::string, uint64_t>& rows) {
  const auto found = rows.find("kernel");
  if (found != rows.end() && found->second > 0) return found->second;
  if (reader.header().engine == "Monitor") return std::nullopt;
  const auto summary = analysis::summarize(reader.dir());
  if (!summary || !analysis::records_gpu_work(*summary)) return std::nullopt;
  return 0;
}

// A file of the session is not there or not as long as it was written, or the manifest, which tells
// of them, cannot be relied on; empty: none of it.
std::string damage_of(const format::SessionReader& reader) {
  using State = format::WindowFile::State;
  for (const format::WindowFile& window : reader.windows()) {
    const auto called = [&](std::string_view what) {
      return fmt::format("window {} of {} {}", window.number, to_string(window.channel), what);
    };
    if (window.state == State::Missing) return called("is missing");
    std::error_code error;
    const auto size = fs::file_size(window.path, error);
    const bool is_sealed = window.state == State::Sealed && window.in_manifest;
    if (is_sealed && (error || size != window.sealed_bytes)) return called("is damaged");
  }
  for (const format::Problem& problem : reader.open_problems()) {
    if (!is_growth(problem)) return fmt::format("{}: {}", problem.file, problem.text);
  }
  return {};
}

// In the words of `gpufl verify`, which reads all of the log to say so.
std::string_view state_of(format::Completeness told) {
  switch (told) {
    case format::Completeness::Complete: return to_string(format::Verdict::Complete);
    case format::Completeness::NotProven: return to_string(format::Verdict::NotProven);
    case format::Completeness::Incomplete: break;
  }
  return to_string(format::Verdict::Losses);
}

// From the ledger and the last line, which end the last window of `system`. False: there is none.
bool read_end(const format::SessionReader& reader, ListedSession& session) {
  const format::WindowFile* last = nullptr;
  for (const format::WindowFile& window : reader.windows()) {
    if (window.channel == format::Channel::System && !window.path.empty()) last = &window;
  }
  if (last == nullptr) return false;
  bool has_ended = false;
  format::read_window(last->path, [&](std::string_view line) {
    const std::string_view type = format::line_type(line);
    if (type != "ledger" && type != "end") return true;
    const auto parsed = Json::parse(line);
    if (!parsed) return true;
    if (type == "ledger") {
      const format::Ledger ledger = format::Ledger::from_json(*parsed);
      session.kernels = kernels_of(reader, ledger.writer.rows);
      session.state = state_of(ledger.completeness());
    } else {
      session.duration_ns = (*parsed)["time"].as_integer();
      has_ended = true;
    }
    return true;
  });
  return has_ended;
}

ListedSession look_at(const fs::path& dir) {
  ListedSession session;
  session.dir = dir;
  session.bytes = bytes_below(dir);
  const auto reader = format::SessionReader::open(dir);
  if (!reader) {
    session.state = to_string(format::Verdict::Unreadable);
    session.why = reader.status().message();
    session.header.session_id = dir.filename().string();
    return session;
  }
  session.header = reader->header();
  session.state = reader->is_live() ? "live" : to_string(format::Verdict::Complete);
  if (!reader->is_live()) session.damage = damage_of(*reader);
  if (!reader->is_live() && read_end(*reader, session)) {
    if (!session.damage.empty()) session.state = "damaged";
    return session;
  }
  const format::VerifyResult whole = format::verify_session(dir);
  if (!whole.live) session.state = !session.damage.empty() ? "damaged" : "unclosed";
  session.duration_ns = whole.last_ns;
  session.kernels = kernels_of(*reader, whole.rows);
  return session;
}

std::string or_unknown(const std::string& text) { return text.empty() ? "?" : text; }

std::string describe(const std::vector<ListedSession>& sessions) {
  std::string out;
  const auto line = std::back_inserter(out);
  constexpr auto kLine = "{:<20} {:<20.20} {:<9.9} {:>10} {:>13} {:<10} {:>10}  {}\n";
  fmt::format_to(line, fmt::runtime(kLine), "STARTED (UTC)", "APP", "ENGINE", "DURATION", "KERNELS",
                 "STATE", "SIZE", "SESSION");
  for (const ListedSession& session : sessions) {
    const format::SessionHeader& header = session.header;
    // To the second: "2026-11-15 03:45:12".
    const std::string started =
        header.start_wall_ns > 0 ? text::utc(header.start_wall_ns).substr(0, 19) : "?";
    fmt::format_to(
        line, fmt::runtime(kLine), started, text::make_harmless(or_unknown(header.app_name)),
        text::make_harmless(or_unknown(header.engine)),
        session.duration_ns ? text::duration(static_cast<double>(*session.duration_ns)) : "?",
        session.kernels ? text::count(*session.kernels) : "-", session.state,
        text::bytes(static_cast<double>(session.bytes)), text::make_harmless(session.dir.string()));
  }
  return out;
}

Json to_json(const ListedSession& session) {
  Json out = Json::object();
  out.set("path", session.dir.string()).set("state", session.state);
  if (!session.why.empty()) out.set("why", session.why);
  if (!session.damage.empty()) out.set("damage", session.damage);
  out.set("session", session.header.to_json());
  if (session.duration_ns) out.set("duration_ns", *session.duration_ns);
  out.set("kernels", session.kernels ? Json(*session.kernels) : Json());
  out.set("bytes", session.bytes);
  return out;
}

int list(const std::string& path, bool json) {
  const std::vector<ListedSession> sessions = list_sessions(path);
  if (sessions.empty()) {
    complain(kCommand, why_no_session(path));
    return kExitCannotTell;
  }
  Json all = Json::array();
  for (const ListedSession& session : sessions) all.push(to_json(session));
  print(json ? all.dump() + '\n' : describe(sessions));
  int code = kExitGood;
  for (const ListedSession& session : sessions) {
    if (!session.damage.empty()) {
      complain(kCommand, session.dir.string() + ": " + session.damage);
    }
    if (session.why.empty()) continue;
    complain(kCommand, session.dir.string() + ": " + session.why);
    code = kExitCannotTell;
  }
  return code;
}

}  // namespace

std::vector<ListedSession> list_sessions(const fs::path& path) {
  std::vector<ListedSession> sessions;
  for (const fs::path& dir : format::find_sessions(path)) sessions.push_back(look_at(dir));
  std::sort(sessions.begin(), sessions.end(), [](const ListedSession& a, const ListedSession& b) {
    return std::tuple(-a.header.start_wall_ns, a.dir) < std::tuple(-b.header.start_wall_ns, b.dir);
  });
  return sessions;
}

void add_sessions_list_command(Command program) {
  struct Options {
    std::string path = "gpufl-logs";
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command("sessions", "List the sessions in a folder, newest first");
  command.add_option("folder", options->path, "A log folder, a run or a session").show_default();
  command.add_flag("--json", options->json, "Print a JSON array, one object per session");
  command.set_footer(
      "KERNELS: - where they were not recorded, or may all have been lost (in JSON null).\n"
      "State: live, being written; complete, it has ended, and nothing is known to be missing "
      "(gpufl verify reads all of it and proves it); not proven, likewise, but nobody counted what "
      "should be there; losses, records were lost; damaged, a file is missing or cut off, or the "
      "manifest is; unclosed, its process ended first (killed, crashed, or left by _exit).\n"
      "Exit code: 0 listed; 2 there is no session, or one cannot be read.");
  command.set_action([options] { return list(options->path, options->json); });
}

}  // namespace gpufl::cli
