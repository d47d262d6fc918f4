// SPDX-License-Identifier: Apache-2.0
#include "sql/session_table.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "export/table_list.hpp"
#include "sql/piece_reader.hpp"
#include "sql/row_columns.hpp"
#include "sql/session_context.hpp"

namespace gpufl::sql {
namespace {

using exporting::CellType;
using exporting::ColumnHead;
using format::Kind;

// What every table begins with.
enum Prefix : size_t { kSession, kRank, kOffset, kPrefixCount };

std::vector<ColumnHead> prefix_columns() {
  return {{"session", CellType::Text, "", "id of the session"},
          {"rank", CellType::Integer, "", "rank of its process within the run, if it has one"},
          {"offset_ns", CellType::Duration, "ns",
           "by how much its time 0 is after that of the earliest session of its run"}};
}

// A Table of export/session_tables.hpp that keeps what its columns are.
class Heads {
 public:
  static constexpr bool kIsResolved = true;
  std::vector<ColumnHead> list = prefix_columns();

  bool wants(std::string_view /*name*/) const { return true; }
  template <typename... Rest>
  void number(ColumnHead head, const Rest&...) {
    list.push_back(std::move(head));
  }
  template <typename... Rest>
  void computed(ColumnHead head, const Rest&...) {
    list.push_back(std::move(head));
  }
  template <typename... Rest>
  void looked_up(ColumnHead head, const Rest&...) {
    list.push_back(std::move(head));
  }
  template <typename... Rest>
  void ids(ColumnHead head, const Rest&...) {
    list.push_back(std::move(head));
  }
  template <typename... Rest>
  void reals(ColumnHead head, const Rest&...) {
    list.push_back(std::move(head));
  }
  template <typename... Rest>
  void texts(ColumnHead head, const Rest&...) {
    list.push_back(std::move(head));
  }
  template <typename... Rest>
  void texts_by(ColumnHead head, const Rest&...) {
    list.push_back(std::move(head));
  }
  void keep(const std::shared_ptr<const void>& /*memory*/) {}
};

// What only queries have: to join with tools that know the names of symbols.
template <typename Table>
void add_more(Table& table, const timeline::SessionTexts& texts, Kind kind) {
  if (kind != Kind::Kernel) return;
  table.texts({"mangled_name", CellType::Text, "", "name as the compiler made it"},
              texts.tables().kernels.config, [&texts](uint64_t config) {
                const auto& configs = texts.tables().configs;
                return config < configs.size() ? texts.name(configs[config].name) : std::string();
              });
}

template <typename Table>
const exporting::SessionTable<Table>& table_of(Kind kind) {
  static const auto list = exporting::session_tables<Table>();
  return *std::find_if(list.begin(), list.end(), [kind](const auto& table) {
    return table.kind == kind && !table.file.empty();
  });
}

std::vector<ColumnHead> columns_of(Kind kind) {
  static const analysis::SessionData nothing;
  static const timeline::SessionTexts texts(nothing);
  Heads heads;
  table_of<Heads>(kind).describe(heads, texts, kind);
  add_more(heads, texts, kind);
  return std::move(heads.list);
}

class SessionRows final : public TableRows {
 public:
  SessionRows(const SessionSet& sessions, size_t session, Kind kind, std::vector<std::string> names,
              const TimeRange& range, const ScanPlace& place)
      : sessions_(sessions),
        session_(session),
        kind_(kind),
        names_(std::move(names)),
        range_(range),
        place_(place),
        caches_(names_.size()),
        id_(timeline::valid_utf8(of().reader.header().session_id)) {}

  base::Result<size_t> next(std::span<const OutputVector> out) override {
    if (texts_ == nullptr) begin();
    while (at_ == rows_) {
      const auto more = take_piece();
      if (!more) return more.status();
      if (!*more) return size_t{0};
    }
    const size_t count = std::min(rows_ - at_, kVectorRows);
    for (size_t i = 0; i < out.size(); ++i) write(i, count, out[i]);
    at_ += count;
    return count;
  }

 private:
  const QuerySession& of() const { return sessions_.sessions()[session_]; }

