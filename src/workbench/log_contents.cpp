// SPDX-License-Identifier: Apache-2.0
#include "workbench/log_contents.hpp"

#include <system_error>
#include <utility>

#include "format/session_reader.hpp"

namespace gpufl::workbench {
namespace {

using base::Json;
using format::WindowFile;

uint64_t bytes_of(const WindowFile& window) {
  std::error_code error;
  const auto bytes = std::filesystem::file_size(window.path, error);
  return error ? 0 : bytes;
}

class ContentCounter final : public format::Visitor {
 public:
  explicit ContentCounter(LogContents& contents) : contents_(contents) {}

  void on_window(const WindowFile& window) override {
    const bool is_deleted = window.state == WindowFile::State::Deleted;
    contents_.windows.push_back({window, 0, is_deleted ? window.rows : 0, bytes_of(window)});
  }
  void on_window_end(const WindowFile&, uint64_t lines) override {
    contents_.windows.back().lines = lines;
  }
  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    contents_.windows.back().rows += batch.rows();
    contents_.kinds[std::string(batch.kind_spec().name)] += batch.rows();
  }
  void on_object(format::Kind kind, const Json&) override {
    contents_.kinds[std::string(format::spec(kind).name)] += 1;
  }
  void on_problem(const format::Problem& problem) override {
    contents_.problems += !is_growth(problem);
  }

 private:
  LogContents& contents_;
};

}  // namespace

std::string_view to_string(WindowFile::State state) {
  switch (state) {
    case WindowFile::State::Sealed: return "sealed";
    case WindowFile::State::Unsealed: return "unsealed";
    case WindowFile::State::Live: return "live";
    case WindowFile::State::Missing: return "missing";
    case WindowFile::State::Deleted: return "deleted";
  }
  return "?";
}

base::Result<LogContents> read_contents(const std::filesystem::path& session) {
  const auto reader = format::SessionReader::open(session);
  if (!reader) return reader.status();
  LogContents contents;
  contents.dir = session;
  contents.header = reader->header();
  contents.is_live = reader->is_live();
  ContentCounter counter(contents);
  reader->read(counter);
  return contents;
}

Json LogContents::to_json() const {
  Json list = Json::array();
  for (const WindowContents& window : windows) {
    Json item = Json::object();
    item.set("channel", to_string(window.file.channel)).set("window", window.file.number);
    item.set("state", to_string(window.file.state));
    if (!window.file.path.empty()) item.set("file", window.file.path.filename().string());
    item.set("lines", window.lines).set("rows", window.rows).set("file_bytes", window.bytes);
    if (window.file.in_manifest) {
      item.set("raw_bytes", window.file.raw_bytes).set("first_ns", window.file.first_ns);
      item.set("last_ns", window.file.last_ns).set("hash", window.file.hash);
    }
    list.push(std::move(item));
  }
  Json counts = Json::object();
  for (const auto& [kind, rows] : kinds) counts.set(kind, rows);
  Json out = Json::object();
  out.set("path", dir.string()).set("session", header.to_json());
  out.set("live", is_live).set("windows", std::move(list));
  out.set("kinds", std::move(counts)).set("problems", problems);
  return out;
}

}  // namespace gpufl::workbench
