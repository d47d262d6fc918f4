// SPDX-License-Identifier: Apache-2.0
#include "import/nsight_export.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "format/columns.hpp"
#include "import/api_names.hpp"
#include "import/sqlite_file.hpp"

namespace gpufl::importing {
namespace {

using base::Code;
using base::Json;
using base::Status;
using Row = SqliteFile::Row;

// Global ids: 8 bits of hardware, 8 of virtual machine, 24 of process, 24 of thread.
constexpr int kIdBits = 24;
constexpr int64_t kIdMask = (int64_t{1} << kIdBits) - 1;
int64_t pid_of(int64_t global_id) { return global_id < 0 ? 0 : global_id >> kIdBits & kIdMask; }
int64_t tid_of(int64_t global_id) { return global_id < 0 ? kUnknown : global_id & kIdMask; }

// Numbers of 32 bits that CUPTI has no value for.
int64_t unless_invalid(int64_t value) { return value >= int64_t{UINT32_MAX} ? kUnknown : value; }

// NVTX_EVENTS.eventType.
constexpr int64_t kMark = 34, kPushPop = 59, kStartEnd = 60, kDomainCreate = 75;

// "aten::mm, seq = 12, op_id = 990346": what torch.autograd.profiler.emit_nvtx says of an operator.
std::string_view operator_name(std::string_view text) {
  const size_t at = std::min(text.find(", op_id = "), text.find(", seq = "));
  return at == std::string_view::npos ? std::string_view() : text.substr(0, at);
}

// Ids count from 1.
int64_t correlation_of(const Row& row, size_t column) {
  const int64_t id = row.integer(column, 0);
  return id == 0 ? kUnknown : id;
}

// Times in two columns, as a start and a duration. What is no number, and what no clock shows, is
// impossible.
bool read_times(const Row& row, size_t start_column, size_t end_column, int64_t& start,
                int64_t& duration) {
  start = row.integer(start_column, INT64_MIN);
  const int64_t end = row.integer(end_column, INT64_MIN);
  if (!is_possible(start, 0) || !is_possible(end, 0)) return false;
  duration = end - start;
  return is_possible(start, duration);
}

class NsightReader {
 public:
  NsightReader(const SqliteFile& file, const ByteProgress& progress, uint64_t file_bytes)
      : file_(file), progress_(progress), file_bytes_(file_bytes) {}
  base::Result<std::vector<Trace>> read();

 private:
  Status read_strings();
  Status read_environment();
  Status read_kernels();
  Status read_copies();
  Status read_fills();
  Status read_waits();
  Status read_allocations();
  Status read_graphs();
  Status read_calls();
  Status read_ranges();
  Status read_overhead();
  Status read_processes();
  Status read_devices();

  Trace& of(int64_t pid);
  const std::string& text(int64_t id) const;
  int8_t memory_kind(int64_t number) const;
  // Columns 0 to 6 are kWork. False: its times are impossible, and it is counted.
  static bool read_work(const Row& row, int64_t device, bool is_instant, Trace& trace, Work& work);
  static bool read_work(const Row& row, Trace& trace, Work& work) {
    return read_work(row, row.integer(3), false, trace, work);
  }
  void add_range(const Row& row);

