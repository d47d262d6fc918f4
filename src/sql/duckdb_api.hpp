// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/status.hpp"

// The part of DuckDB's C interface that this room calls: its handles, numbers and functions, which
// are the same in every 1.x and 2.x library. The library is opened at run time and stays open; the
// table is constant afterwards. Any thread.
namespace gpufl::sql {

namespace duckdb {

using Database = struct DatabaseHandle*;
using Connection = struct ConnectionHandle*;
using Config = struct ConfigHandle*;
using Statements = struct StatementsHandle*;
using Prepared = struct PreparedHandle*;
using Pending = struct PendingHandle*;
using LogicalType = struct LogicalTypeHandle*;
using Value = struct ValueHandle*;
using Chunk = struct ChunkHandle*;
using Vector = struct VectorHandle*;
using TableFunction = struct TableFunctionHandle*;
using BindInfo = struct BindInfoHandle*;
using InitInfo = struct InitInfoHandle*;
using FunctionInfo = struct FunctionInfoHandle*;

struct Result {
  uint64_t former_counts[3];
  void* former_columns;
  char* former_message;
  void* internal;
};

enum class State : int { Success = 0, Error = 1 };

enum class Type : int {
  Boolean = 1,
  TinyInt = 2,
  SmallInt = 3,
  Integer = 4,
  BigInt = 5,
  UTinyInt = 6,
  USmallInt = 7,
  UInteger = 8,
  UBigInt = 9,
  Float = 10,
  Double = 11,
  HugeInt = 16,
  Varchar = 17,
  Decimal = 19,
  UHugeInt = 32,
  BigNum = 35,
};

enum class StatementType : int { Select = 1, Explain = 4 };

// A text in a vector. Short ones stand in it; of longer ones four bytes and a pointer to all.
struct Text {
  static constexpr size_t kInlined = 12, kPrefix = 4;
  uint32_t length;
  char bytes[kInlined];

