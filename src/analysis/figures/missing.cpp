// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/missing.hpp"

#include <algorithm>
#include <array>

#include "format/engines.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {

namespace {

constexpr std::string_view kGpuWork = "gpu_work";  // of traces that tell of the CPU alone

const Capability* refusal(const SessionSummary& summary, std::string_view feature) {
  const auto& capabilities = summary.capabilities;
  const auto found =
      std::find_if(capabilities.begin(), capabilities.end(), [&](const Capability& capability) {
        return capability.feature == feature && !capability.is_as_asked();
      });
  return found == capabilities.end() ? nullptr : &*found;
}

Unknown refused(const Capability& capability) {
  const std::string& detail = capability.detail.empty() ? capability.reason : capability.detail;
  return {capability.feature + " was asked for and could not be had: " + detail, capability.hint};
}

// What tells that GPU work was to be recorded and was not; null: nothing does.
const base::Json* find_event(const SessionSummary& summary) {
  const std::vector<base::Json>& events = summary.events;
  const auto found = std::find_if(events.begin(), events.end(), [](const base::Json& event) {
    const std::string& name = event["name"].as_string();
    return name == "trace_unavailable" || name == "capture_range_never_opened";
  });
  return found == events.end() ? nullptr : &*found;
}

// Rows of work that the ledger counts; only to be asked where none was read.
uint64_t written_gpu_rows(const SessionSummary& summary) {
  uint64_t count = 0;
  if (!summary.ledger) return count;
  for (const char* kind : {"kernel", "memcpy", "memset"}) {
    const auto found = summary.ledger->writer.rows.find(kind);
    if (found != summary.ledger->writer.rows.end()) count += found->second;
  }
  return count;
}

bool has_damaged_gpu_log(const SessionSummary& summary) {
  return summary.has_faults &&
         std::any_of(summary.problems.begin(), summary.problems.end(),
                     [](const format::Problem& problem) {
                       return problem.file.starts_with("device.") &&
                              problem.kind != format::Problem::Kind::UnknownKind &&
                              problem.kind != format::Problem::Kind::UnknownColumn &&
                              problem.kind != format::Problem::Kind::NewerFormat;
                     });
}

// An option by its name, and as `gpufl trace` has it.
std::string as_option(std::string_view option) {
  struct Switch {
    std::string_view option, text;
  };
  static constexpr Switch kSwitches[] = {{"enable_stack_trace", "--stacks"},
                                         {"enable_memory_tracking", "--memory"},
                                         {"enable_cuda_graphs_tracking", "--graphs"}};
  std::string text(option);
  for (const Switch& entry : kSwitches) {
    if (entry.option == option) text.append(" (gpufl trace ").append(entry.text).append(")");
  }
  return text;
}

// What makes another tool tell what `option` records; empty: nothing that we know of.
std::string_view remedy_of(std::string_view tool, std::string_view option) {
  struct Remedy {
    std::string_view tool, option, text;
  };
  static constexpr Remedy kRemedies[] = {
      {"torch_profiler", "enable_stack_trace", "profile with with_stack=True"},
      {"torch_profiler", "the engine Trace",
       "profile with ProfilerActivity.CPU and ProfilerActivity.CUDA"},
      {"nsight_systems", "enable_stack_trace", "record with nsys profile --cudabacktrace=all"},
      {"nsight_systems", "the engine Trace", "record with nsys profile --trace=cuda"},
      {"nsight_systems", "enable_memory_tracking",
       "record with nsys profile --cuda-memory-usage=true"},
  };
  for (const Remedy& remedy : kRemedies) {
    if (remedy.tool == tool && remedy.option == option) return remedy.text;
  }
  return {};
}

// Dormant to the end, or over before the delay was: then nobody has counted records either.
bool was_never_on(const SessionSummary& summary) {
  return summary.ledger && !summary.ledger->kernel_records && !summary.live &&
         !summary.header.engine.empty() && summary.header.engine != "Monitor";
}

constexpr std::array<std::string_view, 2> kSamplingEngines = {"PcSampling", "Deep"};

bool is_among(std::span<const std::string_view> engines, std::string_view engine) {
  return std::find(engines.begin(), engines.end(), engine) != engines.end();
}

// One of them that was asked for in vain; null: none was.
const Capability* refused_engine(const SessionSummary& summary,
                                 std::span<const std::string_view> engines) {
  for (const Capability& capability : summary.capabilities) {
    if (capability.feature == "profiling_engine" && !capability.is_as_asked() &&
        is_among(engines, capability.asked)) {
      return &capability;
    }
  }
  return nullptr;
}

// "record with the engine PcSampling (gpufl trace --engine PcSampling)": those of this version.
std::string engines_to_record_with(std::span<const std::string_view> engines) {
  const bool is_any_here = std::any_of(engines.begin(), engines.end(), format::has_engine);
  std::string text;
  std::string_view example;
  for (const std::string_view engine : engines) {
    if (is_any_here && !format::has_engine(engine)) continue;
    if (text.empty()) example = engine;
    text.append(text.empty() ? "record with the engine " : " or ").append(engine);
  }
  if (!is_any_here) return text + ": this version does not have it yet";
  return text.append(" (gpufl trace --engine ").append(example).append(")");
}

}  // namespace

