// SPDX-License-Identifier: Apache-2.0
#include "cli/log_command.hpp"

#include <map>
#include <string>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/sessions_command.hpp"
#include "format/session_reader.hpp"
#include "text/display.hpp"

namespace gpufl::cli {
namespace {

using base::Json;
using format::WindowFile;

// Lines and rows as read, so that live and unsealed windows have numbers too.
class ContentCounter final : public format::Visitor {
 public:
  struct Window {
    WindowFile file;
    uint64_t lines = 0, rows = 0;
  };

  void on_window(const WindowFile& window) override { windows_.push_back({window, 0, 0}); }
  void on_window_end(const WindowFile&, uint64_t lines) override { windows_.back().lines = lines; }
  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    windows_.back().rows += batch.rows();
    kinds_[std::string(batch.kind_spec().name)] += batch.rows();
  }
  void on_object(format::Kind kind, const Json&) override {
    kinds_[std::string(format::spec(kind).name)] += 1;
  }
  void on_problem(const format::Problem& problem) override { problems_ += !is_growth(problem); }

  const std::vector<Window>& windows() const { return windows_; }
  const std::map<std::string, uint64_t>& kinds() const { return kinds_; }
  uint64_t problems() const { return problems_; }

 private:
  std::vector<Window> windows_;
  std::map<std::string, uint64_t> kinds_;
  uint64_t problems_ = 0;
};

std::string_view state_name(WindowFile::State state) {
  switch (state) {
    case WindowFile::State::Sealed: return "sealed";
    case WindowFile::State::Unsealed: return "unsealed";
    case WindowFile::State::Live: return "live";
    case WindowFile::State::Missing: return "missing";
    case WindowFile::State::Deleted: return "deleted";
  }
  return "?";
}

uint64_t file_bytes(const WindowFile& window) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(window.path, error);
  return error ? 0 : bytes;
}

// A deleted window's rows are known from the manifest only.
uint64_t rows_of(const ContentCounter::Window& window) {
  return window.file.state == WindowFile::State::Deleted ? window.file.rows : window.rows;
}

Json to_json(const format::SessionReader& session, const ContentCounter& counter) {
  Json windows = Json::array();
  for (const auto& window : counter.windows()) {
    Json item = Json::object();
    item.set("channel", to_string(window.file.channel)).set("window", window.file.number);
    item.set("state", state_name(window.file.state));
    if (!window.file.path.empty()) item.set("file", window.file.path.filename().string());
    item.set("lines", window.lines).set("rows", rows_of(window));
    item.set("file_bytes", file_bytes(window.file));
    if (window.file.in_manifest) {
      item.set("raw_bytes", window.file.raw_bytes).set("first_ns", window.file.first_ns);
      item.set("last_ns", window.file.last_ns).set("hash", window.file.hash);
    }
    windows.push(std::move(item));
  }
  Json kinds = Json::object();
  for (const auto& [kind, rows] : counter.kinds()) kinds.set(kind, rows);
  Json out = Json::object();
  out.set("path", session.dir().string()).set("session", session.header().to_json());
  out.set("live", session.is_live()).set("windows", std::move(windows));
  out.set("kinds", std::move(kinds)).set("problems", counter.problems());
  return out;
}

std::string describe(const format::SessionReader& session, const ContentCounter& counter) {
  std::string out = fmt::format("{}{}\n", text::make_harmless(session.dir().string()),
                                session.is_live() ? " (being written)" : "");
  const auto line = std::back_inserter(out);
  fmt::format_to(line, "  {:<8} {:>6} {:<9} {:>12} {:>12} {:>10} {:>12} {:>14} {:>12}\n", "channel",
                 "window", "state", "first s", "last s", "lines", "rows", "raw bytes", "on disk");
  for (const auto& window : counter.windows()) {
    const WindowFile& file = window.file;
    const auto seconds = [&](int64_t ns) {
      return file.in_manifest ? fmt::format("{:.3f}", static_cast<double>(ns) / 1e9) : "-";
    };
    fmt::format_to(line, "  {:<8} {:>6} {:<9} {:>12} {:>12} {:>10} {:>12} {:>14} {:>12}\n",
                   to_string(file.channel), file.number, state_name(file.state),
                   seconds(file.first_ns), seconds(file.last_ns), window.lines, rows_of(window),
                   file.in_manifest ? std::to_string(file.raw_bytes) : "-", file_bytes(file));
  }
  fmt::format_to(line, "  {:<15} {:>12}\n", "kind", "rows");
  for (const auto& [kind, rows] : counter.kinds()) {
    fmt::format_to(line, "  {:<15} {:>12}\n", kind, rows);
  }
  if (counter.problems() > 0) {
    fmt::format_to(line, "  problems: {}, see gpufl verify\n", counter.problems());
  }
  return out;
}

int list(const std::string& path, bool json) {
  const auto sessions = format::find_sessions(path);
  if (sessions.empty()) {
    complain("gpufl log", why_no_session(path));
    return kExitCannotTell;
  }
  int code = kExitGood;
  Json all = Json::array();
  for (const auto& dir : sessions) {
    const auto session = format::SessionReader::open(dir);
    if (!session) {
      complain("gpufl log", fmt::format("{}: {}", dir.string(), session.status().message()));
      code = kExitCannotTell;
      continue;
    }
    ContentCounter counter;
    session->read(counter);
    if (json) {
      all.push(to_json(*session, counter));
    } else {
      print(describe(*session, counter));
    }
  }
  if (json) print(all.dump() + '\n');
  return code;
}

}  // namespace

void add_log_command(Command program) {
  add_sessions_command(program, "log", "List windows and record counts of sessions", list);
}

}  // namespace gpufl::cli
