// SPDX-License-Identifier: Apache-2.0
// From sealed windows to tiles of a timeline.
//
//   index_bench [--rows N] [--keep FOLDER] [--json FILE]
//
// Of a session of 20 million kernels under one scope that lasts as long as the session: how fast
// its windows are indexed by one thread, how large the index is, and how long a tile of 1,600 steps
// takes, at a random place and zoom, of one track and of forty (a second session, whose kernels are
// dealt over twenty devices: twenty tracks of kernels and twenty of the calls behind them). The
// page cache is warm. Not timed: writing the sessions.
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "bench/analysis/kernel_session.hpp"
#include "bench/one_core.hpp"
#include "bench/report.hpp"
#include "index/session_index.hpp"

namespace {

namespace fs = std::filesystem;
using namespace gpufl;

constexpr size_t kRows = 20'000'000;
constexpr int kRequests = 1'000;
constexpr uint32_t kWidth = 1'600;

bool goes_on() { return true; }

struct Indexed {
  double seconds = 0;
  double bytes = 0;
  std::shared_ptr<const index::IndexedSession> session;
};

bool make_index(const fs::path& session, const fs::path& cache, Indexed& indexed) {
  fs::remove_all(cache);
  index::SessionIndex made(session, cache);
  const double before_s = bench::cpu_s();
  if (const auto status = made.update(goes_on); !status) {
    std::fprintf(stderr, "%s\n", status.text().c_str());
    return false;
  }
  indexed.seconds = bench::cpu_s() - before_s;
  indexed.session = made.session();
  for (const auto& window : indexed.session->windows) {
    indexed.bytes += static_cast<double>(window->index_bytes());
  }
  return indexed.session->problems.empty();
}

std::vector<index::TrackKey> tracks_of(const index::IndexedSession& session,
                                       std::initializer_list<index::TrackKind> kinds) {
  std::vector<index::TrackKey> tracks;
  for (const auto& window : session.windows) {
    for (const index::TrackKey& key : window->index().tracks) {
      if (std::find(kinds.begin(), kinds.end(), key.kind) == kinds.end()) continue;
      if (std::find(tracks.begin(), tracks.end(), key) == tracks.end()) tracks.push_back(key);
    }
  }
  return tracks;
}

// Milliseconds of each request: from the whole session down to ten microseconds, every zoom alike.
std::vector<double> time_tiles(const index::IndexedSession& session,
                               const std::vector<index::TrackKey>& tracks, int requests) {
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> uniform(0, 1);
  const auto length = static_cast<double>(session.span.last - session.span.first);
  std::vector<double> times_ms;
  for (int i = 0; i < requests; ++i) {
    const double span = length * std::pow(1e4 / length, uniform(random));
    index::TileRequest request;
    request.from = session.span.first + static_cast<int64_t>((length - span) * uniform(random));
    request.to = request.from + static_cast<int64_t>(span) + 1;
    request.width = kWidth;
    request.tracks = tracks;
    const double before_s = bench::cpu_s();
    const auto tile = index::make_tile(session.windows, request, session.open_until());
    if (!tile) {
      std::fprintf(stderr, "%s\n", tile.status().text().c_str());
      return {};
    }
    times_ms.push_back((bench::cpu_s() - before_s) * 1e3);
  }
  std::sort(times_ms.begin(), times_ms.end());
  return times_ms;
}

double share_of(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return NAN;
  return sorted[static_cast<size_t>(share * static_cast<double>(sorted.size() - 1))];
}

// Takes `NAME VALUE` out of the arguments.
std::string take(int& argc, char** argv, std::string_view name) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (argv[i] != name) continue;
    std::string value = argv[i + 1];
    std::copy(argv + i + 2, argv + argc, argv + i);
    argc -= 2;
    return value;
  }
  return {};
}

bool write_session(const fs::path& folder, size_t rows, const bench::Lanes& lanes) {
  if (fs::exists(folder)) return true;
  const auto status = bench::write_kernel_session(folder, rows, lanes);
  if (!status) std::fprintf(stderr, "%s\n", status.text().c_str());
  return status.is_ok();
}

}  // namespace

int main(int argc, char** argv) {
  size_t rows = kRows;
  if (const std::string text = take(argc, argv, "--rows"); !text.empty()) {
    std::from_chars(text.data(), text.data() + text.size(), rows);
  }
  const std::string kept = take(argc, argv, "--keep");
  bench::Report report("index_bench", argc, argv);
  std::string folder = (fs::temp_directory_path() / "gpufl_index_bench_XXXXXX").string();
  if (kept.empty() && ::mkdtemp(folder.data()) == nullptr) {
    std::perror(folder.c_str());
    return 2;
  }
  const fs::path root = kept.empty() ? folder : kept;
  fs::create_directories(root);
  Indexed one;
  Indexed many;
  std::vector<double> tile_ms;
  std::vector<double> tiles_ms;
  if (write_session(root / "one", rows, {.has_outer = true}) &&
      write_session(root / "many", rows, {.count = 20, .has_outer = true}) &&
      make_index(root / "one", root / "one.index", one) &&
      make_index(root / "many", root / "many.index", many)) {
    using index::TrackKind;
    tile_ms = time_tiles(*one.session, tracks_of(*one.session, {TrackKind::Kernels}), kRequests);
    tiles_ms = time_tiles(*many.session,
                          tracks_of(*many.session, {TrackKind::Kernels, TrackKind::KernelCalls}),
                          kRequests / 5);
  }
  if (kept.empty()) fs::remove_all(folder);
  if (tile_ms.empty() || tiles_ms.empty()) return 2;
  const auto kernels = static_cast<double>(rows);
  report.note("rows", static_cast<int64_t>(rows));
  report.value("indexing, one thread", kernels / one.seconds * 1e-6, "million kernels/s",
               bench::at_least(7));
  report.value("indexing, 20 streams", kernels / many.seconds * 1e-6, "million kernels/s");
  report.value("index", one.bytes / kernels, "B a kernel", bench::at_most(0.6));
  report.value("index, 20 streams", many.bytes / kernels, "B a kernel");
  report.value("tile of one track, median", share_of(tile_ms, 0.5), "ms");
  report.value("tile of one track, p95", share_of(tile_ms, 0.95), "ms", bench::at_most(10));
  report.value("tile of one track, longest", tile_ms.back(), "ms");
  report.value("tile of 40 tracks, median", share_of(tiles_ms, 0.5), "ms");
  report.value("tile of 40 tracks, p95", share_of(tiles_ms, 0.95), "ms", bench::at_most(60));
  report.value("tile of 40 tracks, longest", tiles_ms.back(), "ms");
  return report.finish();
}
