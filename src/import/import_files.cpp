// SPDX-License-Identifier: Apache-2.0
#include "import/import_files.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/hash.hpp"
#include "base/status.hpp"
#include "format/session_header.hpp"
#include "import/file_type.hpp"
#include "import/nsight_export.hpp"
#include "import/session_writer.hpp"
#include "import/text_source.hpp"
#include "import/torch_trace.hpp"
#include "import/warpscope_dump.hpp"

namespace gpufl::importing {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;

base::Result<std::vector<Trace>> read_traces(const fs::path& file, const ByteProgress& progress) {
  std::error_code error;
  const fs::file_status status = fs::status(file, error);
  if (!fs::exists(status)) return Status(Code::NotFound, "there is no such file");
  if (fs::is_directory(status)) {
    return Status(Code::InvalidArgument, "this is a folder: name the trace files in it");
  }
  if (!fs::is_regular_file(status)) {
    return Status(Code::InvalidArgument,
                  "this is not a regular file: save the trace as a file "
                  "first");
  }
  switch (file_type(file)) {
    case FileType::Sqlite: return read_nsight_export(file, progress);
    case FileType::NsightReport:
      return Status(Code::Unsupported,
                    "export the report of Nsight Systems first: nsys export --type sqlite "
                    "--output trace.sqlite " +
                        file.filename().string());
    case FileType::Unknown:
      return Status(Code::Unsupported,
                    "neither a trace of torch.profiler (.json, .json.gz), nor an SQLite export of "
                    "Nsight Systems (nsys export --type sqlite), nor a dump of warpscope with its "
                    "side block (for one without: --from warpscope)");
    case FileType::Json: break;
  }
  auto source = TextSource::open(file);
  if (!source) return source.status();
  auto trace = read_torch_trace(**source, progress);
  if (!trace) return trace.status();
  std::vector<Trace> traces;
  traces.push_back(std::move(*trace));
  return traces;
}

// "step.pt.trace.json.gz": "step.pt.trace".
std::string stem_of(fs::path file) {
  for (const char* extension : {".gz", ".json", ".sqlite", ".bin"}) {
    if (file.extension() == extension) file.replace_extension();
  }
  return file.filename().string();
}

class Import {
 public:
  explicit Import(const ImportOptions& options) : options_(options) {}

  ImportOutcome run() {
    for (const fs::path& file : options_.files) import(file);
    return std::move(outcome_);
  }

 private:
  void import(const fs::path& file) {
    if (!options_.source.empty() || is_warpscope_dump(file)) return import_warpscope(file);
    ByteProgress progress;
    if (options_.progress) {
      progress = [&](uint64_t done, uint64_t total) { options_.progress(file, done, total); };
    }
    auto traces = read_traces(file, progress);
    if (!traces) {
      outcome_.errors.push_back(file.string() + ": " + traces.status().message());
      return;
    }
    const bool is_run = options_.files.size() > 1 || traces->size() > 1;
    for (size_t part = 0; part < traces->size(); ++part) {
      write(file, (*traces)[part], is_run, part);
    }
  }

  // A dump tells no date: the file's is the best there is.
  void import_warpscope(const fs::path& file) {
    const SessionPlace place =
        place_of(file, modified_ns(file).value_or(0), options_.files.size() > 1);
    if (is_there(place)) return;
    auto written = import_dump(options_.source, place, modified_ns(file).value_or(0));
    if (!written) {
      outcome_.errors.push_back(file.string() + ": " + written.status().message());
      return;
    }
    ImportedSession session;
    session.file = file;
    session.dir = written->dir;
    session.source = kWarpscopeSource;
    session.duration_ns = written->duration_ns;
    session.rows = std::move(written->rows);
    outcome_.sessions.push_back(std::move(session));
  }

  // Of its size and its beginning, where traces tell their times: files that share both are one.
  static uint64_t hash_of(const fs::path& file, size_t seed) {
    constexpr uintmax_t kEnough = uintmax_t{256} << 20;
    base::Xxh64 hash(seed);
    std::error_code ignored;
    const uintmax_t size = fs::file_size(file, ignored);
    hash.update(&size, sizeof size);
    std::ifstream stream(file, std::ios::binary);
    std::array<char, size_t{1} << 16> bytes;
    for (uintmax_t read = 0; read < kEnough; read += bytes.size()) {
      stream.read(bytes.data(), bytes.size());
      hash.update(bytes.data(), static_cast<size_t>(stream.gcount()));
      if (!stream) break;
    }
    return hash.digest();
  }