  // Of longer ones the memory of `text`, which stays where it is.
  static Text of(std::string_view text) {
    Text out{static_cast<uint32_t>(text.size()), {}};
    if (text.size() <= kInlined) {
      std::memcpy(out.bytes, text.data(), text.size());
    } else {
      const char* const pointer = text.data();
      std::memcpy(out.bytes, pointer, kPrefix);
      std::memcpy(out.bytes + kPrefix, &pointer, sizeof pointer);
    }
    return out;
  }
  std::string_view view() const {
    const char* pointer = bytes;
    if (length > kInlined) std::memcpy(&pointer, bytes + kPrefix, sizeof pointer);
    return {pointer, length};
  }
};
static_assert(sizeof(Text) == 16);

}  // namespace duckdb

// X(result, name, arguments)
// clang-format off
#define GPUFL_DUCKDB_FUNCTIONS(X)                                                                  \
  X(const char*, library_version, ())                                                              \
  X(void, free, (void*))                                                                           \
  X(duckdb::State, create_config, (duckdb::Config*))                                               \
  X(duckdb::State, set_config, (duckdb::Config, const char*, const char*))                         \
  X(void, destroy_config, (duckdb::Config*))                                                       \
  X(duckdb::State, open_ext, (const char*, duckdb::Database*, duckdb::Config, char**))             \
  X(void, close, (duckdb::Database*))                                                              \
  X(duckdb::State, connect, (duckdb::Database, duckdb::Connection*))                               \
  X(void, disconnect, (duckdb::Connection*))                                                       \
  X(void, interrupt, (duckdb::Connection))                                                         \
  X(duckdb::State, query, (duckdb::Connection, const char*, duckdb::Result*))                      \
  X(const char*, result_error, (duckdb::Result*))                                                  \
  X(void, destroy_result, (duckdb::Result*))                                                       \
  X(uint64_t, extract_statements, (duckdb::Connection, const char*, duckdb::Statements*))          \
  X(const char*, extract_statements_error, (duckdb::Statements))                                   \
  X(void, destroy_extracted, (duckdb::Statements*))                                                \
  X(duckdb::State, prepare_extracted_statement,                                                    \
    (duckdb::Connection, duckdb::Statements, uint64_t, duckdb::Prepared*))                         \
  X(duckdb::State, prepare, (duckdb::Connection, const char*, duckdb::Prepared*))                  \
  X(const char*, prepare_error, (duckdb::Prepared))                                                \
  X(void, destroy_prepare, (duckdb::Prepared*))                                                    \
  X(uint64_t, nparams, (duckdb::Prepared))                                                         \
  X(duckdb::StatementType, prepared_statement_type, (duckdb::Prepared))                            \
  X(uint64_t, prepared_statement_column_count, (duckdb::Prepared))                                 \
  X(const char*, prepared_statement_column_name, (duckdb::Prepared, uint64_t))                     \
  X(duckdb::Type, prepared_statement_column_type, (duckdb::Prepared, uint64_t))                    \
  X(duckdb::State, pending_prepared_streaming, (duckdb::Prepared, duckdb::Pending*))               \
  X(const char*, pending_error, (duckdb::Pending))                                                 \
  X(duckdb::State, execute_pending, (duckdb::Pending, duckdb::Result*))                            \
  X(void, destroy_pending, (duckdb::Pending*))                                                     \
  X(duckdb::Chunk, fetch_chunk, (duckdb::Result))                                                  \
  X(uint64_t, rows_changed, (duckdb::Result*))                                                     \
  X(void, destroy_data_chunk, (duckdb::Chunk*))                                                    \
  X(uint64_t, data_chunk_get_size, (duckdb::Chunk))                                                \
  X(void, data_chunk_set_size, (duckdb::Chunk, uint64_t))                                          \
  X(uint64_t, data_chunk_get_column_count, (duckdb::Chunk))                                        \
  X(duckdb::Vector, data_chunk_get_vector, (duckdb::Chunk, uint64_t))                              \
  X(void*, vector_get_data, (duckdb::Vector))                                                      \
  X(uint64_t*, vector_get_validity, (duckdb::Vector))                                              \
  X(void, vector_ensure_validity_writable, (duckdb::Vector))                                       \
  X(uint64_t, vector_size, ())                                                                     \
  X(duckdb::LogicalType, create_logical_type, (duckdb::Type))                                      \
  X(void, destroy_logical_type, (duckdb::LogicalType*))                                            \
  X(int64_t, get_int64, (duckdb::Value))                                                           \
  X(bool, is_null_value, (duckdb::Value))                                                          \
  X(duckdb::Value, create_int64, (int64_t))                                                        \
  X(duckdb::Value, create_varchar_length, (const char*, uint64_t))                                 \
  X(void, vector_reference_value, (duckdb::Vector, duckdb::Value))                                 \
  X(void, destroy_value, (duckdb::Value*))                                                         \
  X(duckdb::TableFunction, create_table_function, ())                                              \
  X(void, destroy_table_function, (duckdb::TableFunction*))                                        \
  X(void, table_function_set_name, (duckdb::TableFunction, const char*))                           \
  X(void, table_function_add_named_parameter,                                                      \
    (duckdb::TableFunction, const char*, duckdb::LogicalType))                                     \
  X(void, table_function_set_extra_info, (duckdb::TableFunction, void*, void (*)(void*)))          \
  X(void, table_function_set_bind, (duckdb::TableFunction, void (*)(duckdb::BindInfo)))            \
  X(void, table_function_set_init, (duckdb::TableFunction, void (*)(duckdb::InitInfo)))            \
  X(void, table_function_set_local_init, (duckdb::TableFunction, void (*)(duckdb::InitInfo)))      \
  X(void, table_function_set_function,                                                             \
    (duckdb::TableFunction, void (*)(duckdb::FunctionInfo, duckdb::Chunk)))                        \
  X(void, table_function_supports_projection_pushdown, (duckdb::TableFunction, bool))              \
  X(duckdb::State, register_table_function, (duckdb::Connection, duckdb::TableFunction))           \
  X(void*, bind_get_extra_info, (duckdb::BindInfo))                                                \
  X(void, bind_add_result_column, (duckdb::BindInfo, const char*, duckdb::LogicalType))            \
  X(duckdb::Value, bind_get_named_parameter, (duckdb::BindInfo, const char*))                      \
  X(void, bind_set_bind_data, (duckdb::BindInfo, void*, void (*)(void*)))                          \
  X(void, bind_set_cardinality, (duckdb::BindInfo, uint64_t, bool))                                \
  X(void, bind_set_error, (duckdb::BindInfo, const char*))                                         \
  X(void*, init_get_bind_data, (duckdb::InitInfo))                                                 \
  X(uint64_t, init_get_column_count, (duckdb::InitInfo))                                           \
  X(uint64_t, init_get_column_index, (duckdb::InitInfo, uint64_t))                                 \
  X(void, init_set_init_data, (duckdb::InitInfo, void*, void (*)(void*)))                          \
  X(void, init_set_max_threads, (duckdb::InitInfo, uint64_t))                                      \
  X(void, init_set_error, (duckdb::InitInfo, const char*))                                         \
  X(void*, function_get_init_data, (duckdb::FunctionInfo))                                         \
  X(void*, function_get_local_init_data, (duckdb::FunctionInfo))                                   \
  X(void, function_set_error, (duckdb::FunctionInfo, const char*))
// clang-format on

struct DuckdbApi {
#define GPUFL_DECLARE(result, name, arguments) result(*name) arguments = nullptr;
  GPUFL_DUCKDB_FUNCTIONS(GPUFL_DECLARE)
#undef GPUFL_DECLARE
  std::string path;  // of the library
};

// The library at `path`, or the one that the loader finds by that name. Unavailable where it is
// none, or lacks a function; NotFound where there is no such file.
base::Result<DuckdbApi> open_duckdb(const std::string& path);

}  // namespace gpufl::sql