  const SqliteFile& file_;
  const ByteProgress& progress_;
  const uint64_t file_bytes_;
  std::map<int64_t, Trace> traces_;  // by process
  std::unordered_map<int64_t, std::string> strings_;
  std::map<int64_t, int8_t> memory_kinds_;  // theirs to the log's
  std::map<std::pair<int64_t, int64_t>, int64_t> device_of_context_;
  std::map<std::pair<int64_t, int64_t>, std::string> domains_;  // by process and number
  std::map<std::string, std::string> environment_;
  int64_t wall_of_zero_ns_ = 0;
};

const std::vector<std::string> kWork = {"globalPid", "start",    "end",          "deviceId",
                                        "contextId", "streamId", "correlationId"};

std::vector<std::string> with_work(std::initializer_list<const char*> more) {
  std::vector<std::string> columns = kWork;
  columns.insert(columns.end(), more.begin(), more.end());
  return columns;
}

Trace& NsightReader::of(int64_t pid) {
  const auto [found, is_new] = traces_.try_emplace(pid);
  if (is_new) found->second.pid = pid;
  return found->second;
}

const std::string& NsightReader::text(int64_t id) const {
  static const std::string kNothing;
  const auto found = strings_.find(id);
  return found == strings_.end() ? kNothing : found->second;
}

int8_t NsightReader::memory_kind(int64_t number) const {
  const auto found = memory_kinds_.find(number);
  return found == memory_kinds_.end() ? int8_t{kUnknown} : found->second;
}

bool NsightReader::read_work(const Row& row, int64_t device, bool is_instant, Trace& trace,
                             Work& work) {
  work.correlation = correlation_of(row, 6);
  work.lane = trace.lanes.add({device, row.integer(4), unless_invalid(row.integer(5))});
  if (read_times(row, 1, is_instant ? 1 : 2, work.start, work.duration)) return true;
  ++trace.impossible_times;
  return false;
}

Status NsightReader::read_strings() {
  Status status = file_.scan("StringIds", {"id", "value"}, [&](const Row& row) {
    strings_.emplace(row.integer(0), row.text(1));
  });
  if (!status) return status;
  // Their numbers, our words: the table says which, where there is one.
  return file_.scan("ENUM_CUDA_MEM_KIND", {"id", "label"}, [&](const Row& row) {
    memory_kinds_[row.integer(0)] = memory_kind_of(row.text(1));
  });
}

Status NsightReader::read_environment() {
  Status status = file_.scan("TARGET_INFO_SYSTEM_ENV", {"name", "value"}, [&](const Row& row) {
    environment_.emplace(row.text(0), row.text(1));
  });
  if (!status) return status;
  // Times count from the start of the capture, or are the system's clock: its start tells which.
  int64_t started_wall = 0, started = 0;
  status = file_.scan("TARGET_INFO_SESSION_START_TIME", {"utcEpochNs"},
                      [&](const Row& row) { started_wall = row.integer(0, 0); });
  if (!status) return status;
  status = file_.scan("ANALYSIS_DETAILS", {"startTime"},
                      [&](const Row& row) { started = row.integer(0, 0); });
  wall_of_zero_ns_ = started_wall - started;
  return status;
}

Status NsightReader::read_kernels() {
  const auto columns = with_work({"mangledName",
                                  "demangledName",
                                  "shortName",
                                  "registersPerThread",
                                  "gridX",
                                  "gridY",
                                  "gridZ",
                                  "blockX",
                                  "blockY",
                                  "blockZ",
                                  "clusterX",
                                  "clusterY",
                                  "clusterZ",
                                  "staticSharedMemory",
                                  "dynamicSharedMemory",
                                  "localMemoryPerThread",
                                  "localMemoryTotal",
                                  "cacheConfig",
                                  "graphId",
                                  "graphNodeId"});
  return file_.scan("CUPTI_ACTIVITY_KIND_KERNEL", columns, [&](const Row& row) {
    const int64_t pid = pid_of(row.integer(0));
    Trace& trace = of(pid);
    Kernel kernel;
    if (!read_work(row, trace, kernel)) return;
    device_of_context_[{pid, row.integer(4)}] = row.integer(3);
    Launch launch;
    const std::string* name = &text(row.integer(7));
    if (name->empty()) name = &text(row.integer(8));
    if (name->empty()) name = &text(row.integer(9));
    launch.name = trace.names.add(*name);
    launch.registers = row.integer(10);
    launch.grid = {row.integer(11), row.integer(12), row.integer(13)};
    launch.block = {row.integer(14), row.integer(15), row.integer(16)};
    if (row.integer(17) > 0) launch.cluster = {row.integer(17), row.integer(18), row.integer(19)};
    launch.shared_static = row.integer(20);
    launch.shared_dynamic = row.integer(21);
    launch.local_per_thread = row.integer(22);
    launch.local_total = row.integer(23);
    launch.cache = row.integer(24);
    kernel.launch = trace.launches.add(launch);
    kernel.graph = row.integer(25);
    kernel.graph_node = row.integer(26);
    trace.kernels.push_back(kernel);
  });
}

Status NsightReader::read_copies() {
  const auto columns =
      with_work({"bytes", "copyKind", "srcKind", "dstKind", "dstDeviceId", "graphNodeId"});
  return file_.scan("CUPTI_ACTIVITY_KIND_MEMCPY", columns, [&](const Row& row) {
    Trace& trace = of(pid_of(row.integer(0)));
    Copy copy;
    if (!read_work(row, trace, copy)) return;
    copy.bytes = possible_bytes(row.integer(7));
    // CUPTI's numbers, and behind them those of pages of unified memory that moved.
    constexpr int64_t kFirstMigration = 11;
    constexpr int8_t kMigrations[] = {1, 2, 8};
    const int64_t kind = row.integer(8);
    const int64_t migration = kind - kFirstMigration;
    copy.direction = migration >= 0 && migration < std::ssize(kMigrations)
                         ? kMigrations[migration]
                         : static_cast<int8_t>(kind < kFirstMigration ? kind : kUnknown);
    copy.source_kind = memory_kind(row.integer(9));
    copy.target_kind = memory_kind(row.integer(10));
    copy.peer_device = static_cast<int32_t>(unless_invalid(row.integer(11)));
    copy.graph_node = row.integer(12);
    trace.copies.push_back(copy);
  });
}

Status NsightReader::read_fills() {
  const auto columns = with_work({"bytes", "value", "memKind", "graphNodeId"});
  return file_.scan("CUPTI_ACTIVITY_KIND_MEMSET", columns, [&](const Row& row) {
    Trace& trace = of(pid_of(row.integer(0)));
    Fill fill;
    if (!read_work(row, trace, fill)) return;
    fill.bytes = possible_bytes(row.integer(7));
    fill.value = row.integer(8);
    fill.memory_kind = memory_kind(row.integer(9));
    fill.graph_node = row.integer(10);
    trace.fills.push_back(fill);
  });
}

Status NsightReader::read_waits() {
  const auto columns = with_work({"syncType", "eventId"});
  return file_.scan("CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", columns, [&](const Row& row) {
    const int64_t pid = pid_of(row.integer(0));
    Trace& trace = of(pid);
    Wait wait;
    // Some versions write device 0 for all: its context tells better.
    const auto known = device_of_context_.find({pid, row.integer(4)});
    const int64_t device = known == device_of_context_.end() ? row.integer(3) : known->second;
    if (!read_work(row, device, false, trace, wait)) return;
    constexpr auto kLast = static_cast<int64_t>(format::WaitKind::ContextSynchronize);
    const int64_t kind = row.integer(7);
    wait.call = static_cast<int8_t>(kind > 0 && kind <= kLast ? kind : kUnknown);
    wait.event_id = unless_invalid(row.integer(8));
    trace.waits.push_back(wait);
  });
}

Status NsightReader::read_allocations() {
  const auto columns = with_work({"memoryOperationType", "bytes", "address", "memKind"});
  return file_.scan("CUDA_GPU_MEMORY_USAGE_EVENTS", columns, [&](const Row& row) {
    Trace& trace = of(pid_of(row.integer(0)));
    Allocation one;
    if (!read_work(row, row.integer(3), true, trace, one)) return;
    one.operation = row.integer(7) == 0 ? 1 : 2;
    one.bytes = possible_bytes(row.integer(8));
    one.address = row.integer(9);
    one.memory_kind = memory_kind(row.integer(10));
    trace.allocations.push_back(one);
  });
}

Status NsightReader::read_graphs() {
  return file_.scan("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", with_work({"graphId"}), [&](const Row& row) {
    Trace& trace = of(pid_of(row.integer(0)));
    GraphRun run;
    if (!read_work(row, trace, run)) return;
    run.graph = row.integer(7, 0);
    trace.graphs.push_back(run);
  });
}

Status NsightReader::read_calls() {
  const std::vector<std::string> columns = {"globalTid",     "start",  "end",
                                            "correlationId", "nameId", "returnValue"};
  return file_.scan("CUPTI_ACTIVITY_KIND_RUNTIME", columns, [&](const Row& row) {
    const int64_t thread = row.integer(0);
    Trace& trace = of(pid_of(thread));
    int64_t start = 0, duration = 0;
    if (!read_times(row, 1, 2, start, duration)) {
      ++trace.impossible_times;
      return;
    }
    trace.calls.push_back({start, duration, correlation_of(row, 3), tid_of(thread),
                           trace.names.add(plain_api_name(text(row.integer(4)))),
                           static_cast<int32_t>(row.integer(5))});
  });
}

Status NsightReader::read_ranges() {
  const std::vector<std::string> columns = {"globalTid", "start",  "end",         "eventType",
                                            "text",      "textId", "domainId",    "rangeId",
                                            "category",  "color",  "endGlobalTid"};
  Status status = file_.scan("NVTX_EVENTS", columns, [&](const Row& row) {
    if (row.integer(3) != kDomainCreate) return;
    const std::string_view name = row.has(4) ? row.text(4) : text(row.integer(5));
    domains_[{pid_of(row.integer(0)), row.integer(6)}] = name;
  });
  if (!status) return status;
  return file_.scan("NVTX_EVENTS", columns, [&](const Row& row) { add_range(row); });
}

void NsightReader::add_range(const Row& row) {
  const int64_t type = row.integer(3);
  if (type != kMark && type != kPushPop && type != kStartEnd) return;
  const int64_t thread = row.integer(0);
  const auto process = traces_.find(pid_of(thread));
  if (process == traces_.end()) return;  // it never used the GPU
  Trace& trace = process->second;
  if (type != kMark && !row.has(2)) {
    ++trace.not_imported["ranges without an end"];
    return;
  }
  int64_t start = 0, duration = 0;
  if (!read_times(row, 1, type == kMark ? 1 : 2, start, duration)) {
    ++trace.impossible_times;
    return;
  }
  const std::string_view name = row.has(4) ? row.text(4) : text(row.integer(5));
  const int64_t domain = row.integer(6, 0);
  const std::string_view operation = operator_name(name);
  Marker marker;
  static_cast<Span&>(marker) = {start, duration, tid_of(thread), 0};
  if (type == kPushPop && domain == 0 && operation.empty()) {
    marker.name = trace.names.add(name);
    trace.scopes.push_back(marker);
    return;
  }
  marker.name = trace.names.add(operation.empty() ? name : operation);
  const auto named = domains_.find({pid_of(thread), domain});
  marker.domain = trace.names.add(!operation.empty()        ? kOperatorDomain
                                  : named != domains_.end() ? std::string_view(named->second)
                                                            : std::string_view());
  marker.shape = type == kMark ? 0 : type == kPushPop ? 1 : 2;
  if (type == kStartEnd) {
    marker.range_id = row.integer(7);
    marker.end_thread = row.has(10) ? tid_of(row.integer(10)) : kUnknown;
  }
  marker.category = row.integer(8);
  marker.color = row.integer(9);
  trace.markers.push_back(marker);
}

Status NsightReader::read_overhead() {
  return file_.scan("PROFILER_OVERHEAD", {"globalTid", "start", "end"}, [&](const Row& row) {
    const auto process = traces_.find(pid_of(row.integer(0)));
    int64_t start = 0, lasted = 0;
    if (process == traces_.end() || !read_times(row, 1, 2, start, lasted)) return;
    auto& sum = process->second.overhead_ns;
    sum = sum.value_or(0) + static_cast<uint64_t>(lasted);
  });
}

Status NsightReader::read_processes() {
  Status status = file_.scan("PROCESSES", {"globalPid", "pid", "name"}, [&](const Row& row) {
    const auto process = traces_.find(pid_of(row.integer(0)));
    if (process != traces_.end()) process->second.process = row.text(2);
  });
  if (!status) return status;
  return file_.scan("ThreadNames", {"globalTid", "nameId"}, [&](const Row& row) {
    const auto process = traces_.find(pid_of(row.integer(0)));
    if (process == traces_.end()) return;
    process->second.thread_names[tid_of(row.integer(0))] = text(row.integer(1));
  });
}

Status NsightReader::read_devices() {
  struct Gpu {
    int64_t id, cuda_number;
    Json facts;
  };
  std::vector<Gpu> gpus;
  const std::vector<std::string> columns = {"id",          "cuDevice",     "name",
                                            "uuid",        "busLocation",  "smCount",
                                            "totalMemory", "computeMajor", "computeMinor"};
  Status status = file_.scan("TARGET_INFO_GPU", columns, [&](const Row& row) {
    Json facts = Json::object();
    facts.set("vendor", "nvidia");
    const auto set_text = [&](std::string_view key, std::string_view value) {
      if (!value.empty()) facts.set(key, value);
    };
    set_text("name", row.text(2));
    set_text("uuid", row.text(3));
    set_text("pci_bus", row.text(4));
    set_text("driver", environment_["NvDriverVersion"]);
    constexpr std::string_view kNumbers[] = {"sm_count", "memory_bytes", "compute_major",
                                             "compute_minor"};
    for (size_t i = 0; i < std::size(kNumbers); ++i) {
      if (row.has(5 + i)) facts.set(kNumbers[i], row.integer(5 + i));
    }
    gpus.push_back({row.integer(0), row.integer(1), std::move(facts)});
  });
  if (!status) return status;
  // CUDA numbers devices anew in each process.
  std::map<std::pair<int64_t, int64_t>, int64_t> gpu_of;
  status = file_.scan("TARGET_INFO_CUDA_DEVICE", {"pid", "cudaId", "gpuId"}, [&](const Row& row) {
    gpu_of[{row.integer(0), row.integer(1)}] = row.integer(2);
  });
  for (auto& [pid, trace] : traces_) {
    for (uint32_t lane = 0; lane < trace.lanes.size(); ++lane) {
      const int64_t device = trace.lanes[lane].device;
      const auto known = gpu_of.find({pid, device});
      const auto gpu = std::find_if(gpus.begin(), gpus.end(), [&](const Gpu& one) {
        if (known != gpu_of.end()) return one.id == known->second;
        return one.cuda_number == kUnknown ? one.id == device : one.cuda_number == device;
      });
      if (gpu != gpus.end()) trace.devices[device] = gpu->facts;
    }
  }
  return status;
}

base::Result<std::vector<Trace>> NsightReader::read() {
  if (!file_.has_table("StringIds")) {
    return Status(
        Code::Unsupported,
        "this SQLite file is not an export of Nsight Systems; create one from a report: nsys "
        "export --type sqlite");
  }
  using Step = Status (NsightReader::*)();
  constexpr Step kSteps[] = {&NsightReader::read_strings,     &NsightReader::read_environment,
                             &NsightReader::read_kernels,     &NsightReader::read_copies,
                             &NsightReader::read_fills,       &NsightReader::read_waits,
                             &NsightReader::read_allocations, &NsightReader::read_graphs,
                             &NsightReader::read_calls,       &NsightReader::read_ranges,
                             &NsightReader::read_overhead,    &NsightReader::read_processes,
                             &NsightReader::read_devices};
  uint64_t done = 0;
  for (const Step step : kSteps) {
    if (const Status status = (this->*step)(); !status) return status;
    if (progress_) progress_(file_bytes_ * ++done / std::size(kSteps), file_bytes_);
  }
  std::vector<Trace> traces;
  for (auto& [pid, trace] : traces_) {
    if (trace.is_empty()) continue;
    trace.source = "nsight_systems";
    trace.wall_of_zero_ns = wall_of_zero_ns_;
    trace.host = environment_["Hostname"];
    trace.os = environment_["OsDescription"];
    note_missing_gpu_work(trace, "record with nsys profile --trace=cuda,nvtx");
    if (trace.scopes.empty()) {
      trace.shortfalls.push_back({"scopes", "not_in_trace",
                                  "the trace has no NVTX ranges of the program",
                                  "annotate it with NVTX and record with nsys --trace=cuda,nvtx"});
    }
    trace.shortfalls.push_back(
        {"stacks", "imported", "call stacks of Nsight Systems are not imported", {}});
    traces.push_back(std::move(trace));
  }
  if (traces.empty()) {
    return Status(Code::NotFound,
                  "the export contains no kernel, copy or CUDA call: record with nsys profile "
                  "--trace=cuda,nvtx");
  }
  return traces;
}

}  // namespace

base::Result<std::vector<Trace>> read_nsight_export(const std::filesystem::path& file,
                                                    const ByteProgress& progress) {
  const auto opened = SqliteFile::open(file);
  if (!opened) return opened.status();
  std::error_code ignored;
  return NsightReader(**opened, progress, std::filesystem::file_size(file, ignored)).read();
}

}  // namespace gpufl::importing
