// SPDX-License-Identifier: Apache-2.0
#include "sqlite/database.hpp"

#include <sqlite3.h>

#include <system_error>

namespace gpufl::sqlite {
namespace {

using base::Code;
using base::Status;

constexpr int kPatienceMs = 5000;

// A statement is ready for the next caller whatever happens to this one.
class Use {
 public:
  explicit Use(sqlite3_stmt* statement) : statement_(statement) {}
  ~Use() {
    sqlite3_reset(statement_);
    sqlite3_clear_bindings(statement_);
  }
  Use(const Use&) = delete;
  Use& operator=(const Use&) = delete;

 private:
  sqlite3_stmt* statement_;
};

Code code_of(int code) {
  switch (code & 0xff) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return Code::Unavailable;
    case SQLITE_FULL:
    case SQLITE_TOOBIG: return Code::LimitReached;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT: return Code::Corrupt;
    case SQLITE_PERM:
    case SQLITE_AUTH:
    case SQLITE_READONLY: return Code::PermissionDenied;
    case SQLITE_CANTOPEN:
    case SQLITE_IOERR: return Code::IoError;
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH: return Code::InvalidArgument;
    default: return Code::Internal;
  }
}

}  // namespace

bool Value::bind(sqlite3_stmt* statement, int position) const {
  if (number_) return sqlite3_bind_int64(statement, position, *number_) == SQLITE_OK;
  if (!text_) return sqlite3_bind_null(statement, position) == SQLITE_OK;
  // An empty view may have no address, which SQLite would take for NULL.
  const char* bytes = text_->empty() ? "" : text_->data();
  if (is_blob_) {
    return sqlite3_bind_blob64(statement, position, bytes, text_->size(), SQLITE_STATIC) ==
           SQLITE_OK;
  }
  return sqlite3_bind_text64(statement, position, bytes, text_->size(), SQLITE_STATIC,
                             SQLITE_UTF8) == SQLITE_OK;
}

int64_t Row::integer(size_t column, int64_t fallback) const {
  const int at = static_cast<int>(column);
  const bool is_number = sqlite3_column_type(statement_, at) == SQLITE_INTEGER;
  return is_number ? sqlite3_column_int64(statement_, at) : fallback;
}

std::string_view Row::text(size_t column) const {
  const int at = static_cast<int>(column);
  if (sqlite3_column_type(statement_, at) != SQLITE_TEXT) return {};
  const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement_, at));
  return {text, static_cast<size_t>(sqlite3_column_bytes(statement_, at))};
}

std::string_view Row::blob(size_t column) const {
  const int at = static_cast<int>(column);
  if (sqlite3_column_type(statement_, at) != SQLITE_BLOB) return {};
  const auto* bytes = static_cast<const char*>(sqlite3_column_blob(statement_, at));
  return {bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, at))};
}

bool Row::has(size_t column) const {
  return sqlite3_column_type(statement_, static_cast<int>(column)) != SQLITE_NULL;
}

base::Result<std::unique_ptr<Database>> Database::open(const std::filesystem::path& path,
                                                       Mode mode) {
  const int flags =
      mode == Mode::Existing ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  // The file itself may be no link; SQLite would refuse those on the way to it, too.
  std::error_code error;
  const std::filesystem::path folder =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path).parent_path(), error);
  if (error) return Status::from_errno(error.value(), path.string());
  const std::filesystem::path name = folder / path.filename();
  sqlite3* file = nullptr;
  const int code = sqlite3_open_v2(name.c_str(), &file, flags | SQLITE_OPEN_NOFOLLOW, nullptr);
  std::unique_ptr<Database> opened(new Database(file, path.filename().string()));
  if (file == nullptr) return Status(Code::Internal, "SQLite has no memory");
  if (code != SQLITE_OK) return opened->failure(code);
  sqlite3_extended_result_codes(file, 1);
  sqlite3_busy_timeout(file, kPatienceMs);
  Status ready = opened->run_script("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;");
  if (ready && mode == Mode::Durable) {
    ready = opened->run_script(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
  }
  // Opening reads nothing: only now a file that is damaged or cut is known.
  if (ready) ready = opened->run("SELECT count(*) FROM sqlite_master");
  if (!ready) return ready;
  return opened;
}

Database::~Database() {
  for (const auto& [sql, statement] : statements_) sqlite3_finalize(statement);
  sqlite3_close(file_);
}

Status Database::failure(int code) const {
  return {code_of(code), name_ + ": " + sqlite3_errmsg(file_)};
}

