// SPDX-License-Identifier: Apache-2.0
// Every column of every kind, from a batch of the log to the cells of tables.
#include "export/described_columns.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <sstream>

#include "analysis/tables/table_builder.hpp"
#include "export/export.hpp"
#include "format/test_session.hpp"

namespace gpufl::exporting {
namespace {

namespace fs = std::filesystem;
using format::Batch;
using format::ColumnSpec;
using format::Kind;
using format::KindSpec;
using format::testing::read_text;
using format::testing::TempDir;

constexpr int64_t kValue = 3;

int64_t value_of(const ColumnSpec& column, int64_t time_ns) {
  if (column.type == format::ColumnType::Time) return time_ns;
  const bool is_word = column.words.empty() || !format::word_of(column.words, kValue).empty();
  return is_word ? kValue : column.words.back().number;
}

// One row in which all columns are there, or those alone that every row has.
Batch one_row(Kind kind, bool is_whole, int64_t time_ns) {
  Batch batch(kind);
  for (size_t i = 0; i < batch.kind_spec().columns.size(); ++i) {
    const ColumnSpec& column = batch.kind_spec().columns[i];
    if (!is_whole && !column.required) continue;
    batch.mutable_column(i) = {value_of(column, time_ns)};
  }
  batch.set_rows(1);
  return batch;
}

void define(analysis::TableBuilder& builder, std::string_view dict, std::string_view value) {
  const std::string line = R"({"type":"dict","dict":")" + std::string(dict) +
                           R"(","ids":[3],"values":[)" + std::string(value) + "]}";
  builder.on_object(Kind::Dict, base::Json::parse(line).value());
}

