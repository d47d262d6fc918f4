// SPDX-License-Identifier: Apache-2.0
// Queries over a sealed session, as `gpufl sql` asks them.
//
//   query_bench [--rows N] [--json FILE]
//
// Timed: kernels grouped by name with their number and total; the same with exact quantiles; by
// scope; the kernels of a thousandth of the session's time. Each takes turns with what it is
// compared with: the session's windows read and decoded, with nothing made of the rows. Ratios are
// of CPU time, which neighbours on the machine disturb least; times are wall time on all cores, of
// which the best counts. Not timed: writing the session. Needs the libduckdb that `./dev setup`
// installs, or GPUFL_DUCKDB.
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
#include "bench/one_core.hpp"
#include "bench/paired_ratio.hpp"
#include "bench/report.hpp"
#include "sql/database.hpp"
#include "sql/duckdb_library.hpp"
#include "sql/session_table.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;

constexpr size_t kRows = 4'000'000;

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

  void ask(const std::string& query, LastRow& row) {
    const auto answered = database_.run(query, 0, row);
    if (answered) return;
    std::fprintf(stderr, "%s\n", answered.status().text().c_str());
    has_failed_ = true;
  }
  // The CPU time that it took.
  double decode() {
    return timed(best_decoding_, [this] {
      DecodedRows decoded;
      session_.read(decoded, {format::Kind::Kernel},
                    std::max(std::thread::hardware_concurrency(), 1U));
      rows_ = decoded.rows;
    });
  }
  void compare(bench::Report& report, const std::string& figure, const std::string& query,
               double most) {
    LastRow row;
    double best = 1e9;
    const bench::Ratio ratio = bench::paired_ratio(
        bench::kMinPairs, [this] { return decode(); },
        [&] { return timed(best, [&] { ask(query, row); }); });
    report.value(figure, best * 1e3, "ms");
    report.ratio(figure + " / reading alone", ratio, bench::at_most(most));
  }
  double best_decoding() const { return best_decoding_; }
  uint64_t rows() const { return rows_; }
  bool has_failed() const { return has_failed_; }

 private:
  // The CPU time of it; `best` is the least wall time so far, both in seconds.
  template <typename Work>
  static double timed(double& best, Work work) {
    const int64_t began = base::monotonic_ns();
    const double used = bench::cpu_s();
    work();
    best = std::min(best, static_cast<double>(base::monotonic_ns() - began) * 1e-9);
    return bench::cpu_s() - used;
  }

  sql::Database& database_;
  const format::SessionReader& session_;
  double best_decoding_ = 1e9;
  uint64_t rows_ = 0;
  bool has_failed_ = false;
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
  bench.ask("select min(start_ns), max(start_ns) from kernels", row);
  if (bench.has_failed()) return 2;
  const int64_t first = std::stoll(row.cells[0]), last = std::stoll(row.cells[1]);
  const int64_t middle = first + (last - first) / 2;
  const std::string range =
      "select count(*), sum(duration_ns) from kernels(from_ns := " + std::to_string(middle) +
      ", to_ns := " + std::to_string(middle + (last - first) / 1000) + ")";
  report.note("rows", static_cast<int64_t>(rows));
  report.note("DuckDB", api->library_version());
  // Neighbours share caches and memory, which CPU time does not hide.
  if (double load = 0; ::getloadavg(&load, 1) == 1) report.note("load_average_at_start", load);
  const bench::Ratio itself = bench::paired_ratio(
      bench::kMinPairs, [&] { return bench.decode(); }, [&] { return bench.decode(); });
  report.ratio("reading alone / itself", itself);
  bench.compare(report, "kernels grouped by name, number and total",
                "select name, count(*), sum(duration_ns) from kernels group by name", 5);
  bench.compare(report, "the same with exact quantiles",
                "select name, quantile_disc(duration_ns, [0.5, 0.99]) from kernels group by name",
                6);
  bench.compare(report, "kernels grouped by scope",
                "select scope, count(*) from kernels group by scope", 5);
  bench.compare(report, "a thousandth of the time", range, 0.5);
  if (bench.has_failed() || bench.rows() != rows) {
    std::fprintf(stderr, "the queries failed\n");
    return 2;
  }
  report.value("windows read and decoded, nothing made of them", bench.best_decoding() * 1e3, "ms");
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  report.value("peak memory", static_cast<double>(usage.ru_maxrss) * 1024 * 1e-6, "MB",
               bench::at_most(300));
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
