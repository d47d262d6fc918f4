// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <utility>

#include "sql/session_table.hpp"
#include "timeline/session_texts.hpp"

namespace gpufl::sql {
namespace {

using exporting::CellType;
using exporting::ColumnHead;
using exporting::kUnknownCell;
using format::SessionHeader;

struct ListColumn {
  ColumnHead head;
  std::string (*text)(const QuerySession&) = nullptr;
  int64_t (*number)(const QuerySession&) = nullptr;
};

template <auto member>
std::string header_text(const QuerySession& session) {
  return session.reader.header().*member;
}
template <auto member>
int64_t header_number(const QuerySession& session) {
  return (session.reader.header().*member).value_or(kUnknownCell);
}

const std::vector<ListColumn>& list_columns() {
  static const std::vector<ListColumn> columns = {
      {{"session", CellType::Text, "", "id of the session"},
       header_text<&SessionHeader::session_id>},
      {{"run", CellType::Text, "", "id of the run, which all processes of one launch share"},
       header_text<&SessionHeader::run_id>},
      {{"rank", CellType::Integer, "", "rank of the process within the run, if it has one"},
       nullptr,
       header_number<&SessionHeader::rank>},
      {{"world_size", CellType::Integer, "processes", "of how many ranks"},
       nullptr,
       header_number<&SessionHeader::world_size>},
      {{"local_rank", CellType::Integer, "", "rank on its machine"},
       nullptr,
       header_number<&SessionHeader::local_rank>},
      {{"offset_ns", CellType::Duration, "ns",
        "by how much its time 0 is after that of the earliest session of its run"},
       nullptr,
       [](const QuerySession& session) { return session.offset_ns; }},
      {{"started_ns", CellType::Integer, "ns", "when it began, since 1970 (UTC)"},
       nullptr,
       [](const QuerySession& session) { return session.reader.header().start_wall_ns; }},
      {{"app", CellType::Text, "", "name that the program gave itself"},
       header_text<&SessionHeader::app_name>},
      {{"process", CellType::Text, "", "name of the process"},
       header_text<&SessionHeader::process>},
      {{"command", CellType::Text, "", "command line"}, header_text<&SessionHeader::command>},
      {{"pid", CellType::Integer, "", "process id"},
       nullptr,
       [](const QuerySession& session) {
         const int64_t pid = session.reader.header().pid;
         return pid > 0 ? pid : kUnknownCell;
       }},
      {{"host", CellType::Text, "", "name of the machine"}, header_text<&SessionHeader::host>},
      {{"engine", CellType::Text, "", "how much was recorded: `Monitor`, `Trace`, …"},
       header_text<&SessionHeader::engine>},
      {{"backend", CellType::Text, "", "whose GPUs: `nvidia`, `none`, …"},
       header_text<&SessionHeader::backend>},
      {{"gpufl_version", CellType::Text, "", "version of GPUFlight that recorded it"},
       header_text<&SessionHeader::gpufl_version>},
      {{"live", CellType::Integer, "0 or 1", "1: it is still being recorded"},
       nullptr,
       [](const QuerySession& session) { return int64_t{session.reader.is_live()}; }},
      {{"folder", CellType::Text, "", "where it lies"},
       [](const QuerySession& session) { return session.reader.dir().string(); }},
  };
  return columns;
}

std::vector<ColumnHead> heads() {
  std::vector<ColumnHead> heads;
  for (const ListColumn& column : list_columns()) heads.push_back(column.head);
  return heads;
}

class ListRows final : public TableRows {
 public:
  ListRows(const std::vector<QuerySession>& sessions, std::vector<size_t> columns, TextStore& texts)
      : sessions_(sessions), columns_(std::move(columns)), texts_(texts) {}

  base::Result<size_t> next(std::span<const OutputVector> out) override {
    const size_t count = std::min(sessions_.size() - at_, kVectorRows);
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i] >= list_columns().size()) continue;  // only rows are counted
      for (size_t row = 0; row < count; ++row) {
        write(list_columns()[columns_[i]], sessions_[at_ + row], row, out[i]);
      }
    }
    at_ += count;
    return count;
  }

 private:
  void write(const ListColumn& column, const QuerySession& session, size_t row,
             const OutputVector& out) {
    if (column.text != nullptr) {
      const std::string text = timeline::valid_utf8(column.text(session));
      out.as<duckdb::Text>()[row] = texts_.add(text);
      if (text.empty()) out.set_null(row);
    } else {
      const int64_t number = column.number(session);
      out.as<int64_t>()[row] = number;
      if (number == kUnknownCell) out.set_null(row);
    }
  }

  const std::vector<QuerySession>& sessions_;
  const std::vector<size_t> columns_;
  TextStore& texts_;
  size_t at_ = 0;
};

class ListTable final : public Table {
 public:
  explicit ListTable(const SessionSet& sessions)
      : Table("sessions", "One row per session that the query reads.", heads()),
        sessions_(sessions) {}

  std::optional<uint64_t> expected_rows() const override { return sessions_.sessions().size(); }
  std::unique_ptr<TableRows> open(size_t /*part*/, const ScanRequest& request,
                                  const ScanPlace& place) const override {
    return std::make_unique<ListRows>(sessions_.sessions(), request.columns, place.texts);
  }

 private:
  const SessionSet& sessions_;
};

}  // namespace

std::unique_ptr<Table> session_list(const SessionSet& sessions) {
  return std::make_unique<ListTable>(sessions);
}

}  // namespace gpufl::sql
