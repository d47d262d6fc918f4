// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/session_data.hpp"

#include <algorithm>
#include <atomic>
#include <bitset>
#include <chrono>
#include <future>
#include <map>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "analysis/session/last_part.hpp"
#include "analysis/session/session_copies.hpp"
#include "analysis/tables/table_builder.hpp"
#include "format/session_reader.hpp"

namespace gpufl::analysis {

const KernelNames& SessionData::kernel_names() const {
  return made_names.get([&] { return KernelNames(tables); });
}

std::shared_ptr<const ScopePaths> SessionData::scope_paths(const AnalysisOptions& options) const {
  const auto make = [&] {
    return std::make_shared<const ScopePaths>(analysis::scope_paths(tables, options));
  };
  return options.scope.empty() ? made_paths.get(make) : make();
}

const SessionData& SessionData::sampled() const {
  return passes && passes->sampled ? *passes->sampled : *this;
}

const SessionData& SessionData::counted() const {
  return passes && passes->counted ? *passes->counted : *this;
}

namespace {

namespace fs = std::filesystem;

uint64_t bytes_of(const format::WindowFile& window) {
  std::error_code error;
  const auto bytes = fs::file_size(window.path, error);
  return error ? 0 : bytes;
}

// Tells how far loading is, a few times a second, on the thread that made it, and asks whether to
// go on.
class Progress {
 public:
  explicit Progress(const LoadOptions& options) : report_(options.progress) {}

  void expect(const format::SessionReader& session) {
    if (!report_) return;
    for (const format::WindowFile& window : session.windows()) total_ += bytes_of(window);
  }
  // Any thread.
  void on_window_end(const format::WindowFile& window) {
    if (!report_) return;
    done_ += bytes_of(window);
    if (std::this_thread::get_id() != caller_ || Clock::now() < next_) return;
    next_ = Clock::now() + kInterval;
    // A live file may have grown since.
    tell(std::min(done_.load(), total_));
  }
  void finish() {
    if (report_ && !is_stopped_) tell(total_);
  }
  // Any thread.
  bool is_stopped() const { return is_stopped_; }

 private:
  using Clock = std::chrono::steady_clock;
  static constexpr std::chrono::milliseconds kInterval{200};

  void tell(uint64_t done) {
    if (!report_(done, total_)) is_stopped_ = true;
  }

  const std::function<bool(uint64_t, uint64_t)>& report_;
  const std::thread::id caller_ = std::this_thread::get_id();
  uint64_t total_ = 0;
  std::atomic<uint64_t> done_ = 0;
  std::atomic<bool> is_stopped_ = false;
  Clock::time_point next_;
};

// Whether the figures of a window need any row of the batch. What has no time of its own is needed,
// and so is every allocation before it.
bool reaches(const format::Batch& batch, const Interval& window) {
  if (batch.kind() == format::Kind::Memory) return true;
  const format::KindSpec& spec = batch.kind_spec();
  const size_t time = format::first_time(spec);
  if (time == format::kNoColumn || !batch.has(time)) return true;
  const size_t duration = format::duration_of(spec, time);
  const bool has_duration = duration != format::kNoColumn && batch.has(duration);
  // A scope that is open reaches to the end.
  const bool is_open = batch.kind() == format::Kind::ScopeOpen;
  for (size_t row = 0; row < batch.rows(); ++row) {
    const int64_t start_ns = batch.column(time)[row];
    const int64_t end_ns =
        has_duration ? saturating_add(start_ns, batch.column(duration)[row]) : start_ns;
    if (start_ns < window.end && (is_open || end_ns >= window.start)) return true;
  }
  return false;
}

// Everything that lines tell goes to all of them.
struct LoadVisitor final : format::Visitor {
  LoadVisitor(Progress& its_progress, const std::optional<Interval>& its_window)
      : progress(its_progress), window(its_window) {}