  // When the file was last written; none: it cannot be told.
  static std::optional<int64_t> modified_ns(const fs::path& file) {
    struct stat status{};
    if (stat(file.c_str(), &status) != 0) return std::nullopt;
    constexpr int64_t kSecondNs = 1'000'000'000;
    return status.st_mtim.tv_sec * kSecondNs + status.st_mtim.tv_nsec;
  }

  // `part`: of the sessions that one file gives, which.
  SessionPlace place_of(const fs::path& file, int64_t wall_ns, bool is_run, size_t part = 0) {
    SessionPlace place;
    place.file = file;
    place.folder = options_.output;
    place.session_id = format::make_session_id(wall_ns, hash_of(file, part));
    place.run_id = place.session_id;
    if (is_run) {
      if (run_id_.empty()) run_id_ = "import-" + place.session_id;
      place.run_id = run_id_;
      place.folder /= run_id_;
      outcome_.run = place.folder;
    }
    place.app_name = options_.app_name.empty() ? stem_of(file) : options_.app_name;
    place.gpufl_version = options_.gpufl_version;
    return place;
  }

  // The same file gives the same session: a second one would count as a repeat of the program.
  bool is_there(const SessionPlace& place) {
    std::error_code ignored;
    const fs::path dir = place.folder / place.session_id;
    if (!fs::exists(dir, ignored)) return false;
    outcome_.errors.push_back(place.file.string() + ": it has already been imported: " +
                              dir.string() + "; delete that first to import it again");
    return true;
  }

  // Where the trace tells no date, the file's is the best there is. Of several such files, which
  // may share a clock, the first gives it.
  void give_date(const fs::path& file, Trace& trace) {
    constexpr int64_t kYear2000Ns = 946'684'800'000'000'000;
    constexpr int64_t kLatestNs = INT64_MAX / 2;
    const bool is_clock = trace.wall_of_zero_ns >= -kLatestNs && trace.wall_of_zero_ns <= kLatestNs;
    if (!is_clock) trace.wall_of_zero_ns = 0;
    if (start_wall_ns(trace) >= kYear2000Ns) return;
    if (!wall_of_zero_ns_) {
      const std::optional<int64_t> modified = modified_ns(file);
      if (!modified) return;
      wall_of_zero_ns_ = *modified - span_of(trace).begin;
    }
    trace.wall_of_zero_ns = *wall_of_zero_ns_;
    trace.shortfalls.push_back(
        {"start_time", "not_in_trace",
         "the trace has no date: the session begins when the file was last written", ""});
  }

  void write(const fs::path& file, Trace& trace, bool is_run, size_t part) {
    drop_far_times(trace);
    give_date(file, trace);
    const SessionPlace place = place_of(file, start_wall_ns(trace), is_run, part);
    if (is_there(place)) return;
    check_rank(file, trace);
    auto written = write_session(trace, place);
    if (!written) {
      outcome_.errors.push_back(file.string() + ": " + written.status().message());
      return;
    }
    outcome_.sessions.push_back({file, written->dir, trace.source, written->duration_ns,
                                 std::move(written->rows), std::move(trace.not_imported),
                                 trace.impossible_times, std::move(trace.truncated)});
  }

  void check_rank(const fs::path& file, const Trace& trace) {
    if (!trace.rank) return;
    const std::string rank = "rank " + std::to_string(*trace.rank);
    if (!ranks_.insert(*trace.rank).second) {
      outcome_.warnings.push_back(file.string() + ": is " + rank +
                                  ", like an earlier file: do they belong to one job?");
    }
    if (world_size_ && trace.world_size && *world_size_ != *trace.world_size) {
      outcome_.warnings.push_back(file.string() + ": is of " + std::to_string(*trace.world_size) +
                                  " ranks, others are of " + std::to_string(*world_size_));
    }
    if (trace.world_size) world_size_ = trace.world_size;
  }

  const ImportOptions& options_;
  ImportOutcome outcome_;
  std::string run_id_;
  std::set<int64_t> ranks_;
  std::optional<int64_t> world_size_;
  std::optional<int64_t> wall_of_zero_ns_;  // of traces that tell no date
};

}  // namespace

ImportOutcome import_files(const ImportOptions& options) { return Import(options).run(); }

}  // namespace gpufl::importing
