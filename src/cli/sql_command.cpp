// SPDX-License-Identifier: Apache-2.0
#include "cli/sql_command.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/libdw.hpp"
#include "cli/print.hpp"
#include "cli/sql_guard.hpp"
#include "text/display.hpp"
#include "workbench/find_sessions.hpp"
#include "workbench/query.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kCommand = "gpufl sql";
constexpr uint64_t kRowsShown = 1000;  // of a table, which is for people
constexpr size_t kMostQueryBytes = size_t{1} << 20;
constexpr int64_t kSecond = 1'000'000'000;

struct Options {
  workbench::QueryRequest request;
  std::string form = "table";
  std::optional<uint64_t> max_rows;
  bool is_schema = false, is_install = false;
};

const std::vector<std::string>& form_words() {
  static const std::vector<std::string> words = {"table", "csv", "json", "parquet"};
  return words;
}

int print_schema() {
  for (const workbench::QueryTable& table : workbench::query_tables()) {
    print(fmt::format(
        "{}{}{}\n  {}\n", table.view.empty() ? "table " : "view ", table.name,
        table.has_range ? " (also: " + table.name + "(from_ns := 0, to_ns := 1000))" : "",
        table.sentence));
    for (const auto& column : table.columns) {
      print(fmt::format("  {:<24} {:<8} {}\n", column.name, column.type, column.meaning));
    }
    std::string_view rest = table.view;
    while (!rest.empty()) {
      const size_t end = rest.find('\n');
      print(fmt::format("  {}\n", rest.substr(0, end)));
      rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    }
    print("\n");
  }
  return kExitGood;
}

int install() {
  const auto installed = workbench::install_query_library();
  if (!installed) {
    complain(kCommand, installed.status().message());
    return kExitCannotTell;
  }
  print(fmt::format("{}: DuckDB {}{}\n", text::make_harmless(installed->library.string()),
                    installed->version, installed->was_there ? " was already there" : ""));
  return kExitGood;
}

base::Status read_query(std::string& query) {
  if (query != "-") return {};
  query.clear();
  char chunk[4096];
  while (const size_t count = std::fread(chunk, 1, sizeof chunk, stdin)) {
    query.append(chunk, count);
    if (query.size() > kMostQueryBytes) {
      return {base::Code::InvalidArgument, "a query has at most 1 MiB"};
    }
  }
  return {};
}

// DuckDB's messages have lines: what is wrong, and where. None of them may steer the terminal.
void complain_in_lines(std::string_view text) {
  bool is_first = true;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string line(text.substr(0, end));
    std::replace(line.begin(), line.end(), '\t', ' ');
    line = text::make_harmless(line);
    print_error(is_first ? fmt::format("{}: {}\n", kCommand, line) : line + "\n");
    is_first = false;
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
}

base::Result<int> run_query(Options& options) {
  workbench::QueryRequest& request = options.request;
  if (const base::Status status = read_query(request.query); !status) return status;
  const bool is_table = options.form == "table";
  request.form = static_cast<workbench::AnswerForm>(
      std::find(form_words().begin(), form_words().end(), options.form) - form_words().begin());
  request.max_rows = options.max_rows.value_or(is_table ? kRowsShown : 0);
  request.libdw = libdw();
  SqlGuard guard(kCommand, request);
  const auto outcome = workbench::query_sessions(request);
  if (!outcome) {
    const int exit_code = guard.exit_code_of(outcome.status());
    if (exit_code != kExitGood) complain_in_lines(outcome.status().message());
    return exit_code;
  }
  for (const std::string& note : outcome->notes) complain(kCommand, note);
  if (outcome->has_more) {
    complain(kCommand, fmt::format("only the first {} rows are shown; there may be more: "
                                   "--max-rows 0 shows all",
                                   outcome->rows));
  }
  if (request.output != "-") tell_written(request.output, outcome->bytes);
  return outcome->is_whole ? kExitGood : kExitNo;
}

base::Result<int> run_sql(Options& options) {
  const int asked =
      int{options.is_schema} + int{options.is_install} + int{!options.request.query.empty()};
  if (asked != 1) {
    return base::Status(base::Code::InvalidArgument,
                        "give a query, or one of --schema and --install");
  }
  if (options.is_schema) return print_schema();
  if (options.is_install) return install();
  return run_query(options);
}

}  // namespace

void add_sql_command(Command program) {
  auto options = std::make_shared<Options>();
  workbench::QueryRequest& request = options->request;
  request.path = workbench::kDefaultLogs;
  request.timeout_ns = 30 * kSecond;
  request.memory_bytes = uint64_t{1} << 30;
  Command command = program.add_command("sql", "Ask recorded sessions a question in SQL");
  command.add_option("query", request.query, "A query; - reads it from standard input")
      .type_name("QUERY");
  command.add_option("--from", request.path, "A session, a run's folder or a log folder")
      .type_name("PATH")
      .show_default();
  command
      .add_option("--format", options->form,
                  "table: for people; csv; json: a list of objects; parquet")
      .type_name("FORMAT")
      .choices(form_words())
      .show_default();
  command.add_option("-o,--output", request.output, "File; - is standard output")
      .type_name("FILE")
      .show_default();
  command.add_flag("--force", request.overwrite, "Replace an existing file");
  command
      .add_option("--max-rows", options->max_rows,
                  "Rows at most; 0: all [default: 1000 of a table, else all]")
      .count();
  command.add_duration("--timeout", {"10ms", "24h"},
                       "Stop a query that takes longer [default: 30s]",
                       [&request](int64_t duration_ns) { request.timeout_ns = duration_ns; });
  command.add_bytes("--memory", {"64MiB", {}},
                    "Memory that a query may take, besides 256 MiB for reading [default: 1GiB]",
                    [&request](uint64_t bytes) { request.memory_bytes = bytes; });
  command
      .add_option("--library", request.library,
                  "DuckDB's library [default: GPUFL_DUCKDB, the installed one, the system's]")
      .type_name("FILE");
  command.add_flag("--schema", options->is_schema, "List tables, columns and views");
  command.add_flag(
      "--install", options->is_install,
      "Fetch DuckDB's library (24 MB) with your npm, check its SHA-256 and put it into "
      "your data folder (XDG_DATA_HOME, ~/.local/share). Without npm, name a libduckdb.so that you "
      "have with --library; DuckDB's pip package has none that can be opened");
  command.set_footer(
      "There is a table for each kind of event, named and with columns as in `gpufl export --to "
      "csv`, and views such as kernel_summary; docs/reference/sql.md has all. Times are "
      "nanoseconds since the start of the session. DuckDB reads the sessions where they lie; a "
      "query can reach no file, network or setting, and change nothing.\nExamples:\n"
      "  gpufl sql 'select name, count(*), sum(duration_ns) from kernels group by name'\n"
      "  gpufl sql 'from kernel_summary limit 10'\n"
      "  gpufl sql 'select count(*) from kernels(from_ns := 1000000, to_ns := 2000000)'\n"
      "Exit code: 0 answered; 1 answered, but a session or a part of one could not be read; 2 "
      "there is no session or no DuckDB, the query is wrong or took too long or too much memory, "
      "or "
      "the output cannot be written; 130 stopped by Ctrl-C.");
  command.set_action([options] { return run_sql(*options); });
}

}  // namespace gpufl::cli
