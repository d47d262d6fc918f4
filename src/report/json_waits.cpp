// SPDX-License-Identifier: Apache-2.0
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "analysis/insights/loop_syncs.hpp"
#include "analysis/insights/wait_launches.hpp"
#include "report/json_figures.hpp"
#include "symbols/symbol_file.hpp"

namespace gpufl::report {
namespace {

using analysis::LaunchedKernel;
using analysis::LineWait;
using analysis::SyncLine;
using base::Json;
using base::JsonWriter;

constexpr size_t kMostKernels = 20;  // of each line

Json span_json(const analysis::Interval& span) {
  Json json = Json::object();
  return json.set("start_ns", span.start).set("duration_ns", span.length());
}

Json wait_json(const LineWait& wait) {
  return span_json(wait.span).set("before", wait.before ? span_json(*wait.before) : Json());
}

// The kernels of all lines, each once: lines have places in it.
class KernelPlaces {
 public:
  size_t of(uint32_t name) {
    const auto [place, is_new] = places_.try_emplace(name, names_.size());
    if (is_new) names_.push_back(name);
    return place->second;
  }
  const std::vector<uint32_t>& names() const { return names_; }

 private:
  std::unordered_map<uint32_t, size_t> places_;
  std::vector<uint32_t> names_;
};

Json launched_json(const analysis::LaunchedWork& work, KernelPlaces& places) {
  Json json = Json::object();
  json.set("kernels", json_array(work.kernels, [&](const LaunchedKernel& kernel) {
             Json entry = Json::object();
             entry.set("kernel", uint64_t{places.of(kernel.name)}).set("count", kernel.count);
             return entry.set("gpu_ns", kernel.gpu_ns);
           }));
  Json others = Json::object();
  others.set("kernels", work.other_kernels).set("count", work.others.count);
  json.set("others", others.set("gpu_ns", work.others.gpu_ns));
  return json.set("graphs", work.graphs);
}

// Texts around the lines, each once; why there are none.
analysis::Figure<std::vector<const symbols::SourceText*>> sources_of(
    const analysis::SessionData& session, const std::vector<SyncLine>& lines) {
  std::vector<const symbols::SourceText*> sources;
  std::unordered_set<const symbols::SourceText*> known;
  for (const SyncLine& line : lines) {
    const symbols::SourceText* source = session.code.source(*line.site);
    if (source != nullptr && known.insert(source).second) sources.push_back(source);
  }
  if (!sources.empty() || lines.empty()) return sources;
  if (!session.summary.header.source_text) {
    return analysis::Unknown{"the session was recorded with enable_source_collection = false",
                             "record without it"};
  }
  return analysis::Unknown{"no source text of these files was kept",
                           "`gpufl symbolize SESSION` on the machine that has the files; add "
                           "--source-root DIR if they have moved"};
}

}  // namespace

void write_waits(JsonWriter& out, const SessionReport& report) {
  write_figure(out, "waits", report.overview.waits, [&](const auto& waits) {
    write_list(out, "by_call", waits, [](const analysis::WaitGroup& wait) {
      Json entry = Json::object();
      return entry.set("call", wait.call).set("blocked_ns", to_json(wait.blocked_ns));
    });
    const analysis::SessionView view(report.session, report.overview, {});
    const std::vector<SyncLine> lines = sync_lines(view);
    const analysis::WaitLaunches found = wait_launches(view, lines, kMostKernels);
    KernelPlaces places;
    out.begin_array("by_line");
    for (size_t i = 0; i < lines.size(); ++i) {
      const SyncLine& line = lines[i];
      const analysis::LineLaunches& launches = found.lines[i];
      Json entry = Json::object();
      entry.set("label", line.site->text).set("file", line.site->file);
      entry.set("line", line.site->line).set("call", wait_name(view.tables.waits, line));
      entry.set("holds_stream", line.holds_stream).set("count", uint64_t{line.waits.size()});
      entry.set("blocked_ns", line.blocked_ns);
      entry.set("typical", wait_json(launches.typical));
      entry.set("longest", wait_json(launches.longest));
      out.push(entry.set("launched", json_figure(launches.launched, [&](const auto& work) {
                           return launched_json(work, places);
                         })));
    }
    out.end();
    write_list(out, "kernels", places.names(), [&](uint32_t name) {
      const auto& kernel = report.session.kernel_names().of(name);
      Json entry = Json::object();
      return entry.set("label", kernel.short_name).set("full_name", kernel.full_name);
    });
    out.set("kernels_without_call", found.kernels_without_call);
    write_list_figure(out, "sources", sources_of(report.session, lines),
                      [](const symbols::SourceText* source) { return to_json(*source); });
  });
}

}  // namespace gpufl::report
