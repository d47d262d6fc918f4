// SPDX-License-Identifier: Apache-2.0
#include "capture/session_status.hpp"

#include <map>
#include <string>

#include "base/clock.hpp"

namespace gpufl::capture {

namespace {

using base::Json;

constexpr std::chrono::milliseconds kPatience{250};

Json to_json(const std::map<std::string, uint64_t>& counts) {
  Json object = Json::object();
  for (const auto& [name, count] : counts) object.set(name, count);
  return object;
}

Json cost(const format::Ledger& ledger) {
  Json object = Json::object();
  object.set("collector_cpu_ns", ledger.collector_cpu_ns);
  if (ledger.callback_ns) object.set("callback_ns", *ledger.callback_ns);
  if (ledger.vendor_overhead_ns) object.set("vendor_overhead_ns", *ledger.vendor_overhead_ns);
  if (ledger.cupti_overhead_ns) object.set("cupti_overhead_ns", *ledger.cupti_overhead_ns);
  object.set("raw_bytes", ledger.writer.raw_bytes);
  return object;
}

Json to_json(const backend::PendingCall& call, int64_t now_ns, const CollectorStatus& status) {
  Json item = Json::object();
  item.set("function", call.function).set("age_ns", now_ns - call.time_ns);
  if (!call.kernel.empty()) item.set("kernel", call.kernel);
  item.set("thread", call.thread);
  if (call.device >= 0) item.set("device", call.device);
  item.set("correlation", call.correlation);
  if (call.scope != 0) item.set("scope", call.scope);
  if (const auto name = status.scope_names.find(call.scope); name != status.scope_names.end()) {
    item.set("scope_name", name->second);
  }
  if (const auto stack = status.stacks.find(call.stack); stack != status.stacks.end()) {
    Json frames = Json::array();
    for (const std::string& frame : stack->second) frames.push(frame);
    item.set("stack", std::move(frames));
  }
  return item;
}

Json to_json(const NamedTraceStatus& named, int64_t now_ns, const CollectorStatus& status) {
  const backend::TraceStatus& trace = named.status;
  Json object = Json::object();
  object.set("backend", named.backend).set("state", trace.state);
  if (!trace.detail.empty()) object.set("detail", trace.detail);
  object.set("launches", trace.launches).set("kernels", trace.kernels);
  object.set("dropped", trace.dropped).set("pending_count", trace.pending_count);
  Json pending = Json::array();
  for (const backend::PendingCall& call : trace.pending) {
    pending.push(to_json(call, now_ns, status));
  }
  object.set("pending", std::move(pending));
  return object;
}

}  // namespace

Json session_status(const StatusParts& parts) {
  const auto told = parts.collector.status(kPatience);
  CollectorStatus status = told.value_or(CollectorStatus{});
  if (!told) status.traces = parts.recording.traces();  // without names, but there
  status.ledger.writer = parts.log.counts();
  const int64_t now_ns = base::monotonic_ns() - parts.session_start_ns;

  Json out = Json::object();
  out.set("session_id", parts.header.session_id).set("run_id", parts.header.run_id);
  out.set("dir", parts.dir.string()).set("pid", parts.header.pid);
  out.set("app", parts.header.app_name).set("engine", parts.instruments.engine);
  const std::string state = parts.recording.state();
  out.set("state", state).set("duration_ns", now_ns);
  if (!told && state != "ended") out.set("collector", "stuck");
  if (parts.instruments.gate) out.set("capture_range", parts.instruments.gate->range());
  out.set("deep_window", parts.deep_windows.status(now_ns));
  if (!status.ledger.writer.paused.empty()) out.set("log_paused", status.ledger.writer.paused);
  out.set("rows", to_json(status.ledger.writer.rows));
  out.set("losses", to_json(status.ledger.losses())).set("cost", cost(status.ledger));
  if (!status.traces.empty()) out.set("tracer", to_json(status.traces.front(), now_ns, status));
  if (status.traces.size() > 1) {
    Json tracers = Json::array();
    for (const NamedTraceStatus& one : status.traces) tracers.push(to_json(one, now_ns, status));
    out.set("tracers", std::move(tracers));
  }
  return out;
}

}  // namespace gpufl::capture
