// SPDX-License-Identifier: Apache-2.0
#include "sql/database.hpp"

#include <algorithm>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/json.hpp"
#include "sql/query_check.hpp"
#include "sql/views.hpp"

namespace gpufl::sql {
namespace {

using base::Code;
using base::Status;

// Handles that are given back, whatever happens.
template <typename Handle, auto destroy>
class Owned {
 public:
  explicit Owned(const DuckdbApi& api) : api_(api) {}
  ~Owned() {
    if (handle_ != nullptr) (api_.*destroy)(&handle_);
  }
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  Handle get() const { return handle_; }
  Handle* out() { return &handle_; }

 private:
  const DuckdbApi& api_;
  Handle handle_ = nullptr;
};
using Statements = Owned<duckdb::Statements, &DuckdbApi::destroy_extracted>;
using Prepared = Owned<duckdb::Prepared, &DuckdbApi::destroy_prepare>;
using Pending = Owned<duckdb::Pending, &DuckdbApi::destroy_pending>;
using Chunk = Owned<duckdb::Chunk, &DuckdbApi::destroy_data_chunk>;
using Config = Owned<duckdb::Config, &DuckdbApi::destroy_config>;

class Result {
 public:
  explicit Result(const DuckdbApi& api) : api_(api) {}
  ~Result() { api_.destroy_result(&result_); }
  Result(const Result&) = delete;
  Result& operator=(const Result&) = delete;
  duckdb::Result* get() { return &result_; }

