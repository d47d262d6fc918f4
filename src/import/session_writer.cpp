// SPDX-License-Identifier: Apache-2.0
#include "import/session_writer.hpp"

#include <algorithm>
#include <map>
#include <system_error>
#include <utility>

#include "base/json.hpp"
#include "format/capability.hpp"
#include "format/former_names.hpp"
#include "format/log_writer.hpp"
#include "import/session_rows.hpp"

namespace gpufl::importing {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::Status;
using format::Kind;

void write_capability(const Shortfall& one, format::LogWriter& log) {
  const format::Capability line{one.feature, "on", "off", one.reason, one.detail, one.hint, {}};
  log.write(Kind::Capability, line.to_json());
}

// The lines that a report begins with: what this session is, and what it lacks.
void write_shortfalls(const Trace& trace, const std::string& file, format::LogWriter& log) {
  const format::Capability origin{
      "recording", "gpufl", trace.source, "imported", "imported from " + file, {}, {}};
  log.write(Kind::Capability, origin.to_json());
  if (!trace.truncated.empty()) {
    write_capability({"whole_trace", "truncated", trace.truncated,
                      "what follows is missing: record or copy it again"},
                     log);
  }
  if (trace.has_gpu_activity()) {
    write_capability({"launch_count", "imported",
                      "the trace shows which kernels ran, but launches were not counted", ""},
                     log);
    write_capability(
        {"occupancy", "imported", "the trace does not contain the theoretical occupancy", ""}, log);
  }
  for (const Shortfall& one : trace.shortfalls) write_capability(one, log);
  const auto count_without_bytes = [](const auto& rows) {
    return std::count_if(rows.begin(), rows.end(),
                         [](const auto& row) { return row.bytes == kUnknown; });
  };
  const auto unsized = count_without_bytes(trace.copies) + count_without_bytes(trace.fills);
  if (unsized > 0) {
    write_capability({"bytes", "not_in_trace",
                      std::to_string(unsized) +
                          " copies and memsets have no size: sums and rates do not include them",
                      ""},
                     log);
  }
}

void write_devices(const Trace& trace, format::LogWriter& log) {
  std::map<int64_t, const Json*> devices;
  static const Json kNoFacts = Json::object();
  for (uint32_t lane = 0; lane < trace.lanes.size(); ++lane) {
    const int64_t device = trace.lanes[lane].device;
    if (device == kUnknown) continue;
    const auto facts = trace.devices.find(device);
    devices[device] = facts == trace.devices.end() ? &kNoFacts : &facts->second;
  }
  for (const auto& [number, facts] : devices) {
    Json line = Json::object();
    line.set("device", number);
    for (const auto& [key, value] : facts->members()) line.set(key, value);
    log.write(Kind::Device, format::with_names_for_all(line));
  }
}

void write_events(const Trace& trace, const std::string& file, format::LogWriter& log) {
  Json event = Json::object();
  event.set("time", 0).set("name", "imported").set("text", file).set("source", trace.source);
  if (!trace.not_imported.empty()) {
    Json left = Json::object();
    for (const auto& [kind, count] : trace.not_imported) left.set(kind, count);
    event.set("not_imported", std::move(left));
  }
  log.write(Kind::Event, event);
  for (const auto& [thread, text] : trace.thread_names) {
    Json named = Json::object();
    named.set("time", 0).set("name", "thread_name").set("thread", thread).set("text", text);
    log.write(Kind::Event, named);
  }
}

Status close(const Trace& trace, int64_t end_ns, format::LogWriter& log) {
  format::Ledger ledger;
  if (trace.has_gpu_activity()) ledger.kernel_records = trace.kernels.size();
  for (const Kernel& kernel : trace.kernels) {
    auto& records = ledger.by_device[trace.lanes[kernel.lane].device].kernel_records;
    records = records.value_or(0) + 1;
  }
  ledger.impossible_times = trace.impossible_times;
  ledger.vendor_overhead_ns = ledger.cupti_overhead_ns = trace.overhead_ns;
  ledger.unknown.insert("collector_cpu_ns");
  if (!trace.truncated.empty()) ledger.uncounted.insert(format::Ledger::kTruncatedTrace);
  if (Status closed = log.close(end_ns, ledger); !closed) return closed;
  const format::WriterCounts counts = log.counts();
  if (counts.dropped.empty()) return Status::ok();
  const auto& [reason, rows] = *counts.dropped.begin();
  return {base::Code::IoError, std::to_string(rows) + " rows could not be written: " + reason +
                                   "; make room there, or choose another folder"};
}

}  // namespace

int64_t start_wall_ns(const Trace& trace) {
  // Traces that tell no date count from zero or somewhat before.
  return std::max<int64_t>(0, trace.wall_of_zero_ns + span_of(trace).begin);
}

base::Result<WrittenSession> write_session(Trace& trace, const SessionPlace& place) {
  const TimeSpan span = span_of(trace);
  format::SessionHeader header;
  header.session_id = place.session_id;
  header.run_id = place.run_id;
  header.app_name = place.app_name;
  header.gpufl_version = place.gpufl_version;
  header.engine = "Trace";
  header.backend = trace.backend;
  header.start_wall_ns = start_wall_ns(trace);
  header.pid = trace.pid;
  header.process = trace.process;
  header.host = trace.host;
  header.os = trace.os;
  header.rank = trace.rank;
  header.world_size = trace.world_size;

  format::LogOptions options;
  options.session_dir = place.folder / place.session_id;
  options.spool_bytes = 0;
  auto log = format::LogWriter::create(options, header);
  if (!log) return log.status();
  WrittenSession written{options.session_dir, span.end - span.begin, {}};
  const std::string file = place.file.filename().string();
  write_shortfalls(trace, file, **log);
  write_devices(trace, **log);
  write_events(trace, file, **log);
  Status status = SessionRows(trace, **log, span.begin).write(written.duration_ns);
  const Status closed = close(trace, written.duration_ns, **log);
  if (status) status = closed;
  if (!status) {
    log->reset();
    std::error_code ignored;
    fs::remove_all(written.dir, ignored);
    return status;
  }
  written.rows = (*log)->counts().rows;
  return written;
}

}  // namespace gpufl::importing
