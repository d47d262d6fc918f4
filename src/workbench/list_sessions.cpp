// SPDX-License-Identifier: Apache-2.0
#include "workbench/list_sessions.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "analysis/figures/missing.hpp"
#include "analysis/summary/summary.hpp"
#include "format/batch_codec.hpp"
#include "format/ledger.hpp"
#include "format/schema.hpp"
#include "format/seal.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"

namespace gpufl::workbench {
namespace {

namespace fs = std::filesystem;
using base::Json;

uint64_t bytes_below(const fs::path& dir) {
  uint64_t bytes = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(dir, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code unreadable;
    const auto size = entry->file_size(unreadable);
    if (!unreadable) bytes += size;
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

const format::WindowFile* last_system_window(const format::SessionReader& reader) {
  const format::WindowFile* last = nullptr;
  for (const format::WindowFile& window : reader.windows()) {
    if (window.channel == format::Channel::System && !window.path.empty()) last = &window;
  }
  return last;
}

// By the ledger's rows; none: not recorded, or nothing tells.
using CountKernels = std::optional<uint64_t> (*)(const format::SessionReader& reader,
                                                 const std::map<std::string, uint64_t>& rows);

std::optional<uint64_t> told_kernels(const format::SessionReader& /*reader*/,
                                     const std::map<std::string, uint64_t>& rows) {
  const auto found = rows.find("kernel");
  if (found == rows.end() || found->second == 0) return std::nullopt;
  return found->second;
}

// From the ledger and the last line, which end the last window of `system`. False: there is none.
bool read_end(const format::SessionReader& reader, CountKernels count_kernels,
              ListedSession& session) {
  const format::WindowFile* last = last_system_window(reader);
  if (last == nullptr) return false;
  format::read_window(last->path, [&](std::string_view line) {
    const std::string_view type = format::line_type(line);
    if (type != "ledger" && type != "end") return true;
    const auto parsed = Json::parse(line);
    if (!parsed) return true;
    if (type == "ledger") {
      const format::Ledger ledger = format::Ledger::from_json(*parsed);
      session.kernels = count_kernels(reader, ledger.writer.rows);
      session.state = state_of(ledger.completeness());
    } else {
      session.duration_ns = (*parsed)["time"].as_integer();
      session.has_end = true;
    }
    return true;
  });
  return session.has_end;
}

// Every file begins with the lines of its devices, before the first rows.
std::vector<ListedDevice> devices_of(const format::SessionReader& reader) {
  std::vector<ListedDevice> devices;
  const format::WindowFile* window = last_system_window(reader);
  if (window == nullptr) return devices;
  format::read_window(window->path, [&](std::string_view line) {
    const format::KindSpec* kind = format::find_kind(format::line_type(line));
    if (kind != nullptr && kind->is_batch()) return false;
    if (format::line_type(line) != "device") return true;
    if (const auto parsed = Json::parse(line)) {
      devices.push_back({(*parsed)["device"].as_integer(-1), (*parsed)["vendor"].as_string(),
                         (*parsed)["name"].as_string(), (*parsed)["uuid"].as_string(),
                         std::string(line)});
    }
    return true;
  });
  return devices;
}

// What the folder and the end of the log tell. True: that is all there is to know.
bool look_at_end(const fs::path& dir, const base::Result<format::SessionReader>& reader,
                 CountKernels count_kernels, ListedSession& session) {
  session.bytes = bytes_below(dir);
  session.found = describe(dir, reader);
  if (!reader) {
    session.state = to_string(format::Verdict::Unreadable);
    session.found.header.session_id = dir.filename().string();
    return true;
  }
  session.state = reader->is_live() ? "live" : to_string(format::Verdict::Complete);
  if (reader->is_live()) return false;
  session.damage = damage_of(*reader);
  const bool has_end = read_end(*reader, count_kernels, session);
  if (has_end && !session.damage.empty()) session.state = "damaged";
  return has_end;
}

ListedSession look_at(const fs::path& dir) {
  ListedSession session;
  const auto reader = format::SessionReader::open(dir);
  if (look_at_end(dir, reader, kernels_of, session)) return session;
  const format::VerifyResult whole = format::verify_session(dir);
  if (!whole.live) session.state = !session.damage.empty() ? "damaged" : "cut off";
  session.duration_ns = whole.last_ns;
  session.kernels = kernels_of(*reader, whole.rows);
  return session;
}

}  // namespace

Json ListedSession::to_json() const {
  Json out = Json::object();
  out.set("path", found.dir.string()).set("state", state);
  if (!found.is_readable()) out.set("why", found.status.message());
  if (!damage.empty()) out.set("damage", damage);
  out.set("session", found.header.to_json());
  if (duration_ns) {
    out.set("duration_ns", *duration_ns).set("duration_is_lower_bound", !has_end);
  }
  out.set("kernels", kernels ? Json(*kernels) : Json());
  out.set("bytes", bytes);
  return out;
}

ListedSession look_quickly(const fs::path& dir) {
  ListedSession session;
  const auto reader = format::SessionReader::open(dir);
  const bool is_told = look_at_end(dir, reader, told_kernels, session);
  if (reader) session.devices = devices_of(*reader);
  if (is_told) return session;
  if (!reader->is_live()) session.state = session.damage.empty() ? "unclosed" : "damaged";
  for (const format::WindowFile& window : reader->windows()) {
    if (window.in_manifest) {
      session.duration_ns = std::max(session.duration_ns.value_or(0), window.last_ns);
    }
  }
  return session;
}

std::vector<ListedSession> list_sessions(const fs::path& path) {
  std::vector<ListedSession> sessions;
  for (const fs::path& dir : format::find_sessions(path)) sessions.push_back(look_at(dir));
  std::stable_sort(
      sessions.begin(), sessions.end(),
      [](const ListedSession& a, const ListedSession& b) { return is_older(b.found, a.found); });
  return sessions;
}

}  // namespace gpufl::workbench