UnreadRows unread_rows(const SessionSummary& summary) {
  UnreadRows rows;
  if (!summary.ledger) return rows;
  uint64_t accounted = summary.ledger->writer.rows_deleted;
  for (const auto& [kind, count] : summary.rows) accounted += count;
  for (const auto& [kind, count] : summary.ledger->writer.rows) rows.written += count;
  rows.unread = rows.written - std::min(rows.written, accounted);
  return rows;
}

std::string lost_gpu_work(const SessionSummary& summary) {
  if (summary.live) return {};
  if (!summary.ledger) {
    if (summary.header.engine.empty()) return {};  // nobody recorded it: made by hand or imported
    return "the session has no end: " + std::string(format::kUnclosed);
  }
  static constexpr std::string_view kOfGpuWork[] = {
      "launches_missing", "graph_kernels_missing", "vendor_dropped",
      "impossible_times", "notes_dropped",         "rounds_lost",
      "windows_deleted",  "tracings_refused",      format::Ledger::kTruncatedTrace};
  // Of which kind the rows were that the writer dropped is not known.
  const auto& dropped = summary.ledger->writer.dropped;
  std::string lost;
  for (const auto& [name, count] : summary.ledger->losses()) {
    const bool may_be_gpu_work =
        dropped.contains(name) ||
        std::find(std::begin(kOfGpuWork), std::end(kOfGpuWork), name) != std::end(kOfGpuWork);
    if (!may_be_gpu_work) continue;
    lost += (lost.empty() ? "" : ", ") + name + " " + text::count(count);
  }
  const uint64_t owed = summary.ledger->launches_without_record();
  if (lost.empty() && owed > 0) lost = "launches without record " + text::count(owed);
  const UnreadRows rows = unread_rows(summary);
  if (lost.empty() && rows.unread > 0) {
    return text::count(rows.unread) + " of " + text::plural(rows.written, "written row") +
           " cannot be read";
  }
  return lost.empty() ? lost : "records were lost: " + lost;
}

bool records_gpu_work(const SessionSummary& summary) {
  const ActivityTotals& activity = summary.activity;
  if (activity.kernels + activity.copies + activity.fills != 0) return true;
  if (written_gpu_rows(summary) > 0 || has_damaged_gpu_log(summary)) return false;
  if (was_never_on(summary)) return false;
  if (!lost_gpu_work(summary).empty()) return false;
  return summary.header.engine != "Monitor" && find_event(summary) == nullptr &&
         refusal(summary, kGpuWork) == nullptr;
}

bool records_gpu_work(const SessionData& session) {
  const Tables& tables = session.tables;
  const size_t rows = tables.kernels.rows() + tables.copies.rows() + tables.fills.rows();
  return rows != 0 || records_gpu_work(session.summary);
}