  SummaryBuilder summary;
  TableBuilder tables;
  symbols::SessionFrames frames;
  Progress& progress;
  const std::optional<Interval> window;
  std::bitset<format::kKindCount> seen;

  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    summary.on_batch(batch, dictionaries);
    // The first of each kind shows that, and with which columns, it was recorded at all.
    const bool is_first = !seen.test(static_cast<size_t>(batch.kind()));
    seen.set(static_cast<size_t>(batch.kind()));
    if (!window || is_first || reaches(batch, *window)) tables.on_batch(batch, dictionaries);
  }
  void on_object(format::Kind kind, const base::Json& object) override {
    summary.on_object(kind, object);
    tables.on_object(kind, object);
    if (kind == format::Kind::Dict) frames.add(object);
  }
  void on_problem(const format::Problem& problem) override { summary.on_problem(problem); }
  void on_window(const format::WindowFile& window) override { summary.on_window(window); }
  void on_window_end(const format::WindowFile& window, uint64_t lines) override {
    summary.on_window_end(window, lines);
    progress.on_window_end(window);
    is_done = progress.is_stopped();
  }
};

unsigned threads_of(const LoadOptions& options) {
  return options.threads != 0 ? options.threads : std::max(std::thread::hardware_concurrency(), 1U);
}

SessionData load_session(const format::SessionReader& reader, const LoadOptions& options,
                         unsigned threads, Progress& progress) {
  std::optional<Interval> window = options.window;
  if (options.most_rows != 0 && !window) window = last_part(reader.windows(), options.most_rows);
  LoadVisitor visitor(progress, window);
  if (!window) visitor.tables.expect(reader.windows());
  for (const format::Problem& problem : reader.open_problems()) visitor.on_problem(problem);
  reader.read(visitor, {}, threads);
  const symbols::SymbolFile symbols = [&] {
    static std::mutex one_at_a_time;  // readers of debug information share state
    const std::lock_guard lock(one_at_a_time);
    return symbols::find_symbols(reader, visitor.frames, options.symbolize);
  }();
  SessionData data;
  data.code = CodeMap(visitor.frames, symbols);
  data.summary = visitor.summary.finish(reader);
  data.tables = visitor.tables.finish(data.summary.duration_ns);
  data.window = window;
  if (window) data.window->end = std::min(window->end, saturating_add(data.summary.duration_ns, 1));
  return data;
}

// Side by side, each on its share of the threads.
std::vector<SessionData> load_sessions(const std::vector<format::SessionReader>& readers,
                                       const LoadOptions& options, Progress& progress) {
  std::vector<SessionData> sessions(readers.size());
  const unsigned threads = threads_of(options);
  const auto side_by_side = static_cast<unsigned>(std::min<size_t>(threads, readers.size()));
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < readers.size() && !progress.is_stopped(); i = next++) {
      sessions[i] = load_session(readers[i], options, threads / side_by_side, progress);
    }
  };
  std::vector<std::future<void>> others;
  try {
    while (others.size() + 1 < side_by_side) {
      others.push_back(std::async(std::launch::async, work));
    }
  } catch (const std::system_error&) {
    // With those that there are, or without.
  }
  work();
  for (std::future<void>& other : others) other.get();
  return sessions;
}

base::Status stopped(const fs::path& path) {
  return {base::Code::Cancelled, path.string() + ": reading it was stopped"};
}

}  // namespace

std::vector<int64_t> offsets_in_run(const std::vector<format::SessionHeader>& headers) {
  std::map<std::string, int64_t> wall_at_boot_ns;
  std::vector<int64_t> begins;
  for (const format::SessionHeader& header : headers) {
    const int64_t boot_ns = saturating_subtract(header.start_wall_ns, header.start_monotonic_ns);
    const int64_t its_boot_ns =
        header.boot_id.empty() ? boot_ns
                               : wall_at_boot_ns.try_emplace(header.boot_id, boot_ns).first->second;
    begins.push_back(saturating_add(its_boot_ns, header.start_monotonic_ns));
  }
  const auto first = std::min_element(begins.begin(), begins.end());
  const int64_t first_ns = first == begins.end() ? 0 : *first;
  for (int64_t& begin : begins) begin = saturating_subtract(begin, first_ns);
  return begins;
}

base::Result<SessionData> load(const fs::path& session_dir, const LoadOptions& options) {
  const auto reader = format::SessionReader::open(session_dir);
  if (!reader) return reader.status();
  Progress progress(options);
  progress.expect(*reader);
  SessionData data = load_session(*reader, options, threads_of(options), progress);
  progress.finish();
  if (progress.is_stopped()) return stopped(session_dir);
  return data;
}

base::Result<RunData> load_run(const fs::path& path, const LoadOptions& options) {
  RunData run;
  Progress progress(options);
  std::vector<format::SessionReader> readers;
  SessionCopies copies;
  for (const fs::path& session : format::find_sessions(path)) {
    auto reader = format::SessionReader::open(session);
    if (reader) {
      if (copies.is_copy(reader->header(), session)) continue;
      progress.expect(*reader);
      readers.push_back(std::move(*reader));
    } else {
      run.problems.push_back(session.string() + ": " + reader.status().message());
    }
  }
  run.copies = copies.notes();
  run.sessions = load_sessions(readers, options, progress);
  progress.finish();
  if (progress.is_stopped()) return stopped(path);
  if (run.sessions.empty()) {
    return base::Status(base::Code::NotFound,
                        run.problems.empty() ? path.string() + " is not a session or a run of them"
                                             : run.problems.front());
  }
  std::sort(run.sessions.begin(), run.sessions.end(), [](const auto& a, const auto& b) {
    return place_in_run(a.summary.header) < place_in_run(b.summary.header);
  });
  run.id = run.sessions.front().summary.header.run_id;
  std::vector<format::SessionHeader> headers;
  for (const SessionData& session : run.sessions) headers.push_back(session.summary.header);
  run.offset_ns = offsets_in_run(headers);
  return run;
}

}  // namespace gpufl::analysis
