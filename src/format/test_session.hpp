// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/temp_dir.hpp"
#include "format/log_writer.hpp"
#include "format/session_reader.hpp"

// What the tests of this room share: a session to write, a visitor that
// remembers. For tests only.
namespace gpufl::format::testing {

using base::TempDir;

inline SessionHeader test_header() {
  SessionHeader header;
  header.session_id = "20261115T034512Z-1f2e3d4c5b6a7988";
  header.run_id = "run-1";
  header.app_name = "test";
  header.gpufl_version = "0.1.0";
  header.engine = "Trace";
  header.backend = "synthetic";
  header.start_wall_ns = 1'794'714'312'000'000'000;
  header.start_monotonic_ns = 5'000'000'000;
  header.clock_error_ns = 40;
  header.pid = 4711;
  header.process = "test";
  header.host = "node1";
  return header;
}

// No limits that a test machine could meet by accident.
inline LogOptions test_options(const std::filesystem::path& dir) {
  LogOptions options;
  options.session_dir = dir;
  options.disk_floor_bytes = 0;
  return options;
}

inline std::unique_ptr<LogWriter> make_writer(const LogOptions& options) {
  auto writer = LogWriter::create(options, test_header());
  return writer ? std::move(*writer) : nullptr;
}

inline Batch scope_rows(LogWriter& writer, int64_t first_id, int64_t count, int64_t start_ns) {
  Batch rows(Kind::Scope);
  const int64_t name = writer.intern(Dict::Name, "scope_" + std::to_string(first_id));
  for (int64_t i = 0; i < count; ++i) {
    rows.push_row({first_id + i, 0, 100, 0, name, 0, start_ns + i * 10, 7, 0, 0, 0});
  }
  return rows;
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
}

inline std::vector<std::string> file_names(const std::filesystem::path& dir) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(dir)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// Everything that a session tells, in a form to compare.
struct Recorder final : Visitor {
  std::map<std::string, uint64_t> rows;
  std::vector<int64_t> scope_ids;
  std::map<int64_t, std::string> scope_names;
  std::vector<std::pair<Kind, base::Json>> objects;
  std::vector<Problem> problems;

  void on_batch(const Batch& batch, const Dictionaries& dictionaries) override {
    rows[std::string(batch.kind_spec().name)] += batch.rows();
    if (batch.kind() != Kind::Scope) return;
    for (size_t row = 0; row < batch.rows(); ++row) {
      const int64_t id = batch.at(scope_column::kId, row);
      scope_ids.push_back(id);
      scope_names[id] = dictionaries.get(Dict::Name, batch.at(scope_column::kName, row));
    }
  }
  void on_object(Kind kind, const base::Json& object) override {
    objects.emplace_back(kind, object);
  }
  void on_problem(const Problem& problem) override { problems.push_back(problem); }

  std::vector<base::Json> of(Kind kind) const {
    std::vector<base::Json> found;
    for (const auto& [its_kind, object] : objects) {
      if (its_kind == kind) found.push_back(object);
    }
    return found;
  }
  bool has(Problem::Kind kind) const {
    return std::any_of(problems.begin(), problems.end(),
                       [kind](const Problem& problem) { return problem.kind == kind; });
  }
};

inline Recorder read_all(const std::filesystem::path& dir) {
  Recorder recorder;
  const auto reader = SessionReader::open(dir);
  if (!reader) {
    recorder.problems.push_back({Problem::Kind::Unreadable, "", 0, reader.status().text()});
    return recorder;
  }
  recorder.problems = reader->open_problems();
  reader->read(recorder);
  return recorder;
}

}  // namespace gpufl::format::testing