Unknown missing_gpu_work(const SessionSummary& summary) {
  if (const base::Json* event = find_event(summary)) {
    const std::string& text = (*event)["text"].as_string();
    const std::string& name = (*event)["name"].as_string();
    return {"no GPU work was recorded: " + (text.empty() ? name : text),
            (*event)["hint"].as_string()};
  }
  if (const Capability* capability = refusal(summary, kGpuWork)) {
    return {capability->detail, capability->hint};
  }
  const uint64_t written = written_gpu_rows(summary);
  if (written > 0 && unread_rows(summary).unread == 0) {
    return {
        std::to_string(written) + " rows of GPU work were deleted to stay within the log's limits",
        "give the log more room: log_spool_mb"};
  }
  if (written > 0 || has_damaged_gpu_log(summary)) {
    return {
        (written > 0 ? std::to_string(written) + " rows of GPU work were written and"
                     : std::string("the log of GPU work is damaged: its rows")) +
            " cannot be read",
        "`gpufl verify` tells what is damaged; copy the session again from where it was recorded"};
  }
  const std::string lost = lost_gpu_work(summary);
  if (summary.header.engine != "Monitor" && !lost.empty()) {
    return {"no GPU work is in the log, but there may have been some: " + lost,
            summary.ledger ? "give the log more room: log_spool_mb, free disk space"
                           : "have the program end by exit, not by _exit or a signal"};
  }
  if (const Capability* capability = refusal(summary, "profiling_engine")) {
    return refused(*capability);
  }
  if (was_never_on(summary)) {
    return {"recording of the GPU was never turned on: dormant until told, or still in its delay",
            "`gpufl control PID start` turns it on; or a shorter --delay"};
  }
  return {"the engine Monitor records no GPU work",
          "record with `gpufl trace`, or with the engine Trace"};
}

bool is_refused(const SessionData& session, std::string_view feature) {
  return refusal(session.summary, feature) != nullptr;
}

std::string_view imported_from(const SessionSummary& summary) {
  for (const Capability& capability : summary.capabilities) {
    if (capability.feature == "recording" && capability.reason == "imported") return capability.got;
  }
  return {};
}

std::string deeper_engine(const SessionSummary& summary, std::string_view engine) {
  if (!imported_from(summary).empty()) return {};
  return " The engine " + std::string(engine) + " would tell" +
         (format::has_engine(engine) ? "." : ", which this version does not have yet.");
}

Unknown missing_rows(const SessionSummary& summary, const std::string& what,
                     std::span<const std::string_view> engines) {
  if (const Capability* capability = refused_engine(summary, engines)) {
    const std::string& why = capability->detail.empty() ? capability->reason : capability->detail;
    return {"the engine " + capability->asked + " was asked for and could not be had: " + why,
            capability->hint};
  }
  const std::string& engine = summary.header.engine;
  if (is_among(engines, engine)) {
    return {"the engine " + engine + " recorded none: no kernel ran while it looked", ""};
  }
  return {"the engine " + engine + " records no " + what, engines_to_record_with(engines)};
}

bool wants_samples(const SessionSummary& summary) {
  return refused_engine(summary, kSamplingEngines) != nullptr ||
         is_among(kSamplingEngines, summary.header.engine);
}

Unknown missing_samples(const SessionSummary& summary) {
  const Capability* const capability = refusal(summary, "pc_sampling");
  if (capability != nullptr) return refused(*capability);
  const auto& ledger = summary.ledger;
  if (ledger && ledger->sampling_buffers_full.value_or(0) > 0) {
    return {text::plural(*ledger->sampling_buffers_full, "window") +
                " brought no sample because the hardware's buffer was full",
            "sample less often: GPUFL_PC_SAMPLING_PERIOD"};
  }
  return missing_rows(summary, "stalls", kSamplingEngines);
}

Unknown missing_option(const SessionData& session, std::string_view what, std::string_view option) {
  if (!records_gpu_work(session)) return missing_gpu_work(session.summary);
  const Capability* const capability = refusal(session.summary, option);
  const std::string_view tool = imported_from(session.summary);
  if (capability != nullptr) {
    return tool.empty() ? refused(*capability) : Unknown{capability->detail, capability->hint};
  }
  if (!tool.empty()) {
    return {std::string(what) + " not in the trace", std::string(remedy_of(tool, option))};
  }
  return {std::string(what) + " not recorded", "record with " + as_option(option)};
}

Unknown missing_metrics(const SessionSummary& summary) {
  if (!imported_from(summary).empty()) return {"they are not in the trace", ""};
  return {"they were not sampled",
          "record with system_sample_rate_ms and continuous_system_sampling (gpufl trace "
          "--interval 100ms)"};
}

Figure<bool> records_markers(const SessionSummary& summary) {
  const bool has_any = summary.rows.count("marker") > 0;
  const bool is_absent = summary.event_counts.count("no_session_left") > 0;
  if (has_any || is_absent || summary.header.backend != "none") return true;
  return Unknown{"NVTX is heard through the NVIDIA backend, and no vendor's backend was in use",
                 "where there is no NVIDIA driver, name the backend: GPUFL_BACKEND=nvidia"};
}

}  // namespace gpufl::analysis
