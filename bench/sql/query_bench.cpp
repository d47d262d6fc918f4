// SPDX-License-Identifier: Apache-2.0
// Queries over a sealed session, as `gpufl sql` asks them.
//
//   query_bench [--rows N] [--json FILE]
//
// Timed, in rounds that take turns: kernels grouped by name with their number and total; the same
// with exact quantiles; the kernels of a thousandth of the session's time; and, to compare with,
// the session's windows read and decoded with nothing made of the rows. The best round of each
// counts, in wall time on all cores. Not timed: writing the session. Needs the libduckdb that
// `./dev setup` installs, or GPUFL_DUCKDB.
#include <stdlib.h>
#include <sys/resource.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "bench/analysis/kernel_session.hpp"
#include "bench/report.hpp"
#include "sql/database.hpp"
#include "sql/duckdb_library.hpp"
#include "sql/session_table.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;

constexpr size_t kRows = 4'000'000;
constexpr int kRounds = 5;

std::string library() {
  std::error_code error;
  for (const auto& package : fs::directory_iterator(GPUFL_TEST_DUCKDB, error)) {
    const fs::path file = package.path() / "libduckdb.so";
    if (fs::is_regular_file(file, error)) return file.string();
  }
  return "";
}

struct LastRow final : sql::ResultSink {
  std::vector<std::string> cells;
  uint64_t rows = 0;
  void begin(const std::vector<sql::ResultColumn>& /*columns*/) override { rows = 0; }
  void row(Cells row) override {
    cells.clear();
    for (const auto& cell : row) cells.emplace_back(cell.value_or(""));
    ++rows;
  }
};

struct DecodedRows final : format::Visitor {
  uint64_t rows = 0;
  void on_batch(const format::Batch& batch, const format::Dictionaries& /*all*/) override {
    rows += batch.rows();
  }
};

class Bench {
 public:
  Bench(sql::Database& database, const format::SessionReader& session)
      : database_(database), session_(session) {}

  // In seconds; negative: it failed.
  double ask(const std::string& query, LastRow& row) {
    const int64_t began = base::monotonic_ns();
    const auto answered = database_.run(query, 0, row);
    if (answered) return seconds_since(began);
    std::fprintf(stderr, "%s\n", answered.status().text().c_str());
    return -1;
  }
  double decode(uint64_t& rows) {
    const int64_t began = base::monotonic_ns();
    DecodedRows decoded;
    session_.read(decoded, {format::Kind::Kernel},
                  std::max(std::thread::hardware_concurrency(), 1U));
    rows = decoded.rows;
    return seconds_since(began);
  }

 private:
  static double seconds_since(int64_t began) {
    return static_cast<double>(base::monotonic_ns() - began) * 1e-9;
  }
  sql::Database& database_;
  const format::SessionReader& session_;
};

size_t take_rows(int& argc, char** argv) {
  size_t rows = kRows;
  for (int i = 1; i + 1 < argc; ++i) {
    const std::string_view value = argv[i + 1];
    if (std::string_view(argv[i]) != "--rows") continue;
    std::from_chars(value.data(), value.data() + value.size(), rows);
    std::copy(argv + i + 2, argv + argc, argv + i);
    argc -= 2;
    break;
  }
  return std::max<size_t>(rows, 1);
}

int measure(const fs::path& folder, size_t rows, bench::Report& report) {
  if (const auto status = bench::write_kernel_session(folder, rows); !status) {
    std::fprintf(stderr, "%s\n", status.text().c_str());
    return 2;
  }
  const auto api = sql::find_duckdb(library());
  auto reader = format::SessionReader::open(folder);
  if (!api || !reader) {
    std::fprintf(stderr, "%s\n", (api ? reader.status() : api.status()).text().c_str());
    return 2;
  }
  const format::SessionReader session = *reader;
  std::vector<format::SessionReader> readers;
  readers.push_back(std::move(*reader));
  const sql::SessionSet sessions(std::move(readers), nullptr);
  auto tables = sql::session_tables(sessions);
  tables.push_back(sql::session_list(sessions));
  sql::TableFunctions functions(*api, std::move(tables));
  const auto database = sql::Database::open(*api, functions, {});
  if (!database) {
    std::fprintf(stderr, "%s\n", database.status().text().c_str());
    return 2;
  }
  Bench bench(**database, session);
  LastRow row;
  if (bench.ask("select min(start_ns), max(start_ns) from kernels", row) < 0) return 2;
  const int64_t first = std::stoll(row.cells[0]), last = std::stoll(row.cells[1]);
  const int64_t middle = first + (last - first) / 2;
  const std::string range =
      "select count(*), sum(duration_ns) from kernels(from_ns := " + std::to_string(middle) +
      ", to_ns := " + std::to_string(middle + (last - first) / 1000) + ")";
  double grouped = 1e9, quantiles = 1e9, ranged = 1e9, scoped = 1e9, decoded = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    uint64_t rows_read = 0;
    decoded = std::min(decoded, bench.decode(rows_read));
    grouped = std::min(
        grouped,
        bench.ask("select name, count(*), sum(duration_ns) from kernels group by name", row));
    quantiles = std::min(
        quantiles, bench.ask("select name, quantile_disc(duration_ns, [0.5, 0.99]) from kernels "
                             "group by name",
                             row));
    ranged = std::min(ranged, bench.ask(range, row));
    scoped = std::min(scoped, bench.ask("select scope, count(*) from kernels group by scope", row));
    if (rows_read != rows || std::min({grouped, quantiles, ranged, scoped}) < 0) {
      std::fprintf(stderr, "the queries failed\n");
      return 2;
    }
  }
  report.note("rows", static_cast<int64_t>(rows));
  report.note("rounds", kRounds);
  report.note("DuckDB", api->library_version());
  report.value("kernels grouped by name: number and total", grouped, "s");
  report.value("the same with exact quantiles", quantiles, "s");
  report.value("kernels grouped by scope", scoped, "s");
  report.value("a thousandth of the time", ranged * 1e3, "ms");
  report.value("windows read and decoded, nothing made of them", decoded, "s");
  report.value("grouped, in times of reading alone", grouped / decoded, "x", bench::at_most(4));
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  report.value("peak memory", static_cast<double>(usage.ru_maxrss) * 1024 * 1e-6, "MB");
  return report.finish();
}

}  // namespace

int main(int argc, char** argv) {
  const size_t rows = take_rows(argc, argv);
  bench::Report report("query_bench", argc, argv);
  std::string folder = (fs::temp_directory_path() / "gpufl_query_bench_XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 2;
  }
  const int code = measure(fs::path(folder) / "session", rows, report);
  fs::remove_all(folder);
  return code;
}
