// SPDX-License-Identifier: Apache-2.0
#include "analysis/session_data.hpp"

#include <algorithm>
#include <chrono>
#include <map>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "analysis/table_builder.hpp"
#include "format/session_reader.hpp"

namespace gpufl::analysis {
namespace {

namespace fs = std::filesystem;

// Tells how far loading is, at most a few times a second.
class Progress {
 public:
  Progress(const LoadOptions& options, const std::vector<format::WindowFile>& windows)
      : report_(options.progress) {
    if (!report_) return;
    for (const format::WindowFile& window : windows) total_ += bytes_of(window);
    report_(0, total_);
  }

  void on_window_end(const format::WindowFile& window) {
    if (!report_) return;
    done_ = std::min(done_ + bytes_of(window), total_);
    const auto now = Clock::now();
    if (now < next_) return;
    next_ = now + kInterval;
    report_(done_, total_);
  }
  void finish() {
    if (report_) report_(total_, total_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{200};

  static uint64_t bytes_of(const format::WindowFile& window) {
    std::error_code error;
    const auto bytes = fs::file_size(window.path, error);
    return error ? 0 : bytes;
  }

  const std::function<void(uint64_t, uint64_t)>& report_;
  uint64_t done_ = 0, total_ = 0;
  Clock::time_point next_;
};

// Everything that lines tell goes to both.
struct LoadVisitor final : format::Visitor {
  explicit LoadVisitor(Progress& its_progress) : progress(its_progress) {}

  SummaryBuilder summary;
  TableBuilder tables;
  Progress& progress;

  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    summary.on_batch(batch, dictionaries);
    tables.on_batch(batch, dictionaries);
  }
  void on_object(format::Kind kind, const base::Json& object) override {
    summary.on_object(kind, object);
    tables.on_object(kind, object);
  }
  void on_problem(const format::Problem& problem) override { summary.on_problem(problem); }
  void on_window(const format::WindowFile& window) override { summary.on_window(window); }
  void on_window_end(const format::WindowFile& window, uint64_t /*lines*/) override {
    progress.on_window_end(window);
  }
};

// When each session began, in nanoseconds of one clock. Sessions of one boot of one machine go by
// its monotonic clock, which nobody sets; only machines are set against each other by the wall
// clock.
std::vector<int64_t> begins_of(const std::vector<SessionData>& sessions) {
  std::map<std::string, int64_t> wall_at_boot_ns;
  std::vector<int64_t> begins;
  for (const SessionData& session : sessions) {
    const format::SessionHeader& header = session.summary.header;
    const int64_t boot_ns = saturating_subtract(header.start_wall_ns, header.start_monotonic_ns);
    const int64_t its_boot_ns =
        header.boot_id.empty() ? boot_ns
                               : wall_at_boot_ns.try_emplace(header.boot_id, boot_ns).first->second;
    begins.push_back(saturating_add(its_boot_ns, header.start_monotonic_ns));
  }
  return begins;
}

}  // namespace

base::Result<SessionData> load(const fs::path& session_dir, const LoadOptions& options) {
  const auto reader = format::SessionReader::open(session_dir);
  if (!reader) return reader.status();
  Progress progress(options, reader->windows());
  LoadVisitor visitor(progress);
  visitor.tables.expect(reader->windows());
  for (const format::Problem& problem : reader->open_problems()) visitor.on_problem(problem);
  reader->read(visitor);
  const symbols::SessionFrames& frames = visitor.summary.frames();
  const symbols::SymbolFile symbols = symbols::find_symbols(*reader, frames, options.symbolize);
  SessionData data;
  data.code = CodeMap(frames, symbols);
  data.summary = visitor.summary.finish(symbols, data.code, *reader);
  data.tables = visitor.tables.finish(data.summary.duration_ns);
  progress.finish();
  return data;
}

base::Result<RunData> load_run(const fs::path& path, const LoadOptions& options) {
  RunData run;
  for (const fs::path& session : format::find_sessions(path)) {
    auto data = load(session, options);
    if (data) {
      run.sessions.push_back(std::move(*data));
    } else {
      run.problems.push_back(session.string() + ": " + data.status().message());
    }
  }
  if (run.sessions.empty()) {
    return base::Status(base::Code::NotFound,
                        run.problems.empty() ? path.string() + " is not a session or a run of them"
                                             : run.problems.front());
  }
  std::sort(run.sessions.begin(), run.sessions.end(), [](const auto& a, const auto& b) {
    const format::SessionHeader& left = a.summary.header;
    const format::SessionHeader& right = b.summary.header;
    return std::tie(left.rank, left.session_id) < std::tie(right.rank, right.session_id);
  });
  run.id = run.sessions.front().summary.header.run_id;
  run.offset_ns = begins_of(run.sessions);
  const int64_t first = *std::min_element(run.offset_ns.begin(), run.offset_ns.end());
  for (int64_t& begin : run.offset_ns) begin = saturating_subtract(begin, first);
  return run;
}

}  // namespace gpufl::analysis
