// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.hpp"

struct sqlite3;
struct sqlite3_stmt;

// An SQLite file: statements with values, transactions, migrations, copies. SQL is the caller's own
// text, and whatever comes from elsewhere is a value. One thread at a time; statements are prepared
// once for each text.
namespace gpufl::sqlite {

// What a `?` stands for. Texts and blobs are read while the statement runs, and not kept.
class Value {
 public:
  Value(std::nullopt_t) {}                         // NOLINT(google-explicit-constructor)
  Value(int64_t number) : number_(number) {}       // NOLINT(google-explicit-constructor)
  Value(std::string_view text) : text_(text) {}    // NOLINT(google-explicit-constructor)
  Value(const std::string& text) : text_(text) {}  // NOLINT(google-explicit-constructor)
  Value(const char* text) : text_(text) {}         // NOLINT(google-explicit-constructor)
  // NOLINTNEXTLINE(google-explicit-constructor)
  Value(const std::optional<int64_t>& number) : number_(number) {}
  static Value blob(std::string_view bytes) {
    Value value(bytes);
    value.is_blob_ = true;
    return value;
  }

  // The position of the value counts from 1. False: it is too large.
  bool bind(sqlite3_stmt* statement, int position) const;

 private:
  std::optional<int64_t> number_;
  std::optional<std::string_view> text_;
  bool is_blob_ = false;
};
using Values = std::initializer_list<Value>;

// One row of an answer, columns from 0; holds until the next row.
class Row {
 public:
  explicit Row(sqlite3_stmt* statement) : statement_(statement) {}
  // `fallback` where it is not a number.
  int64_t integer(size_t column, int64_t fallback = -1) const;
  std::string_view text(size_t column) const;  // empty where it is not a text
  std::string_view blob(size_t column) const;
  bool has(size_t column) const;  // it is not NULL

 private:
  sqlite3_stmt* statement_;
};
using RowVisitor = std::function<void(const Row& row)>;

class Database {
 public:
  enum class Mode : uint8_t {
    Existing,  // read only, as it is
    Durable,   // made where it does not exist; what is committed outlives a loss of power
  };
  static base::Result<std::unique_ptr<Database>> open(const std::filesystem::path& path, Mode mode);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  // One statement; what it answers is passed over. LimitReached: the disk is full. Unavailable:
  // another program keeps it locked. InvalidArgument: a value that a constraint forbids.
  base::Status run(std::string_view sql, Values values = {});
  // One statement, and `see` for each row of its answer.
  base::Status query(std::string_view sql, Values values, const RowVisitor& see);
  // Several statements, without values.
  base::Status run_script(const char* sql);

  int64_t last_insert_id() const;
  int64_t changed_rows() const;  // by the last statement
  // A copy as of this moment, while others write. The file must not exist.
  base::Status copy_to(const std::filesystem::path& file);
  // Whether the file is whole: nothing, or what is wrong with it.
  base::Result<std::string> check();

 private:
  explicit Database(sqlite3* file, std::string name) : file_(file), name_(std::move(name)) {}

  base::Result<sqlite3_stmt*> prepare(std::string_view sql);
  base::Status failure(int code) const;

  sqlite3* file_;
  const std::string name_;  // for messages
  std::map<std::string, sqlite3_stmt*, std::less<>> statements_;
};

// All that `work` does to the database, or nothing of it: where this returns an error. Work is not
// called where no transaction can begin, because another program keeps the file locked.
base::Status transact(Database& database, const std::function<base::Status()>& work);

// Brings the tables of `part` up to date: step N leads from version N to N+1, each in a transaction
// of its own. TooNew: a later version of this program has written them.
base::Status migrate(Database& database, std::string_view part, std::span<const char* const> steps);
// Whether they are up to date already; nothing is changed. Unavailable: they are older.
base::Status expect_version(Database& database, std::string_view part,
                            std::span<const char* const> steps);

}  // namespace gpufl::sqlite