 private:
  const DuckdbApi& api_;
  duckdb::Result result_{};
};

bool is_number(duckdb::Type type) {
  using duckdb::Type;
  constexpr Type kNumbers[] = {Type::TinyInt,  Type::SmallInt,  Type::Integer,  Type::BigInt,
                               Type::UTinyInt, Type::USmallInt, Type::UInteger, Type::UBigInt,
                               Type::Float,    Type::Double,    Type::HugeInt,  Type::Decimal,
                               Type::UHugeInt, Type::BigNum};
  return std::find(std::begin(kNumbers), std::end(kNumbers), type) != std::end(kNumbers);
}

std::string text_or(const char* text, const char* otherwise) {
  return text != nullptr ? text : otherwise;
}

constexpr const char* kOnlyReads =
    "only queries can be asked: SELECT, FROM, WITH, VALUES, DESCRIBE, SHOW, SUMMARIZE and EXPLAIN";

}  // namespace

std::string sql_string(std::string_view text) {
  std::string out = "'";
  for (const char c : text) {
    if (c == '\'') out += '\'';
    out += c;
  }
  return out + "'";
}

base::Result<std::unique_ptr<Database>> Database::open(const DuckdbApi& api,
                                                       TableFunctions& functions,
                                                       const DatabaseOptions& options) {
  std::unique_ptr<Database> database(new Database(api, functions, options));
  const Status status = database->begin();
  if (!status) return status;
  return database;
}

Database::~Database() {
  if (connection_ != nullptr) api_.disconnect(&connection_);
  if (database_ != nullptr) api_.close(&database_);
}

Status Database::begin() {
  Config config(api_);
  if (api_.create_config(config.out()) != duckdb::State::Success) {
    return {Code::Unavailable, "DuckDB does not start"};
  }
  const std::pair<const char*, std::string> settings[] = {
      {"autoinstall_known_extensions", "false"},
      {"autoload_known_extensions", "false"},
      {"allow_community_extensions", "false"},
      {"temp_directory", ""},
      {"memory_limit", fmt::format("{}B", options_.memory_bytes)},
      {"threads", std::to_string(std::max(std::thread::hardware_concurrency(), 1U))}};
  for (const auto& [name, value] : settings) {
    if (api_.set_config(config.get(), name, value.c_str()) != duckdb::State::Success) {
      return {Code::Unsupported, fmt::format("DuckDB {} at {} has no setting {}, without which no "
                                             "query is safe: take another version",
                                             api_.library_version(), api_.path, name)};
    }
  }
  char* why = nullptr;
  if (api_.open_ext(nullptr, &database_, config.get(), &why) != duckdb::State::Success) {
    const Status status = failed(why);
    api_.free(why);
    return status;
  }
  if (api_.connect(database_, &connection_) != duckdb::State::Success) {
    return {Code::Unavailable, "DuckDB does not let us connect"};
  }
  Status status = functions_.register_in(connection_);
  for (const std::unique_ptr<Table>& table : functions_.tables()) {
    if (!status) return status;
    status = execute(fmt::format("create view {0} as from {0}()", table->name()));
  }
  for (const View& view : views()) {
    if (!status) return status;
    status = execute(fmt::format("create view {} as {}", view.name, view.query));
  }
  // Only while files are allowed at all can one of them be named.
  if (status && !options_.output_file.empty()) {
    status = execute(fmt::format("set allowed_paths = [{}]", sql_string(options_.output_file)));
  }
  if (status) status = execute("set enable_external_access = false");
  if (status) status = execute("set lock_configuration = true");
  return status;
}

Status Database::failed(const char* why) const {
  std::string text = text_or(why, "it does not say why");
  return {Code::InvalidArgument, std::move(text)};
}

Status Database::execute(const std::string& statement, uint64_t* rows_changed) {
  Result result(api_);
  if (api_.query(connection_, statement.c_str(), result.get()) != duckdb::State::Success) {
    return failed(api_.result_error(result.get()));
  }
  if (rows_changed != nullptr) *rows_changed = api_.rows_changed(result.get());
  return {};
}

base::Result<Database::Checked> Database::check(const std::string& query) {
  if (query.find('\0') != std::string::npos) {
    return Status(Code::InvalidArgument, "the query has a byte 0 in it");
  }
  Statements statements(api_);
  const uint64_t count = api_.extract_statements(connection_, query.c_str(), statements.out());
  if (count == 0) {
    const char* const why = api_.extract_statements_error(statements.get());
    return why != nullptr && *why != '\0' ? failed(why)
                                          : Status(Code::InvalidArgument, "the query is empty");
  }
  if (count > 1) {
    return Status(Code::InvalidArgument,
                  fmt::format("there are {} statements; ask one at a time", count));
  }
  // Before it is prepared: some functions act as soon as they are bound.
  if (const Status status = check_calls(query); !status) return status;
  Prepared prepared(api_);
  const auto state =
      api_.prepare_extracted_statement(connection_, statements.get(), 0, prepared.out());
  if (state != duckdb::State::Success) return failed(api_.prepare_error(prepared.get()));
  const duckdb::StatementType type = api_.prepared_statement_type(prepared.get());
  if (type != duckdb::StatementType::Select && type != duckdb::StatementType::Explain) {
    return Status(Code::InvalidArgument, kOnlyReads);
  }
  if (api_.nparams(prepared.get()) != 0) {
    return Status(Code::InvalidArgument, "the query has parameters, for which there is no value");
  }
  Checked checked;
  checked.is_explanation = type == duckdb::StatementType::Explain;
  const uint64_t columns = api_.prepared_statement_column_count(prepared.get());
  for (uint64_t i = 0; i < columns; ++i) {
    const char* const name = api_.prepared_statement_column_name(prepared.get(), i);
    const duckdb::Type its_type = api_.prepared_statement_column_type(prepared.get(), i);
    checked.columns.push_back(
        {text_or(name, ""), is_number(its_type), its_type == duckdb::Type::Boolean});
    api_.free(const_cast<char*>(name));  // NOLINT: the interface hands it over as constant
  }
  return checked;
}

Status Database::check_calls(const std::string& query) {
  struct TreeText final : ResultSink {
    std::string text;
    void begin(const std::vector<ResultColumn>& /*columns*/) override {}
    void row(Cells cells) override { text = cells.front().value_or(""); }
  } tree;
  const auto answered = fetch(
      fmt::format("select json_serialize_sql({})::varchar", sql_string(without_explain(query))), 0,
      tree);
  if (!answered) return answered.status();
  // A tree may be nested more deeply than a Json may be; what is wrong never is.
  if (const auto wrong = base::Json::parse(tree.text); wrong && (*wrong)["error"].as_bool()) {
    const std::string& type = (*wrong)["error_type"].as_string();
    return {Code::InvalidArgument,
            type == "not implemented" ? kOnlyReads : (*wrong)["error_message"].as_string()};
  }
  return check_tree(tree.text, [this](std::string_view name) {
    const auto& tables = functions_.tables();
    return std::any_of(tables.begin(), tables.end(),
                       [name](const auto& table) { return table->name() == name; });
  });
}

base::Result<Answered> Database::run(const std::string& query, uint64_t max_rows,
                                     ResultSink& sink) {
  const auto checked = check(query);
  if (!checked) return checked.status();
  sink.begin(checked->columns);
  // DuckDB makes texts of all types, so that none needs code here. The query goes in as a text, and
  // cannot get out of it.
  return fetch(
      checked->is_explanation
          ? query
          : fmt::format("select cast(columns(*) as varchar) from query({})", sql_string(query)),
      max_rows, sink);
}

base::Result<Answered> Database::fetch(const std::string& statement, uint64_t max_rows,
                                       ResultSink& sink) {
  Prepared prepared(api_);
  if (api_.prepare(connection_, statement.c_str(), prepared.out()) != duckdb::State::Success) {
    return failed(api_.prepare_error(prepared.get()));
  }
  Pending pending(api_);
  if (api_.pending_prepared_streaming(prepared.get(), pending.out()) != duckdb::State::Success) {
    return failed(api_.pending_error(pending.get()));
  }
  Result result(api_);
  if (api_.execute_pending(pending.get(), result.get()) != duckdb::State::Success) {
    return failed(api_.result_error(result.get()));
  }
  Answered answered;
  std::vector<std::optional<std::string_view>> cells;
  while (sink.wants_more()) {
    Chunk chunk(api_);
    *chunk.out() = api_.fetch_chunk(*result.get());
    if (chunk.get() == nullptr) break;
    const uint64_t rows = api_.data_chunk_get_size(chunk.get());
    if (rows == 0) break;
    cells.resize(api_.data_chunk_get_column_count(chunk.get()));
    for (uint64_t row = 0; row < rows; ++row) {
      if (max_rows != 0 && answered.rows == max_rows) {
        answered.has_more = true;
        return answered;
      }
      for (size_t i = 0; i < cells.size(); ++i) {
        const duckdb::Vector vector = api_.data_chunk_get_vector(chunk.get(), i);
        const uint64_t* const valid = api_.vector_get_validity(vector);
        const bool is_null = valid != nullptr && (valid[row / 64] >> (row % 64) & 1) == 0;
        const auto* texts = static_cast<const duckdb::Text*>(api_.vector_get_data(vector));
        cells[i] = is_null ? std::nullopt : std::optional(texts[row].view());
      }
      sink.row(cells);
      ++answered.rows;
    }
  }
  const char* const why = api_.result_error(result.get());
  if (why != nullptr && *why != '\0') return failed(why);
  return answered;
}

base::Result<Answered> Database::run_to_parquet(const std::string& query, uint64_t max_rows) {
  const auto checked = check(query);
  if (!checked) return checked.status();
  if (checked->is_explanation) {
    return Status(Code::InvalidArgument, "an explanation is a text; ask for it as a table");
  }
  const std::string limit = max_rows == 0 ? "" : fmt::format(" limit {}", max_rows);
  Answered answered;
  const Status status = execute(
      fmt::format(
          "copy (from query({}){}) to {} (format parquet, compression zstd, use_tmp_file false)",
          sql_string(query), limit, sql_string(options_.output_file)),
      &answered.rows);
  if (!status) return status;
  answered.has_more = max_rows != 0 && answered.rows == max_rows;
  return answered;
}

void Database::interrupt() {
  functions_.cancel();
  if (connection_ != nullptr) api_.interrupt(connection_);
}

}  // namespace gpufl::sql
