// SPDX-License-Identifier: Apache-2.0
#include "export/export.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "export/chrome.hpp"
#include "export/csv.hpp"
#include "export/json_document.hpp"
#include "export/output_file.hpp"
#include "export/perfetto.hpp"
#include "export/pprof.hpp"
#include "export/speedscope.hpp"
#include "export/stall_profile.hpp"
#include "export/table_columns.hpp"
#include "timeline/run_axis.hpp"

namespace gpufl::exporting {
namespace {

namespace fs = std::filesystem;
using analysis::RunData;

struct TargetSpec {
  Target target;
  const char* word;
  const char* ending;
  void (*write)(const RunData& run, OutputFile& out, Progress& progress);  // null: a folder
};
constexpr TargetSpec kTargets[] = {
    {Target::Perfetto, "perfetto", ".perfetto-trace", write_perfetto},
    {Target::Chrome, "chrome", ".chrome.json", write_chrome},
    {Target::Speedscope, "speedscope", ".speedscope.json", write_speedscope},
    {Target::Pprof, "pprof", ".pb.gz", write_pprof},
    {Target::Csv, "csv", "-csv", nullptr},
    {Target::Json, "json", ".json", write_json},
};

const TargetSpec& spec_of(Target target) {
  return *std::find_if(std::begin(kTargets), std::end(kTargets),
                       [target](const TargetSpec& spec) { return spec.target == target; });
}

uint64_t total_rows(const RunData& run, Target target) {
  uint64_t rows = 0;
  switch (target) {
    case Target::Perfetto:
    case Target::Chrome: return timeline::timeline_rows(run);
    case Target::Speedscope:
    case Target::Pprof:
      for (const auto& session : run.sessions) {
        rows += session.tables.kernels.rows() + session.tables.waits.rows() +
                stall_rows(session.tables);
        if (target == Target::Speedscope) rows += session.tables.scopes.rows();
      }
      return rows;
    case Target::Csv:
    case Target::Json:
      for (const auto& session : run.sessions) rows += table_rows(session.tables);
      return rows;
  }
  return rows;
}

base::Status stopped(const ExportOptions& options) {
  return {base::Code::Cancelled, options.output.string() + ": writing was interrupted"};
}

base::Result<Written> write_file(const RunData& run, const TargetSpec& target,
                                 const ExportOptions& options, Progress& progress) {
  const bool compress = target.target == Target::Pprof || options.output.extension() == ".gz";
  auto file = OutputFile::open(options.output, {compress, options.overwrite});
  if (!file) return file.status();
  target.write(run, *file, progress);
  if (progress.is_stopped()) return stopped(options);
  if (const base::Status committed = file->commit(); !committed) return committed;
  return Written{{options.output}, file->bytes()};
}

base::Result<Written> commit_all(std::vector<OutputFile>& files) {
  Written written;
  for (OutputFile& file : files) {
    if (const base::Status committed = file.commit(); !committed) return committed;
    written.files.push_back(file.path());
    written.bytes += file.bytes();
  }
  return written;
}

base::Result<Written> write_folder(const RunData& run, const ExportOptions& options,
                                   Progress& progress) {
  if (options.output == kStandardOutput || options.output.extension() == ".gz") {
    return base::Status(base::Code::InvalidArgument,
                        "csv writes a folder of uncompressed files: " + options.output.string() +
                            " is not a name for one");
  }
  std::error_code error;
  const bool is_new = fs::create_directory(options.output, error);
  if (error) return base::Status::from_errno(error.value(), options.output.string());
  auto written = [&]() -> base::Result<Written> {
    auto files = write_csv(run, options.output, options.overwrite, progress);
    if (progress.is_stopped()) return stopped(options);
    return files ? commit_all(*files) : base::Result<Written>(files.status());
  }();
  if (!written && is_new) fs::remove_all(options.output, error);
  return written;
}

}  // namespace

std::optional<Target> target_of(std::string_view word) {
  for (const TargetSpec& spec : kTargets) {
    if (word == spec.word) return spec.target;
  }
  return {};
}

const std::vector<std::string>& target_words() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> all;
    for (const TargetSpec& spec : kTargets) all.emplace_back(spec.word);
    return all;
  }();
  return words;
}

std::string default_name(const RunData& run, Target target) {
  std::string name = "run";
  if (run.sessions.size() == 1) {
    name = run.sessions[0].summary.header.session_id;
  } else if (!run.id.empty()) {
    name = run.id;
  }
  // The log says it; it must not lead elsewhere.
  std::replace(name.begin(), name.end(), '/', '_');
  if (name.starts_with('.')) name.insert(0, "_");
  return name + spec_of(target).ending;
}

base::Result<Written> write_export(const RunData& run, Target target,
                                   const ExportOptions& options) {
  const uint64_t rows = total_rows(run, target);
  if (rows == 0 && target != Target::Json) {
    return base::Status(base::Code::InvalidArgument, std::string("nothing was recorded that ") +
                                                         spec_of(target).word + " could show");
  }
  Progress progress(rows, options.progress);
  return target == Target::Csv ? write_folder(run, options, progress)
                               : write_file(run, spec_of(target), options, progress);
}

}  // namespace gpufl::exporting