// A session with such rows of all kinds.
analysis::SessionData session_of(const std::vector<bool>& rows) {
  analysis::TableBuilder builder;
  define(builder, "name", R"("three")");
  define(builder, "text", R"("three")");
  define(builder, "metric", R"("three")");
  define(builder, "config", R"({"name":3})");
  int64_t time_ns = 1000;
  for (const bool is_whole : rows) {
    for (size_t i = 0; i < format::kKindCount; ++i) {
      const KindSpec& kind = format::spec(static_cast<Kind>(i));
      if (kind.is_batch()) builder.on_batch(one_row(kind.kind, is_whole, time_ns), {});
    }
    time_ns += 1000;
  }
  analysis::SessionData session;
  session.tables = builder.finish(10'000);
  return session;
}

analysis::RunData run_of(const std::vector<std::vector<bool>>& sessions) {
  analysis::RunData run;
  for (const auto& rows : sessions) {
    run.sessions.push_back(session_of(rows));
    run.offset_ns.push_back(0);
  }
  return run;
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> cells;
  std::string rest = line.substr(0, line.find('\r'));
  for (size_t end = 0; (end = rest.find(',')) != std::string::npos; rest = rest.substr(end + 1)) {
    cells.push_back(rest.substr(0, end));
  }
  cells.push_back(rest);
  return cells;
}

// The table of a kind as CSV: lines of cells, the heading first.
class CsvTables {
 public:
  explicit CsvTables(const analysis::RunData& run) {
    const auto written = write_export(run, Target::Csv, {folder_.path() / "csv", false, {}});
    EXPECT_TRUE(written) << written.status().text();
  }
  std::vector<std::vector<std::string>> lines(const KindSpec& kind) const {
    std::vector<std::vector<std::string>> lines;
    std::istringstream text(read_text(folder_.path() / "csv" / (std::string(kind.file) + ".csv")));
    for (std::string line; std::getline(text, line);) lines.push_back(split(line));
    return lines;
  }

 private:
  TempDir folder_;
};

std::vector<const KindSpec*> kinds_in_files() {
  std::vector<const KindSpec*> kinds;
  for (size_t i = 0; i < format::kKindCount; ++i) {
    const KindSpec& kind = format::spec(static_cast<Kind>(i));
    if (!kind.file.empty()) kinds.push_back(&kind);
  }
  return kinds;
}

TEST(DescribedColumns, EveryColumnIsShown) {
  // What tables show in another form, or under another name, or have no room for.
  const std::set<std::pair<std::string, std::string>> in_other_form = {
      {"kernel", "config"},           {"marker", "id"},   {"marker", "scope"},
      {"marker", "payload_exponent"}, {"scope", "depth"}, {"scope", "parent"}};
  const CsvTables tables(run_of({{true}}));
  for (const KindSpec* kind : kinds_in_files()) {
    const auto lines = tables.lines(*kind);
    ASSERT_EQ(lines.size(), 2U) << kind->name;
    std::map<std::string, std::string> cells;
    for (size_t i = 0; i < lines[0].size(); ++i) cells[lines[0][i]] = lines[1].at(i);
    const bool is_typed = cells.contains("launched_at");
    for (const ColumnSpec& column : kind->columns) {
      if (column.shown == format::Shown::Nothing) continue;
      if (in_other_form.contains({std::string(kind->name), std::string(column.name)})) continue;
      if (is_typed && (column.name == "inherited" || column.name == "stack")) continue;
      const std::string title(column.title);
      ASSERT_TRUE(cells.contains(title)) << kind->name << " " << title;
      // Stacks lead nowhere here, as these sessions have no code.
      if (column.dict == format::Dict::Stack) continue;
      EXPECT_FALSE(cells[title].empty()) << kind->name << " " << title;
    }
  }
}

TEST(DescribedColumns, WhatARowLacksIsEmpty) {
  // A row that has everything before one that does not: then columns are there for both.
  const CsvTables tables(run_of({{true, false}}));
  for (const KindSpec* kind : kinds_in_files()) {
    const auto lines = tables.lines(*kind);
    ASSERT_GE(lines.size(), 3U) << kind->name;
    for (const ColumnSpec& column : kind->columns) {
      const auto head = std::find(lines[0].begin(), lines[0].end(), column.title);
      if (head == lines[0].end() || column.required || !column.may_lack()) continue;
      const auto at = static_cast<size_t>(head - lines[0].begin());
      EXPECT_EQ(lines[2].at(at), "") << kind->name << " " << column.title;
    }
  }
}

TEST(DescribedColumns, AreTheSameInAllSessionsOfARun) {
  for (const auto& order : {std::vector<std::vector<bool>>{{false}, {true}},
                            std::vector<std::vector<bool>>{{true}, {false}}}) {
    const CsvTables tables(run_of(order));
    for (const KindSpec* kind : kinds_in_files()) {
      const auto lines = tables.lines(*kind);
      ASSERT_EQ(lines.size(), 3U) << kind->name;
      for (const auto& line : lines) EXPECT_EQ(line.size(), lines[0].size()) << kind->name;
    }
  }
}

TEST(DescribedColumns, ArgumentsOfTimelinesSayNothingOfWhatIsNotKnown) {
  const TempDir folder;
  const auto text_of = [&](const std::vector<bool>& rows) {
    const fs::path path = folder.path() / std::to_string(rows.size());
    EXPECT_TRUE(write_export(run_of({rows}), Target::Chrome, {path, false, {}}));
    return read_text(path);
  };
  const auto count = [](const std::string& text, const std::string& part) {
    size_t found = 0;
    for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  const std::string whole = text_of({true});
  const std::string mixed = text_of({true, false});
  for (const char* name :
       {"async", "address", "pool", "pool_bytes", "bytes", "peer_device", "end_device", "nodes",
        "graph_node", "event", "error_ns", "memory", "queued_ns", "correlation"}) {
    const std::string argument = "\"" + std::string(name) + "\":";
    EXPECT_GT(count(whole, argument), 0U) << name;
    // Copies and fills always have a size.
    const size_t more = std::string_view(name) == "bytes" ? 2 : 0;
    EXPECT_EQ(count(mixed, argument), count(whole, argument) + more) << name;
  }
  EXPECT_EQ(count(mixed, ":-1"), 0U) << mixed;
}

TEST(DescribedColumns, NumbersThatStandForWordsAreWords) {
  const CsvTables tables(run_of({{true}}));
  std::set<std::string> words;
  for (const KindSpec* kind : kinds_in_files()) {
    const auto lines = tables.lines(*kind);
    for (const ColumnSpec& column : kind->columns) {
      if (column.words.empty() || column.shown == format::Shown::Nothing) continue;
      const auto head = std::find(lines[0].begin(), lines[0].end(), column.title);
      ASSERT_NE(head, lines[0].end()) << kind->name << " " << column.title;
      words.insert(lines[1].at(static_cast<size_t>(head - lines[0].begin())));
    }
  }
  EXPECT_EQ(words,
            (std::set<std::string>{"host to array", "device", "start/end", "release", "thread exit",
                                   "api", "when", "no_begin", "window", "request", "steps"}));
}

}  // namespace
}  // namespace gpufl::exporting
