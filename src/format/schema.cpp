// SPDX-License-Identifier: Apache-2.0
#include "format/schema.hpp"

#include <array>

namespace gpufl::format {
namespace {

// Shorthands for the tables below.
constexpr ColumnSpec time(std::string_view name, Coding coding = Coding::Delta) {
  return {name, ColumnType::Time, coding, Dict::None, false};
}
constexpr ColumnSpec duration(std::string_view name) {
  return {name, ColumnType::Duration, Coding::Residual, Dict::None, false};
}
constexpr ColumnSpec integer(std::string_view name, Coding coding = Coding::Plain) {
  return {name, ColumnType::Integer, coding, Dict::None, false};
}
constexpr ColumnSpec id64(std::string_view name, Coding coding = Coding::Palette) {
  return {name, ColumnType::Id64, coding, Dict::None, false};
}
constexpr ColumnSpec dict_id(std::string_view name, Dict dict, Coding coding = Coding::Palette) {
  return {name, ColumnType::DictId, coding, dict, false};
}
constexpr ColumnSpec required(ColumnSpec column) {
  column.required = true;
  return column;
}

constexpr ColumnSpec kGpuStart = required(time("start", Coding::GpuTime));
constexpr ColumnSpec kCpuStart = required(time("start"));
constexpr ColumnSpec kTime = required(time("time"));
constexpr ColumnSpec kDuration = required(duration("dur"));
constexpr ColumnSpec kDevice = integer("device", Coding::Runs);
constexpr ColumnSpec kContext = integer("context", Coding::Runs);
constexpr ColumnSpec kStream = integer("stream", Coding::Runs);
constexpr ColumnSpec kCorrelation = integer("correlation", Coding::Delta);
constexpr ColumnSpec kApiStart = time("api_start", Coding::CallTime);
constexpr ColumnSpec kApiDuration = duration("api_dur");
constexpr ColumnSpec kThread = integer("thread", Coding::Runs);
constexpr ColumnSpec kScope = integer("scope", Coding::Runs);
constexpr ColumnSpec kInherited = integer("inherited", Coding::Runs);
constexpr ColumnSpec kStack = dict_id("stack", Dict::Stack);
constexpr ColumnSpec kGraphNode = id64("graph_node");
constexpr ColumnSpec kNodeStack = dict_id("node_stack", Dict::Stack);
constexpr ColumnSpec kExponent = integer("exponent", Coding::Runs);

constexpr ColumnSpec kKernel[] = {kGpuStart,
                                  kDuration,
                                  required(dict_id("config", Dict::Config)),
                                  kDevice,
                                  kContext,
                                  kStream,
                                  kCorrelation,
                                  kApiStart,
                                  kApiDuration,
                                  kThread,
                                  kScope,
                                  kInherited,
                                  kStack,
                                  time("queued"),
                                  time("submitted"),
                                  integer("graph", Coding::Runs),
                                  kGraphNode,
                                  id64("external"),
                                  kNodeStack};
static_assert(std::size(kKernel) == kernel_column::kCount);

constexpr ColumnSpec kMemcpy[] = {kGpuStart,
                                  kDuration,
                                  kDevice,
                                  kContext,
                                  kStream,
                                  kCorrelation,
                                  kApiStart,
                                  kApiDuration,
                                  kThread,
                                  kScope,
                                  kInherited,
                                  kStack,
                                  required(integer("bytes")),
                                  integer("direction", Coding::Runs),
                                  integer("source_kind", Coding::Runs),
                                  integer("target_kind", Coding::Runs),
                                  integer("peer_device", Coding::Runs),
                                  integer("async", Coding::Runs),
                                  kGraphNode,
                                  kNodeStack};
static_assert(std::size(kMemcpy) == memcpy_column::kCount);

constexpr ColumnSpec kMemset[] = {kGpuStart,
                                  kDuration,
                                  kDevice,
                                  kContext,
                                  kStream,
                                  kCorrelation,
                                  kApiStart,
                                  kApiDuration,
                                  kThread,
                                  kScope,
                                  kInherited,
                                  kStack,
                                  required(integer("bytes")),
                                  integer("value"),
                                  integer("memory_kind", Coding::Runs),
                                  kGraphNode,
                                  kNodeStack};
static_assert(std::size(kMemset) == memset_column::kCount);

constexpr ColumnSpec kSync[] = {kCpuStart,
                                kDuration,
                                kDevice,
                                kContext,
                                kStream,
                                kCorrelation,
                                kThread,
                                kScope,
                                kInherited,
                                kStack,
                                integer("call", Coding::Runs),
                                integer("event_id"),
                                kApiStart,
                                kApiDuration};
static_assert(std::size(kSync) == sync_column::kCount);

constexpr ColumnSpec kMemory[] = {kTime,
                                  kDevice,
                                  kContext,
                                  kStream,
                                  kCorrelation,
                                  kApiStart,
                                  kApiDuration,
                                  kThread,
                                  kScope,
                                  kInherited,
                                  kStack,
                                  required(integer("operation", Coding::Runs)),
                                  integer("memory_kind", Coding::Runs),
                                  id64("address", Coding::Plain),
                                  integer("bytes"),
                                  integer("async", Coding::Runs),
                                  id64("pool"),
                                  integer("pool_bytes")};
static_assert(std::size(kMemory) == memory_column::kCount);

constexpr ColumnSpec kGraph[] = {kGpuStart,
                                 kDuration,
                                 kDevice,
                                 kContext,
                                 kStream,
                                 kCorrelation,
                                 kApiStart,
                                 kApiDuration,
                                 kThread,
                                 kScope,
                                 kInherited,
                                 kStack,
                                 required(integer("graph", Coding::Palette)),
                                 integer("nodes"),
                                 integer("end_device", Coding::Runs)};
static_assert(std::size(kGraph) == graph_column::kCount);

constexpr ColumnSpec kApi[] = {kCpuStart,
                               kDuration,
                               required(dict_id("name", Dict::Name)),
                               kCorrelation,
                               kThread,
                               kScope,
                               kInherited,
                               kStack,
                               integer("result", Coding::Runs),
                               kContext,
                               dict_id("error", Dict::Name, Coding::Runs)};
static_assert(std::size(kApi) == api_column::kCount);

constexpr ColumnSpec kMarker[] = {id64("id", Coding::Plain),
                                  required(integer("shape", Coding::Runs)),
                                  kCpuStart,
                                  kDuration,
                                  kThread,
                                  integer("end_thread", Coding::Runs),
                                  kScope,
                                  dict_id("domain", Dict::Name, Coding::Runs),
                                  required(dict_id("name", Dict::Name)),
                                  integer("category", Coding::Runs),
                                  integer("color", Coding::Runs),
                                  integer("payload"),
                                  integer("payload_exponent", Coding::Runs),
                                  kStack};
static_assert(std::size(kMarker) == marker_column::kCount);

constexpr ColumnSpec kScopeEnded[] = {required(integer("id", Coding::Delta)),
                                      integer("parent", Coding::Delta),
                                      required(integer("thread", Coding::Runs)),
                                      integer("depth"),
                                      required(dict_id("name", Dict::Name)),
                                      dict_id("tag", Dict::Name),
                                      kCpuStart,
                                      kDuration,
                                      integer("repeat", Coding::Runs),
                                      integer("warmup", Coding::Runs),
                                      integer("ending", Coding::Runs)};
static_assert(std::size(kScopeEnded) == scope_column::kCount);

constexpr ColumnSpec kScopeOpen[] = {required(integer("id", Coding::Delta)),
                                     integer("parent", Coding::Delta),
                                     required(integer("thread", Coding::Runs)),
                                     integer("depth"),
                                     required(dict_id("name", Dict::Name)),
                                     dict_id("tag", Dict::Name),
                                     kCpuStart,
                                     integer("repeat", Coding::Runs),
                                     integer("warmup", Coding::Runs)};
static_assert(std::size(kScopeOpen) == scope_open_column::kCount);

constexpr ColumnSpec kDeviceMetric[] = {kTime, required(kDevice), integer("index"),
                                        required(dict_id("metric", Dict::Metric)),
                                        required(integer("value"))};
static_assert(std::size(kDeviceMetric) == device_metric_column::kCount);

constexpr ColumnSpec kHostMetric[] = {
    kTime, integer("index"), required(dict_id("metric", Dict::Metric)), required(integer("value"))};
static_assert(std::size(kHostMetric) == host_metric_column::kCount);

constexpr ColumnSpec kProcess[] = {kTime, required(kDevice),
                                   required(integer("pid", Coding::Palette)),
                                   dict_id("name", Dict::Text), integer("memory_bytes")};
static_assert(std::size(kProcess) == process_column::kCount);

constexpr ColumnSpec kCounter[] = {kTime, required(dict_id("name", Dict::Name)),
                                   required(integer("value"))};
static_assert(std::size(kCounter) == counter_column::kCount);

constexpr ColumnSpec kPcSample[] = {kTime,
                                    kDevice,
                                    kContext,
                                    required(id64("module")),
                                    dict_id("function", Dict::Name),
                                    required(integer("pc")),
                                    required(dict_id("stall", Dict::Metric)),
                                    required(integer("samples")),
                                    kCorrelation,
                                    kScope};
static_assert(std::size(kPcSample) == pc_sample_column::kCount);

constexpr ColumnSpec kSassMetric[] = {kTime,
                                      kDevice,
                                      kContext,
                                      required(id64("module")),
                                      dict_id("function", Dict::Name),
                                      required(integer("pc")),
                                      required(dict_id("metric", Dict::Metric)),
                                      required(integer("value")),
                                      kCorrelation,
                                      kScope};
static_assert(std::size(kSassMetric) == sass_metric_column::kCount);

constexpr ColumnSpec kRangeMetric[] = {kCpuStart,
                                       kDuration,
                                       kDevice,
                                       kContext,
                                       required(dict_id("range", Dict::Name)),
                                       required(dict_id("metric", Dict::Metric)),
                                       required(integer("value")),
                                       kExponent,
                                       kCorrelation,
                                       integer("pass", Coding::Runs),
                                       kScope};
static_assert(std::size(kRangeMetric) == range_metric_column::kCount);

constexpr ColumnSpec kPmSample[] = {kGpuStart,
                                    kDuration,
                                    required(kDevice),
                                    required(dict_id("metric", Dict::Metric)),
                                    required(integer("value")),
                                    kExponent};
static_assert(std::size(kPmSample) == pm_sample_column::kCount);

constexpr ColumnSpec kWarpSpan[] = {kGpuStart,
                                    kDuration,
                                    kDevice,
                                    required(integer("launch", Coding::Runs)),
                                    integer("correlation", Coding::Runs),
                                    integer("sm", Coding::Runs),
                                    required(integer("block", Coding::Runs)),
                                    required(integer("group", Coding::Runs)),
                                    required(dict_id("event", Dict::Name)),
                                    dict_id("group_name", Dict::Name, Coding::Runs),
                                    integer("payload"),
                                    integer("ending", Coding::Runs),
                                    integer("error_ns", Coding::Runs)};
static_assert(std::size(kWarpSpan) == warp_span_column::kCount);

constexpr ColumnSpec kPending[] = {kTime,        required(dict_id("function", Dict::Name)),
                                   kThread,      kDevice,
                                   kCorrelation, kScope,
                                   kInherited,   kStack};
static_assert(std::size(kPending) == pending_column::kCount);

constexpr std::array<KindSpec, kKindCount> kKinds = {{
    {Kind::Session, "session", Channel::System, {}},
    {Kind::Clock, "clock", Channel::System, {}},
    {Kind::Capability, "capability", Channel::System, {}},
    {Kind::Device, "device", Channel::System, {}},
    {Kind::Dict, "dict", Channel::System, {}},
    {Kind::Module, "module", Channel::Code, {}},
    {Kind::Source, "source", Channel::Code, {}},
    {Kind::Event, "event", Channel::System, {}},
    {Kind::WarpLaunch, "warp_launch", Channel::Device, {}},
    {Kind::Ledger, "ledger", Channel::System, {}},
    {Kind::End, "end", Channel::System, {}},
    {Kind::Kernel, "kernel", Channel::Device, kKernel},
    {Kind::Memcpy, "memcpy", Channel::Device, kMemcpy},
    {Kind::Memset, "memset", Channel::Device, kMemset},
    {Kind::Sync, "sync", Channel::Device, kSync},
    {Kind::Memory, "memory", Channel::Device, kMemory},
    {Kind::Graph, "graph", Channel::Device, kGraph},
    {Kind::Api, "api", Channel::Device, kApi},
    {Kind::Marker, "marker", Channel::Scope, kMarker},
    {Kind::Scope, "scope", Channel::Scope, kScopeEnded},
    {Kind::ScopeOpen, "scope_open", Channel::Scope, kScopeOpen},
    {Kind::DeviceMetric, "device_metric", Channel::System, kDeviceMetric},
    {Kind::HostMetric, "host_metric", Channel::System, kHostMetric},
    {Kind::Process, "process", Channel::System, kProcess},
    {Kind::Counter, "counter", Channel::Scope, kCounter},
    {Kind::PcSample, "pc_sample", Channel::Scope, kPcSample},
    {Kind::SassMetric, "sass_metric", Channel::Scope, kSassMetric},
    {Kind::RangeMetric, "range_metric", Channel::Scope, kRangeMetric},
    {Kind::PmSample, "pm_sample", Channel::Device, kPmSample},
    {Kind::WarpSpan, "warp_span", Channel::Device, kWarpSpan},
    {Kind::Pending, "pending", Channel::Device, kPending},
}};

}  // namespace

std::string_view to_string(Channel channel) {
  constexpr std::string_view kNames[kChannelCount] = {"device", "scope", "system", "code"};
  return kNames[static_cast<size_t>(channel)];
}

std::string_view to_string(Dict dict) {
  constexpr std::string_view kNames[kDictCount] = {"none",   "name",  "text", "metric",
                                                   "config", "stack", "frame"};
  return kNames[static_cast<size_t>(dict)];
}

const KindSpec& spec(Kind kind) { return kKinds[static_cast<size_t>(kind)]; }

const KindSpec* find_kind(std::string_view name) {
  for (const KindSpec& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

size_t duration_of(const KindSpec& kind, size_t time_column) {
  const size_t next = time_column + 1;
  if (kind.columns[time_column].type != ColumnType::Time || next >= kind.columns.size() ||
      kind.columns[next].type != ColumnType::Duration) {
    return kNoColumn;
  }
  return next;
}

size_t first_time(const KindSpec& kind) {
  for (size_t i = 0; i < kind.columns.size(); ++i) {
    if (kind.columns[i].type == ColumnType::Time) return i;
  }
  return kNoColumn;
}

}  // namespace gpufl::format
