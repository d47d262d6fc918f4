// SPDX-License-Identifier: Apache-2.0
#include "export/csv.hpp"

#include <list>
#include <map>
#include <string>
#include <utility>

#include "export/json_text.hpp"
#include "export/table_columns.hpp"
#include "timeline/run_axis.hpp"
#include "timeline/session_texts.hpp"

namespace gpufl::exporting {
namespace {

class CsvCells final : public CellSink {
 public:
  explicit CsvCells(std::string& line) : line_(line) {}
  void unknown() override {}
  void integer(int64_t value) override { append_number(line_, value); }
  void id(uint64_t value) override { append_number(line_, value); }
  void real(double value) override { append_number(line_, value); }
  void text(std::string_view value) override { append_csv_field(line_, value); }

 private:
  std::string& line_;
};

void write_rows(const ExportTable& table, const std::string& session, OutputFile& out,
                Progress& progress) {
  std::string line;
  CsvCells cells(line);
  for (size_t row = 0; row < table.rows && !progress.is_stopped(); ++row) {
    line = session;
    for (const TableColumn& column : table.columns) {
      line += ',';
      column.read(row, cells);
    }
    line += "\r\n";
    out.write(line);
    progress.add(1);
  }
}

std::string header_line(const ExportTable& table) {
  std::string line = "session,rank,offset_ns";
  for (const TableColumn& column : table.columns) line += "," + column.head.name;
  return line + "\r\n";
}

}  // namespace

void append_csv_field(std::string& out, std::string_view text) {
  // A line of one empty field would read as no field at all.
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string_view::npos) {
    out += text;
    return;
  }
  out += '"';
  for (const char c : text) {
    if (c == '"') out += '"';
    out += c;
  }
  out += '"';
}

base::Result<std::vector<OutputFile>> write_csv(const analysis::RunData& run,
                                                const std::filesystem::path& folder, bool overwrite,
                                                Progress& progress) {
  std::map<std::string, OutputFile> files;
  for (size_t i = 0; i < run.sessions.size(); ++i) {
    const analysis::SessionData& session = run.sessions[i];
    const timeline::SessionTexts texts(session);
    const format::SessionHeader& header = session.summary.header;
    std::string prefix;
    append_csv_field(prefix, timeline::valid_utf8(header.session_id));
    prefix += "," + (header.rank ? std::to_string(*header.rank) : "");
    prefix += "," + std::to_string(timeline::offset_of(run, i));
    for (const ExportTable& table : export_tables(texts)) {
      auto file = files.find(table.name);
      if (file == files.end()) {
        auto opened = OutputFile::open(folder / (table.name + ".csv"), {false, overwrite});
        if (!opened) return opened.status();
        file = files.emplace(table.name, std::move(*opened)).first;
        file->second.write(header_line(table));
      }
      write_rows(table, prefix, file->second, progress);
    }
  }
  std::vector<OutputFile> all;
  all.reserve(files.size());
  for (auto& [name, file] : files) all.push_back(std::move(file));
  return all;
}

}  // namespace gpufl::exporting
