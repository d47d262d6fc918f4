// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/missing.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "format/capability_words.hpp"
#include "format/engines.hpp"
#include "format/event_names.hpp"
#include "text/units.hpp"

namespace gpufl::analysis {

namespace {

constexpr std::string_view kCleanExitRemedy =
    "let the program end through exit, not _exit or a signal";
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
  return {format::feature_words(capability) + " was requested but is not available: " + detail,
          capability.hint};
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

// An option that is on or off, by its name, and as `gpufl trace` or the environment has it.
std::string as_option(std::string_view option) {
  struct Switch {
    std::string_view option, text;
  };
  static constexpr Switch kSwitches[] = {{"enable_stack_trace", "--stacks"},
                                         {"enable_memory_tracking", "--memory"},
                                         {"enable_cuda_graphs_tracking", "--graphs"}};
  std::string text(option);
  for (const Switch& entry : kSwitches) {
    if (entry.option == option) return text + " (gpufl trace " + std::string(entry.text) + ")";
  }
  if (!option.starts_with("enable_")) return text;
  std::string variable = "GPUFL_";
  for (const char c : option) {
    variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return text + " (" + variable + "=1)";
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

// Losses of the ledger, by name, that are among `names` or rows that the writer dropped, of which
// the kind is not known: "io_error 3, rounds_lost 1"; empty: there are none.
std::string losses_among(const format::Ledger& ledger, std::span<const std::string_view> names) {
  std::string lost;
  for (const auto& [name, count] : ledger.losses()) {
    if (!ledger.writer.dropped.contains(name) &&
        std::find(names.begin(), names.end(), name) == names.end()) {
      continue;
    }
    lost += (lost.empty() ? "" : ", ") + name + " " + text::count(count);
  }
  return lost;
}

// "12 of 40 written rows cannot be read"; empty: all can.
std::string unread_text(const SessionSummary& summary) {
  const UnreadRows rows = unread_rows(summary);
  if (rows.unread == 0) return {};
  return text::count(rows.unread) + " of " + text::plural(rows.written, "written row") +
         " cannot be read";
}

// Of scopes or markers, `dropped` of which found no room.
std::optional<Unknown> lost_marks(const SessionSummary& summary, uint64_t dropped,
                                  const std::string& noun) {
  if (dropped > 0) {
    return Unknown{text::plural(dropped, noun) + (dropped == 1 ? " was" : " were") +
                       " lost because the ring of their thread was full",
                   std::string(kFullRingRemedy)};
  }
  static constexpr std::string_view kOfAllRows[] = {"rounds_lost", "windows_deleted"};
  if (const std::string lost = losses_among(*summary.ledger, kOfAllRows); !lost.empty()) {
    return Unknown{"records were lost: " + lost,
                   "keep more of the log: log_spool_mb, log_keep_last_s, free disk space"};
  }
  if (std::string unread = unread_text(summary); !unread.empty()) {
    return Unknown{std::move(unread), "`gpufl verify` shows what is damaged"};
  }
  return std::nullopt;
}

// Of a session without a ledger: what was marked last may not have reached the log. Of a live one
// the counts are those so far.
std::optional<Unknown> lost_end(const SessionSummary& summary) {
  // A session made by hand, or imported: nothing says that it should have had an end.
  if (summary.ended || summary.live || summary.header.engine.empty()) return std::nullopt;
  return Unknown{"the session was cut off, so the last ones may be missing",
                 std::string(kCleanExitRemedy)};
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
    return "the session was cut off: " + std::string(format::kUnclosed);
  }
  static constexpr std::string_view kOfGpuWork[] = {
      "launches_missing", "graph_kernels_missing", "vendor_dropped",
      "impossible_times", "notes_dropped",         "rounds_lost",
      "windows_deleted",  "tracings_refused",      format::Ledger::kTruncatedTrace};
  std::string lost = losses_among(*summary.ledger, kOfGpuWork);
  const uint64_t owed = summary.ledger->launches_without_record();
  if (lost.empty() && owed > 0) lost = "launches without record " + text::count(owed);
  return lost.empty() ? unread_text(summary) : "records were lost: " + lost;
}

std::optional<Unknown> lost_scopes(const SessionSummary& summary) {
  if (!summary.ledger) return lost_end(summary);
  return lost_marks(summary, summary.ledger->scopes_dropped, "scope");
}

std::optional<Unknown> lost_markers(const SessionSummary& summary) {
  if (!summary.ledger) return lost_end(summary);
  return lost_marks(summary, summary.ledger->markers_dropped.value_or(0), "marker");
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
    return {(written > 0 ? std::to_string(written) + " rows of GPU work were written and"
                         : std::string("the log of GPU work is damaged: its rows")) +
                " cannot be read",
            "`gpufl verify` shows what is damaged; copy the session again from the machine that "
            "recorded it"};
  }
  const std::string lost = lost_gpu_work(summary);
  if (summary.header.engine != "Monitor" && !lost.empty()) {
    return {"the log has no GPU work, but there may have been some: " + lost,
            summary.ledger ? "give the log more room: log_spool_mb, free disk space"
                           : std::string(kCleanExitRemedy)};
  }
  if (const Capability* capability = refusal(summary, "profiling_engine")) {
    return refused(*capability);
  }
  if (was_never_on(summary)) {
    return {"recording of the GPU was never turned on: it was dormant, or still in its delay",
            "turn it on with `gpufl control PID start`, or use a shorter --delay"};
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
  return " The engine " + std::string(engine) + " would show it" +
         (format::has_engine(engine) ? "." : ", but this version does not have it yet.");
}

Unknown missing_rows(const SessionSummary& summary, const std::string& what,
                     std::span<const std::string_view> engines) {
  if (const Capability* capability = refused_engine(summary, engines)) {
    const std::string& why = capability->detail.empty() ? capability->reason : capability->detail;
    return {"the engine " + capability->asked + " was requested but is not available: " + why,
            capability->hint};
  }
  const std::string& engine = summary.header.engine;
  if (is_among(engines, engine)) {
    return {"the engine " + engine + " recorded none: no kernel ran while it sampled", ""};
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
                " had no samples because the hardware's buffer was full",
            "sample less often: GPUFL_PC_SAMPLING_PERIOD"};
  }
  const base::Json* const armed = summary.armed_windows();
  if (armed != nullptr && (*armed)["only"].as_bool() && summary.deep_windows.count == 0) {
    return {"samples were to be taken in deep windows only, and no window opened",
            "open one with --deep-after, --deep-when, gpufl control PID deep or deepWindow()"};
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

Unknown missing_call_times(const SessionData& session) {
  // Nobody saw those calls, and recording again promises no more.
  if (records_gpu_work(session) && session.summary.header.engine == "Trace") {
    return {"no begin or no end of the calls is known", ""};
  }
  return missing_option(session, "the times of API calls were", "the engine Trace");
}

Unknown missing_metrics(const SessionSummary& summary) {
  if (!imported_from(summary).empty()) return {"they are not in the trace", ""};
  return {"they were not sampled",
          "record with system_sample_rate_ms and continuous_system_sampling (gpufl trace "
          "--interval 100ms)"};
}

Figure<bool> records_markers(const SessionSummary& summary) {
  const bool has_any = summary.rows.count("marker") > 0;
  const bool is_absent = summary.event_counts.count(format::kNoSessionLeft) > 0;
  if (has_any || is_absent || summary.header.backend != "none") return true;
  return Unknown{
      "NVTX is recorded through the NVIDIA backend, and no GPU vendor's backend was in "
      "use",
      "on a machine without an NVIDIA driver, select the backend: GPUFL_BACKEND=nvidia"};
}

}  // namespace gpufl::analysis