  void begin() {
    SessionContext context =
        read_context(sessions_, session_, needs_of(kind_, names_), place_.is_cancelled);
    data_ = std::move(context.data);
    texts_ = std::make_unique<timeline::SessionTexts>(data_);
    // Scopes came with the context, because each may need any other.
    if (kind_ == Kind::Scope) return describe();
    reader_.emplace(of().reader, kind_, range_, std::move(context.builder), place_.is_cancelled);
  }
  // Whether there was one.
  base::Result<bool> take_piece() {
    if (place_.is_cancelled) return base::Status(base::Code::Cancelled, "the query was stopped");
    if (!reader_) return false;
    auto piece = reader_->next();
    if (!piece) return piece.status();
    if (!*piece) {
      sessions_.note(session_, reader_->problems());
      reader_.reset();
      return false;
    }
    const analysis::TablePiece::Ids fresh = (*piece)->ids;
    columns_.reset();
    analysis::take_piece(std::move(**piece), data_.tables);
    texts_->update(fresh);
    describe();
    return true;
  }
  void describe() {
    const auto& table = table_of<RowColumns>(kind_);
    rows_ = table.rows(data_.tables, kind_);
    at_ = 0;
    columns_.emplace(names_, caches_, place_.texts);
    table.describe(*columns_, *texts_, kind_);
    add_more(*columns_, *texts_, kind_);
  }
  void write(size_t column, size_t count, const OutputVector& out) {
    const std::string& name = names_[column];
    const auto& write_rows = columns_->writes()[column];
    const auto& rank = of().reader.header().rank;
    const DuckdbApi& api = place_.api;
    if (write_rows) {
      write_rows(at_, count, out);
    } else if (name == "session") {
      out.set_all(api, api.create_varchar_length(id_.data(), id_.size()));
    } else if (name == "offset_ns") {
      out.set_all(api, api.create_int64(of().offset_ns));
    } else if (name == "rank" && rank) {
      out.set_all(api, api.create_int64(*rank));
    } else {
      for (size_t i = 0; i < count; ++i) out.set_null(i);
    }
  }

  const SessionSet& sessions_;
  const size_t session_;
  const Kind kind_;
  const std::vector<std::string> names_;
  const TimeRange range_;
  const ScanPlace place_;
  std::vector<TextCache> caches_;
  const std::string id_;
  analysis::SessionData data_;
  std::unique_ptr<timeline::SessionTexts> texts_;  // of data_
  std::optional<PieceReader> reader_;
  std::optional<RowColumns> columns_;  // of the rows that data_ holds now
  size_t rows_ = 0, at_ = 0;
};

class KindTable final : public Table {
 public:
  KindTable(const SessionSet& sessions, Kind kind)
      : Table(std::string(format::spec(kind).file), std::string(format::spec(kind).sentence),
              columns_of(kind)),
        sessions_(sessions),
        kind_(kind) {}

  // Scopes are read as a whole.
  bool has_range() const override {
    return kind_ != Kind::Scope && format::first_time(format::spec(kind_)) != format::kNoColumn;
  }
  size_t parts() const override { return sessions_.sessions().size(); }
  std::optional<uint64_t> expected_rows() const override {
    uint64_t rows = 0;
    for (const QuerySession& session : sessions_.sessions()) {
      for (const format::WindowFile& window : session.reader.windows()) {
        if (window.channel == format::spec(kind_).channel) rows += window.rows;
      }
    }
    return rows;
  }
  std::unique_ptr<TableRows> open(size_t part, const ScanRequest& request,
                                  const ScanPlace& place) const override {
    std::vector<std::string> names;
    // Where a query counts rows alone, DuckDB asks for a column that there is not.
    for (const size_t column : request.columns) {
      names.push_back(column < columns().size() ? columns()[column].name : "");
    }
    return std::make_unique<SessionRows>(sessions_, part, kind_, std::move(names), request.range,
                                         place);
  }

 private:
  const SessionSet& sessions_;
  const Kind kind_;
};

}  // namespace

std::vector<std::unique_ptr<Table>> session_tables(const SessionSet& sessions) {
  std::vector<std::unique_ptr<Table>> tables;
  for (const auto& table : exporting::session_tables<Heads>()) {
    if (!table.file.empty()) tables.push_back(std::make_unique<KindTable>(sessions, table.kind));
  }
  return tables;
}

}  // namespace gpufl::sql
