// SPDX-License-Identifier: Apache-2.0
#include "export/json_document.hpp"

#include <string>

#include "base/json.hpp"
#include "export/json_text.hpp"
#include "export/table_columns.hpp"
#include "timeline/run_axis.hpp"
#include "timeline/session_texts.hpp"

namespace gpufl::exporting {
namespace {

class JsonCells final : public CellSink {
 public:
  explicit JsonCells(std::string& line) : line_(line) {}
  void unknown() override { line_ += "null"; }
  void integer(int64_t value) override { append_number(line_, value); }
  void id(uint64_t value) override {
    line_ += '"';
    append_number(line_, value);
    line_ += '"';
  }
  void real(double value) override { append_real(line_, value); }
  void text(std::string_view value) override { base::append_json_string(line_, value); }

 private:
  std::string& line_;
};

void write_table(const ExportTable& table, OutputFile& out, Progress& progress) {
  base::Json columns = base::Json::array();
  for (const TableColumn& column : table.columns) {
    columns.push(base::Json::object()
                     .set("name", column.head.name)
                     .set("type", to_string(column.head.type)));
  }
  out.write(base::Json(table.name).dump() + ":{\"columns\":" + columns.dump() + ",\"rows\":[");
  std::string line;
  JsonCells cells(line);
  for (size_t row = 0; row < table.rows && !progress.is_stopped(); ++row) {
    line = row == 0 ? "\n[" : ",\n[";
    for (size_t i = 0; i < table.columns.size(); ++i) {
      if (i != 0) line += ',';
      table.columns[i].read(row, cells);
    }
    line += ']';
    out.write(line);
    progress.add(1);
  }
  out.write("]}");
}

// Everything of a session but its tables, without the closing brace.
std::string session_head(const analysis::SessionSummary& summary, int64_t offset_ns) {
  base::Json head = base::Json::object();
  head.set("header", summary.header.to_json())
      .set("offset_ns", std::to_string(offset_ns))
      .set("duration_ns", summary.duration_ns)
      .set("duration_is_lower_bound", !summary.ended)
      .set("ended", summary.ended)
      .set("ledger", summary.ledger ? summary.ledger->to_json() : base::Json());
  base::Json devices = base::Json::array();
  for (const base::Json& device : summary.devices) devices.push(device);
  head.set("devices", devices);
  std::string text = head.dump();
  text.pop_back();
  return text;
}

}  // namespace

void write_json(const analysis::RunData& run, OutputFile& out, Progress& progress) {
  out.write("{\"format\":\"gpufl-export\",\"version\":1,\"run_id\":" + base::Json(run.id).dump() +
            ",\"sessions\":[");
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    const timeline::SessionTexts texts(run.sessions[i]);
    if (i != 0) out.write(",");
    out.write("\n" + session_head(run.sessions[i].summary, timeline::offset_of(run, i)) +
              ",\"tables\":{");
    bool is_first = true;
    for (const ExportTable& table : export_tables(texts)) {
      out.write(is_first ? "\n" : ",\n");
      is_first = false;
      write_table(table, out, progress);
    }
    out.write("}}");
  }
  out.write("\n]}\n");
}

}  // namespace gpufl::exporting