base::Result<sqlite3_stmt*> Database::prepare(std::string_view sql) {
  if (const auto found = statements_.find(sql); found != statements_.end()) return found->second;
  sqlite3_stmt* statement = nullptr;
  const int code = sqlite3_prepare_v3(file_, sql.data(), static_cast<int>(sql.size()),
                                      SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (code != SQLITE_OK) return failure(code);
  statements_.emplace(sql, statement);
  return statement;
}

Status Database::query(std::string_view sql, Values values, const RowVisitor& see) {
  const auto statement = prepare(sql);
  if (!statement) return statement.status();
  const Use use(*statement);
  if (values.size() != static_cast<size_t>(sqlite3_bind_parameter_count(*statement))) {
    return {Code::Internal, "a statement has another number of values: " + std::string(sql)};
  }
  int position = 0;
  for (const Value& value : values) {
    if (!value.bind(*statement, ++position)) return failure(sqlite3_errcode(file_));
  }
  int code = sqlite3_step(*statement);
  for (; code == SQLITE_ROW; code = sqlite3_step(*statement)) see(Row(*statement));
  return code == SQLITE_DONE ? Status::ok() : failure(code);
}

Status Database::run(std::string_view sql, Values values) {
  return query(sql, values, [](const Row&) {});
}

Status Database::run_script(const char* sql) {
  const int code = sqlite3_exec(file_, sql, nullptr, nullptr, nullptr);
  return code == SQLITE_OK ? Status::ok() : failure(code);
}

int64_t Database::last_insert_id() const { return sqlite3_last_insert_rowid(file_); }

int64_t Database::changed_rows() const { return sqlite3_changes64(file_); }

Status Database::copy_to(const std::filesystem::path& file) {
  std::error_code error;
  if (std::filesystem::exists(file, error)) {
    return {Code::InvalidArgument, file.string() + " exists already"};
  }
  // A single transaction reads all of it, and the copy is synced before this returns.
  return run("VACUUM INTO ?", {file.string()});
}

base::Result<std::string> Database::check() {
  std::string problems;
  const Status asked = query("PRAGMA integrity_check(20)", {}, [&](const Row& row) {
    if (row.text(0) == "ok") return;
    if (!problems.empty()) problems += "; ";
    problems += row.text(0);
  });
  if (!asked) return asked;
  return problems;
}

Status transact(Database& database, const std::function<Status()>& work) {
  Status done = database.run("BEGIN IMMEDIATE");
  if (!done) return done;
  done = work();
  if (done) done = database.run("COMMIT");
  // After some errors SQLite has done so by itself.
  if (!done) (void)database.run("ROLLBACK");
  return done;
}

namespace {

// 0: no tables of that part are there.
base::Result<int64_t> version_of(Database& database, std::string_view part) {
  int64_t version = 0;
  bool has_versions = false;
  Status asked = database.query("SELECT 1 FROM sqlite_master WHERE name = 'schema_version'", {},
                                [&](const Row&) { has_versions = true; });
  if (asked && has_versions) {
    asked = database.query("SELECT version FROM schema_version WHERE part = ?", {part},
                           [&](const Row& row) { version = row.integer(0); });
  }
  if (!asked) return asked;
  return version;
}

Status too_new() {
  return {Code::TooNew,
          "a newer gpufl has written this store; use that version, or a backup from before it"};
}

}  // namespace

Status migrate(Database& database, std::string_view part, std::span<const char* const> steps) {
  const auto newest = static_cast<int64_t>(steps.size());
  auto known = version_of(database, part);
  while (known && *known < newest) {
    const Status done = transact(database, [&]() -> Status {
      // Another program may have taken the step meanwhile.
      known = version_of(database, part);
      if (!known || *known >= newest) return known.status();
      Status step = database.run(
          "CREATE TABLE IF NOT EXISTS schema_version (part TEXT PRIMARY KEY, version INTEGER NOT "
          "NULL)");
      if (step) step = database.run_script(steps[static_cast<size_t>(*known)]);
      if (!step) return step;
      return database.run(
          "INSERT INTO schema_version VALUES (?, ?) ON CONFLICT (part) DO UPDATE SET version = "
          "excluded.version",
          {part, *known + 1});
    });
    if (!done) return done;
    known = version_of(database, part);
  }
  if (!known) return known.status();
  return *known > newest ? too_new() : Status();
}

Status expect_version(Database& database, std::string_view part,
                      std::span<const char* const> steps) {
  const auto known = version_of(database, part);
  if (!known) return known.status();
  const auto newest = static_cast<int64_t>(steps.size());
  if (*known > newest) return too_new();
  if (*known == newest) return {};
  return {Code::Unavailable,
          "an older gpufl has written this store; start this version's server on it once, which "
          "brings it up to date"};
}

}  // namespace gpufl::sqlite
