// SPDX-License-Identifier: Apache-2.0
#include "workbench/query.hpp"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "export/output_file.hpp"
#include "sql/database.hpp"
#include "sql/duckdb_library.hpp"
#include "sql/install_duckdb.hpp"
#include "sql/result_writer.hpp"
#include "sql/session_table.hpp"
#include "sql/views.hpp"
#include "text/units.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::workbench {
namespace {

using base::Code;
using base::Status;

std::vector<std::unique_ptr<sql::Table>> all_tables(const sql::SessionSet& sessions) {
  std::vector<std::unique_ptr<sql::Table>> tables = sql::session_tables(sessions);
  tables.push_back(sql::session_list(sessions));
  return tables;
}

// Stops a query when its time is over or somebody wants it to stop. From before sessions are looked
// for, so that they count.
class QueryWatch {
 public:
  explicit QueryWatch(const QueryRequest& request)
      : request_(request), thread_([this] { watch(); }) {}
  ~QueryWatch() { end(); }
  QueryWatch(const QueryWatch&) = delete;
  QueryWatch& operator=(const QueryWatch&) = delete;

  // Gives it a database to interrupt, as long as this lives.
  class Of {
   public:
    Of(QueryWatch& watch, sql::Database& database) : watch_(watch) { set(&database); }
    ~Of() { set(nullptr); }
    Of(const Of&) = delete;
    Of& operator=(const Of&) = delete;

   private:
    void set(sql::Database* database) {
      const std::lock_guard lock(watch_.mutex_);
      watch_.database_ = database;
    }
    QueryWatch& watch_;
  };
  // What it was stopped for, if it was.
  std::optional<Status> end() {
    {
      const std::lock_guard lock(mutex_);
      is_over_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    return why_;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void watch() {
    constexpr std::chrono::milliseconds kLook{10};
    constexpr std::chrono::seconds kPatience{1};
    const auto began = Clock::now();
    Clock::time_point stopped;
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, kLook, [this] { return is_over_; })) {
      const Status status = look(Clock::now() - began);
      if (!why_ && !status) {
        why_ = status;
        stopped = Clock::now();
      }
      if (!why_) continue;
      // Again and again: one that has not begun yet would not notice.
      if (database_ != nullptr) database_->interrupt();
      if (request_.on_deaf && Clock::now() - stopped >= kPatience) request_.on_deaf(*why_);
    }
  }
  Status look(Clock::duration elapsed) const {
    if (Status status = request_.check ? request_.check() : Status(); !status) return status;
    if (request_.timeout_ns <= 0 || elapsed < std::chrono::nanoseconds(request_.timeout_ns)) {
      return {};
    }
    return {Code::LimitReached,
            fmt::format("the query was stopped after {}; --timeout lets it take longer",
                        text::duration(static_cast<double>(request_.timeout_ns)))};
  }

  const QueryRequest& request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  sql::Database* database_ = nullptr;
  bool is_over_ = false;
  std::optional<Status> why_;
  std::thread thread_;  // last: it uses the others
};

// A file without a name that DuckDB can open by a path.
class ScratchFile {
 public:
  ScratchFile() : file_(std::tmpfile()) {}
  ~ScratchFile() {
    if (file_ != nullptr) std::fclose(file_);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  bool is_open() const { return file_ != nullptr; }
  std::string path() const { return fmt::format("/proc/self/fd/{}", ::fileno(file_)); }
  Status copy_to(exporting::OutputFile& out) {
    if (std::fseek(file_, 0, SEEK_SET) != 0) return Status::from_errno(errno, "a temporary file");
    std::vector<char> chunk(size_t{1} << 16);
    while (const size_t count = std::fread(chunk.data(), 1, chunk.size(), file_)) {
      out.write({chunk.data(), count});
    }
    if (std::ferror(file_) != 0) return Status::from_errno(errno, "a temporary file");
    return {};
  }

 private:
  std::FILE* file_;
};

// Rows to a writer, until its file takes no more.
class Delivery final : public sql::ResultSink {
 public:
  Delivery(sql::ResultWriter& writer, const exporting::OutputFile& out)
      : writer_(writer), out_(out) {}
  void begin(const std::vector<sql::ResultColumn>& columns) override { writer_.begin(columns); }
  void row(Cells cells) override { writer_.row(cells); }
  bool wants_more() const override { return !out_.has_failed(); }

