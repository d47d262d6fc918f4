// SPDX-License-Identifier: Apache-2.0
#include "sql/table_functions.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <thread>
#include <utility>

namespace gpufl::sql {

using exporting::CellType;

duckdb::Type type_of(CellType type) {
  switch (type) {
    case CellType::Time:
    case CellType::Duration:
    case CellType::Integer: return duckdb::Type::BigInt;
    case CellType::Id: return duckdb::Type::UBigInt;
    case CellType::Real: return duckdb::Type::Double;
    case CellType::Text: return duckdb::Type::Varchar;
  }
  return duckdb::Type::Varchar;
}

std::string_view type_name(CellType type) {
  switch (type_of(type)) {
    case duckdb::Type::BigInt: return "BIGINT";
    case duckdb::Type::UBigInt: return "UBIGINT";
    case duckdb::Type::Double: return "DOUBLE";
    default: return "VARCHAR";
  }
}

namespace {

constexpr const char* kFrom = "from_ns";
constexpr const char* kTo = "to_ns";

// Of one use of a table in a query.
struct Bound {
  TableFunctions* functions;
  const Table* table;
  TimeRange range;
};

// While it runs: threads take one part after the other.
struct Scan {
  Bound bound;
  ScanRequest request;
  std::atomic<size_t> next_part = 0;
};

struct ThreadScan {
  Scan* scan = nullptr;
  std::unique_ptr<TableRows> rows;
};

template <typename T>
void delete_as(void* object) {
  delete static_cast<T*>(object);
}

class Type {
 public:
  Type(const DuckdbApi& api, duckdb::Type type) : api_(api), type_(api.create_logical_type(type)) {}
  ~Type() { api_.destroy_logical_type(&type_); }
  Type(const Type&) = delete;
  Type& operator=(const Type&) = delete;
  duckdb::LogicalType get() const { return type_; }

 private:
  const DuckdbApi& api_;
  duckdb::LogicalType type_;
};

}  // namespace

struct TableCallbacks {
  using Entry = TableFunctions::Entry;
  // DuckDB's functions know no context of ours before they have one of their own.
  static inline const DuckdbApi* api = nullptr;

  template <typename Work, typename Fail>
  static void guarded(Work work, Fail fail) {
    try {
      work();
    } catch (const std::exception& error) {
      fail(error.what());
    } catch (...) {
      fail("unknown failure");
    }
  }

  static void read_bound(duckdb::BindInfo info, const char* name, int64_t& out) {
    duckdb::Value value = api->bind_get_named_parameter(info, name);
    if (value == nullptr) return;
    if (!api->is_null_value(value)) out = api->get_int64(value);
    api->destroy_value(&value);
  }
  static void bind(duckdb::BindInfo info) {
    guarded(
        [&] {
          const auto* entry = static_cast<Entry*>(api->bind_get_extra_info(info));
          auto bound = std::make_unique<Bound>(Bound{entry->functions, entry->table, {}});
          for (const exporting::ColumnHead& column : bound->table->columns()) {
            const Type type(*api, type_of(column.type));
            api->bind_add_result_column(info, column.name.c_str(), type.get());
          }
          if (bound->table->has_range()) {
            read_bound(info, kFrom, bound->range.from_ns);
            read_bound(info, kTo, bound->range.to_ns);
          }
          const auto rows = bound->table->expected_rows();
          if (rows) api->bind_set_cardinality(info, *rows, false);
          api->bind_set_bind_data(info, bound.release(), delete_as<Bound>);
        },
        [&](const char* why) { api->bind_set_error(info, why); });
  }
  static void init(duckdb::InitInfo info) {
    guarded(
        [&] {
          auto scan = std::make_unique<Scan>();
          scan->bound = *static_cast<Bound*>(api->init_get_bind_data(info));
          scan->request.range = scan->bound.range;
          const uint64_t columns = api->init_get_column_count(info);
          for (uint64_t i = 0; i < columns; ++i) {
            scan->request.columns.push_back(api->init_get_column_index(info, i));
          }
          const size_t threads = std::max(std::thread::hardware_concurrency(), 1U);
          api->init_set_max_threads(info,
                                    std::clamp<size_t>(scan->bound.table->parts(), 1, threads));
          api->init_set_init_data(info, scan.release(), delete_as<Scan>);
        },
        [&](const char* why) { api->init_set_error(info, why); });
  }
  static void init_thread(duckdb::InitInfo info) {
    guarded([&] { api->init_set_init_data(info, new ThreadScan, delete_as<ThreadScan>); },
            [&](const char* why) { api->init_set_error(info, why); });
  }
  static void read(duckdb::FunctionInfo info, duckdb::Chunk chunk) {
    guarded(
        [&] {
          auto* thread = static_cast<ThreadScan*>(api->function_get_local_init_data(info));
          thread->scan = static_cast<Scan*>(api->function_get_init_data(info));
          const base::Result<size_t> rows = read_some(*thread, chunk);
          if (rows) {
            api->data_chunk_set_size(chunk, *rows);
          } else {
            api->function_set_error(info, rows.status().message().c_str());
          }
        },
        [&](const char* why) { api->function_set_error(info, why); });
  }

 private:
  static base::Result<size_t> read_some(ThreadScan& thread, duckdb::Chunk chunk) {
    Scan& scan = *thread.scan;
    const size_t wanted = scan.request.columns.size();
    std::vector<OutputVector> out(wanted);
    for (size_t i = 0; i < wanted; ++i) {
      const duckdb::Vector vector = api->data_chunk_get_vector(chunk, i);
      api->vector_ensure_validity_writable(vector);
      out[i] = {api->vector_get_data(vector), api->vector_get_validity(vector), vector};
    }
    while (true) {
      if (thread.rows == nullptr) {
        const size_t part = scan.next_part++;
        if (part >= scan.bound.table->parts()) return size_t{0};
        TableFunctions& functions = *scan.bound.functions;
        thread.rows = scan.bound.table->open(
            part, scan.request, {*api, functions.new_store(), functions.is_cancelled()});
      }
      base::Result<size_t> rows = thread.rows->next(out);
      if (!rows || *rows != 0) return rows;
      thread.rows.reset();
    }
  }
};

base::Status TableFunctions::register_in(duckdb::Connection connection) {
  TableCallbacks::api = &api_;
  for (const std::unique_ptr<Table>& table : tables_) {
    duckdb::TableFunction function = api_.create_table_function();
    api_.table_function_set_name(function, table->name().c_str());
    if (table->has_range()) {
      const Type integer(api_, duckdb::Type::BigInt);
      api_.table_function_add_named_parameter(function, kFrom, integer.get());
      api_.table_function_add_named_parameter(function, kTo, integer.get());
    }
    api_.table_function_set_extra_info(function, &entries_.emplace_back(Entry{this, table.get()}),
                                       nullptr);
    api_.table_function_set_bind(function, TableCallbacks::bind);
    api_.table_function_set_init(function, TableCallbacks::init);
    api_.table_function_set_local_init(function, TableCallbacks::init_thread);
    api_.table_function_set_function(function, TableCallbacks::read);
    api_.table_function_supports_projection_pushdown(function, true);
    const auto state = api_.register_table_function(connection, function);
    api_.destroy_table_function(&function);
    if (state != duckdb::State::Success) {
      return {base::Code::Unavailable, "DuckDB does not take the table " + table->name()};
    }
  }
  return {};
}

TextStore& TableFunctions::new_store() {
  const std::lock_guard lock(mutex_);
  return stores_.emplace_back();
}

}  // namespace gpufl::sql