 private:
  sql::ResultWriter& writer_;
  const exporting::OutputFile& out_;
};

base::Result<sql::Answered> ask(sql::Database& database, const QueryRequest& request,
                                exporting::OutputFile& out) {
  constexpr sql::TextForm kForms[] = {sql::TextForm::Table, sql::TextForm::Csv,
                                      sql::TextForm::Json};
  const auto writer = sql::make_writer(kForms[static_cast<size_t>(request.form)],
                                       [&out](std::string_view text) { out.write(text); });
  Delivery delivery(*writer, out);
  auto answered = database.run(request.query, request.max_rows, delivery);
  if (answered) writer->finish();
  return answered;
}

struct Found {
  std::vector<format::SessionReader> readers;
  std::vector<std::string> notes;
  bool is_whole = true;
};

base::Result<Found> find(const std::filesystem::path& path) {
  std::vector<FoundSession> sessions = find_sessions(path);
  if (sessions.empty()) return no_session(path);
  Found found;
  found.notes = leave_out_copies(sessions);
  Status first;
  for (const FoundSession& session : sessions) {
    auto reader = session.is_readable() ? format::SessionReader::open(session.dir)
                                        : base::Result<format::SessionReader>(session.status);
    if (reader) {
      found.readers.push_back(std::move(*reader));
      continue;
    }
    if (first) first = reader.status();
    found.notes.push_back(session.dir.string() + ": " + reader.status().message());
    found.is_whole = false;
  }
  if (found.readers.empty()) return first;
  return found;
}

}  // namespace

base::Result<QueryOutcome> query_sessions(const QueryRequest& request) {
  QueryWatch watch(request);
  auto found = find(request.path);
  if (!found) return found.status();
  const auto api = sql::find_duckdb(request.library);
  if (!api) return api.status();
  QueryOutcome outcome;
  outcome.notes = std::move(found->notes);
  outcome.is_whole = found->is_whole;
  const sql::SessionSet sessions(std::move(found->readers), request.libdw);
  sql::TableFunctions functions(*api, all_tables(sessions));
  std::unique_ptr<ScratchFile> scratch;
  sql::DatabaseOptions options;
  if (request.memory_bytes != 0) options.memory_bytes = request.memory_bytes;
  if (request.form == AnswerForm::Parquet) {
    scratch = std::make_unique<ScratchFile>();
    if (!scratch->is_open()) return Status::from_errno(errno, "a temporary file");
    options.output_file = scratch->path();
  }
  auto out = exporting::OutputFile::open(request.output, {false, request.overwrite});
  if (!out) return out.status();
  const auto database = sql::Database::open(*api, functions, options);
  if (!database) return database.status();
  const QueryWatch::Of watched(watch, **database);
  const auto answered = scratch != nullptr
                            ? (*database)->run_to_parquet(request.query, request.max_rows)
                            : ask(**database, request, *out);
  if (const auto why = watch.end(); why && !answered) return *why;
  if (!answered) return answered.status();
  Status written = scratch != nullptr ? scratch->copy_to(*out) : Status();
  if (written) written = out->commit();
  if (!written) return written;
  outcome.rows = answered->rows;
  outcome.has_more = answered->has_more;
  outcome.bytes = out->bytes();
  for (std::string& fault : sessions.faults()) {
    outcome.notes.push_back(std::move(fault));
    outcome.is_whole = false;
  }
  return outcome;
}

std::vector<QueryTable> query_tables() {
  const sql::SessionSet nothing({}, nullptr);
  std::vector<QueryTable> tables;
  for (const std::unique_ptr<sql::Table>& table : all_tables(nothing)) {
    QueryTable& described = tables.emplace_back();
    described.name = table->name();
    described.sentence = table->sentence();
    described.has_range = table->has_range();
    for (const exporting::ColumnHead& column : table->columns()) {
      std::string meaning(column.meaning);
      for (const format::Word& word : column.words) {
        if (word.word.empty()) continue;
        meaning += meaning.size() == column.meaning.size() ? ": `" : ", `";
        meaning += std::string(word.word) + "`";
      }
      described.columns.push_back({column.name, std::string(sql::type_name(column.type)),
                                   std::string(column.unit), std::move(meaning)});
    }
  }
  for (const sql::View& view : sql::views()) {
    tables.push_back(
        {std::string(view.name), std::string(view.sentence), {}, false, std::string(view.query)});
  }
  return tables;
}

base::Result<InstalledLibrary> install_query_library() {
  auto installed = sql::install_duckdb(sql::installed_library(), sql::pinned_library());
  if (!installed) return installed.status();
  return InstalledLibrary{installed->library, installed->version, installed->was_there};
}

}  // namespace gpufl::workbench
