// SPDX-License-Identifier: Apache-2.0
#include "import/torch_trace.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "format/columns.hpp"
#include "import/api_names.hpp"
#include "import/json_cursor.hpp"
#include "import/torch_event.hpp"

namespace gpufl::importing {
namespace {

using base::Code;
using base::Json;
using base::Status;
using State = JsonCursor::State;

constexpr size_t kMaxValueBytes = size_t{64} << 20;  // of one event or member

enum class Category : uint8_t {
  Kernel,
  Copy,
  Fill,
  Wait,
  Call,
  Operator,
  Annotation,
  GpuAnnotation,
  Marker,
  Graph,
  Python,
  Overhead,
  Ignored,  // arrows that correlation ids tell too; the profiler's own span, stopping included
  Other,
};

// Today's names, and those of PyTorch 1.
constexpr std::pair<std::string_view, Category> kCategories[] = {
    {"kernel", Category::Kernel},
    {"ac2g", Category::Ignored},
    {"cuda_runtime", Category::Call},
    {"cpu_op", Category::Operator},
    {"python_function", Category::Python},
    {"cuda_driver", Category::Call},
    {"gpu_memcpy", Category::Copy},
    {"gpu_memset", Category::Fill},
    {"cuda_sync", Category::Wait},
    {"user_annotation", Category::Annotation},
    {"gpu_user_annotation", Category::GpuAnnotation},
    {"fwdbwd", Category::Ignored},
    {"async_cpu_to_gpu", Category::Ignored},
    {"async_gpu", Category::Ignored},
    {"overhead", Category::Overhead},
    {"Trace", Category::Ignored},
    {"Kernel", Category::Kernel},
    {"Runtime", Category::Call},
    {"Memcpy", Category::Copy},
    {"Memset", Category::Fill},
    {"Operator", Category::Operator},
    // Those of `gpufl export --to chrome`.
    {"memcpy", Category::Copy},
    {"memset", Category::Fill},
    {"api", Category::Call},
    {"sync", Category::Wait},
    {"scope", Category::Annotation},
    {"marker", Category::Marker},
    {"graph", Category::Graph},
    {"flow", Category::Ignored},
};

Category category_of(std::string_view name) {
  for (const auto& [known, category] : kCategories) {
    if (known == name) return category;
  }
  return Category::Other;
}

// "Memcpy HtoD (Pinned -> Device)": the words in it.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t at = text.find(before);
  if (at == std::string_view::npos) return {};
  const size_t from = at + before.size();
  const size_t to = text.find(after, from);
  return to == std::string_view::npos ? std::string_view() : text.substr(from, to - from);
}

// Ids count from 1.
int64_t correlation_of(const TorchEvent& event) {
  const int64_t id = event.correlation.value_or(0);
  return id == 0 ? kUnknown : id;
}

class TorchReader {
 public:
  TorchReader(TextSource& source, const ByteProgress& progress)
      : source_(source), progress_(progress) {}
  base::Result<Trace> read();

 private:
  template <typename Parse>
  State parse_whole(Parse parse);
  State read_member();
  State read_events();
  void see(const TorchEvent& event);
  void see_span(const TorchEvent& event, Category category);
  void see_instant(const TorchEvent& event);
  bool read_times(const TorchEvent& event, int64_t& start, int64_t& duration);
  void add_kernel(const TorchEvent& event, const Work& work);
  void add_copy(const TorchEvent& event, const Work& work);
  void add_fill(const TorchEvent& event, const Work& work);
  void add_allocation(const TorchEvent& event, const Work& work);
  void add_wait(const TorchEvent& event, const Work& work);
  void see_host_event(const TorchEvent& event);
  void note_shortfalls();
  void take_header();
  Status explain_failure(State state) const;

  TextSource& source_;
  const ByteProgress& progress_;
  uint64_t consumed_ = 0;
  Trace trace_;
  Json header_ = Json::object();
  TorchEvent::Scratch scratch_;
  std::map<int64_t, std::string> process_names_;
  bool has_pid_ = false, has_events_ = false, is_hip_ = false;
};

// Runs `parse` on what has been read, again with more whenever that ends inside of a value.
template <typename Parse>
State TorchReader::parse_whole(Parse parse) {
  for (;;) {
    JsonCursor cursor(source_.text());
    parse(cursor);
    if (cursor.is_good()) {
      source_.consume(cursor.offset());
      consumed_ += cursor.offset();
    }
    if (cursor.state() != State::Starved) return cursor.state();
    if (source_.text().size() > kMaxValueBytes) return State::Wrong;
    if (!source_.read_more()) return State::Starved;
    if (progress_) progress_(source_.bytes_read(), source_.bytes_total());
  }
}

// One member of the outermost object, with the comma before it or the brace behind the last.
State TorchReader::read_member() {
  std::string key, value;
  bool is_events = false;
  const State state = parse_whole([&](JsonCursor& cursor) {
    key = cursor.string(scratch_.key);
    cursor.expect(':');
    is_events = key == "traceEvents" && cursor.peek() == '[';
    if (is_events || !cursor.is_good()) return;
    const size_t from = cursor.offset();
    cursor.skip();
    if (cursor.is_good()) value = source_.text().substr(from, cursor.offset() - from);
  });
  if (state != State::Good) return state;
  if (is_events) return read_events();
  auto parsed = Json::parse(value);
  if (parsed) header_.set(key, std::move(*parsed));
  return State::Good;
}

State TorchReader::read_events() {
  has_events_ = true;
  State state = parse_whole([](JsonCursor& cursor) { cursor.expect('['); });
  for (bool is_first = true; state == State::Good; is_first = false) {
    bool is_end = false;
    TorchEvent event;
    state = parse_whole([&](JsonCursor& cursor) {
      is_end = cursor.take(']');
      if (is_end || (!is_first && !cursor.expect(','))) return;
      event = parse_torch_event(cursor, scratch_);
      // Consumed text stays where it is until more is read, so the event's views hold.
    });
    if (state != State::Good || is_end) break;
    see(event);
  }
  return state;
}

void TorchReader::see(const TorchEvent& event) {
  if (event.phase == "X") return see_span(event, category_of(event.category));
  if (event.phase == "i" || event.phase == "I") return see_instant(event);
  if (event.phase == "M") {
    if (event.name == "process_name" && event.pid) process_names_[*event.pid] = event.args_name;
    return;
  }
  if (category_of(event.category) == Category::Ignored) return;
  ++trace_.not_imported[event.category.empty() ? "other events" : std::string(event.category)];
}

void TorchReader::see_instant(const TorchEvent& event) {
  // These tell no more than the span of the recording does.
  if (event.name.starts_with("Iteration Start") || event.name == "Record Window End") return;
  if (category_of(event.category) == Category::Marker) {
    const auto time_ns = to_nanoseconds(event.time_us);
    if (!time_ns || !is_possible(*time_ns, 0)) {
      ++trace_.impossible_times;
      return;
    }
    Marker mark;
    static_cast<Span&>(mark) = {*time_ns, 0, event.tid.value_or(kUnknown),
                                trace_.names.add(event.name)};
    mark.domain = trace_.names.add(event.domain);
    mark.shape = static_cast<uint8_t>(format::MarkerShape::Mark);
    trace_.markers.push_back(mark);
    return;
  }
  ++trace_.not_imported[event.name.empty() ? "instants" : std::string(event.name)];
}

bool TorchReader::read_times(const TorchEvent& event, int64_t& start, int64_t& duration) {
  const auto from = to_nanoseconds(event.time_us);
  const auto lasted = to_nanoseconds(event.duration_us);
  if (!from || !lasted || !is_possible(*from, *lasted)) {
    ++trace_.impossible_times;
    return false;
  }
  start = *from;
  duration = *lasted;
  return true;
}

void TorchReader::see_span(const TorchEvent& event, Category category) {
  if (category == Category::Ignored) return;
  if (category == Category::Other) {
    ++trace_.not_imported[event.category.empty() ? "other spans" : std::string(event.category)];
    return;
  }
  Work work;
  if (!read_times(event, work.start, work.duration)) return;
  const int64_t thread = event.tid.value_or(kUnknown);
  const auto span = [&](std::string_view name) {
    see_host_event(event);
    return Span{work.start, work.duration, thread, trace_.names.add(name)};
  };
  const auto marker = [&](std::string_view domain) {
    Marker mark;
    static_cast<Span&>(mark) = {work.start, work.duration, thread, trace_.names.add(event.name)};
    mark.domain = trace_.names.add(domain);
    return mark;
  };
  const auto on_gpu = [&] {
    work.correlation = correlation_of(event);
    // Where torch.profiler does not tell the device, its number is the process.
    const bool has_its_pid = event.category != "sync" && event.pid;
    work.lane =
        trace_.lanes.add({event.device.value_or(has_its_pid ? *event.pid : kUnknown),
                          event.context.value_or(kUnknown), event.stream.value_or(kUnknown)});
    return work;
  };
  switch (category) {
    case Category::Kernel: return add_kernel(event, on_gpu());
    case Category::Copy: return add_copy(event, on_gpu());
    case Category::Fill: return add_fill(event, on_gpu());
    case Category::Wait: return add_wait(event, on_gpu());
    case Category::Call: {
      see_host_event(event);
      if (!event.operation.empty()) return add_allocation(event, work);
      is_hip_ = is_hip_ || event.name.starts_with("hip");
      trace_.calls.push_back({work.start, work.duration, correlation_of(event), thread,
                              trace_.names.add(event.name),
                              static_cast<int32_t>(event.result.value_or(kUnknown))});
      return;
    }
    case Category::Annotation: {
      // Steps count on in their names; as one scope that repeats they are iterations.
      constexpr std::string_view kStep = "ProfilerStep#";
      trace_.scopes.push_back(span(event.name.starts_with(kStep) ? "ProfilerStep" : event.name));
      return;
    }
    case Category::Python: trace_.python.push_back(span(event.name)); return;
    case Category::Operator:
      see_host_event(event);
      if (event.has_shapes) ++trace_.not_imported["shapes of operators"];
      trace_.markers.push_back(marker(kOperatorDomain));
      return;
    case Category::GpuAnnotation:
      trace_.markers.push_back(marker("torch.gpu_user_annotation"));
      trace_.markers.back().thread = kUnknown;
      return;
    case Category::Graph: {
      GraphRun run;
      static_cast<Work&>(run) = on_gpu();
      run.graph = event.graph.value_or(0);
      trace_.graphs.push_back(run);
      return;
    }
    case Category::Marker:
      see_host_event(event);
      trace_.markers.push_back(marker(event.domain));
      return;
    case Category::Overhead:
      trace_.overhead_ns = trace_.overhead_ns.value_or(0) + static_cast<uint64_t>(work.duration);
      return;
    case Category::Ignored:
    case Category::Other: return;
  }
}

void TorchReader::see_host_event(const TorchEvent& event) {
  if (has_pid_ || !event.pid) return;
  trace_.pid = *event.pid;
  has_pid_ = true;
}

void TorchReader::add_kernel(const TorchEvent& event, const Work& work) {
  Launch launch;
  launch.name = trace_.names.add(event.name);
  if (event.grid) launch.grid = *event.grid;
  if (event.block) launch.block = *event.block;
  launch.registers = event.registers.value_or(kUnknown);
  // The sum of static and dynamic: only of nothing the parts are known.
  launch.shared_static = event.shared_static.value_or(kUnknown);
  launch.shared_dynamic = event.shared_dynamic.value_or(kUnknown);
  if (event.shared_memory == 0) {
    launch.shared_static = launch.shared_dynamic = 0;
  } else if (event.shared_memory) {
    launch.shared_total = *event.shared_memory;
  }
  Kernel kernel;
  static_cast<Work&>(kernel) = work;
  kernel.launch = trace_.launches.add(launch);
  kernel.external = event.external.value_or(kUnknown);
  kernel.graph = event.graph.value_or(kUnknown);
  kernel.graph_node = event.graph_node.value_or(kUnknown);
  trace_.kernels.push_back(kernel);
}

void TorchReader::add_copy(const TorchEvent& event, const Work& work) {
  Copy copy;
  static_cast<Work&>(copy) = work;
  copy.bytes = possible_bytes(event.bytes.value_or(kUnknown));
  if (event.category == "memcpy") {
    constexpr std::string_view kBefore = "copy ";
    if (event.name.starts_with(kBefore)) {
      copy.direction = copy_direction_of(event.name.substr(kBefore.size()));
    }
    copy.source_kind = memory_kind_of(event.source_memory);
    copy.target_kind = memory_kind_of(event.target_memory);
  } else {
    copy.direction = copy_direction_of(between(event.name, "Memcpy ", " "));
    copy.source_kind = memory_kind_of(between(event.name, "(", " ->"));
    copy.target_kind = memory_kind_of(between(event.name, "-> ", ")"));
  }
  copy.peer_device = static_cast<int32_t>(event.peer_device.value_or(kUnknown));
  copy.graph_node = event.graph_node.value_or(kUnknown);
  trace_.copies.push_back(copy);
}

void TorchReader::add_fill(const TorchEvent& event, const Work& work) {
  Fill fill;
  static_cast<Work&>(fill) = work;
  fill.bytes = possible_bytes(event.bytes.value_or(kUnknown));
  fill.value = event.value.value_or(kUnknown);
  fill.memory_kind =
      memory_kind_of(event.memory.empty() ? between(event.name, "(", ")") : event.memory);
  fill.graph_node = event.graph_node.value_or(kUnknown);
  trace_.fills.push_back(fill);
}

void TorchReader::add_allocation(const TorchEvent& event, const Work& work) {
  Allocation allocation;
  static_cast<Work&>(allocation) = work;
  allocation.duration = 0;
  allocation.lane = trace_.lanes.add({});
  allocation.bytes = possible_bytes(event.bytes.value_or(kUnknown));
  const auto operation = event.operation == "release" ? format::MemoryOperation::Release
                                                      : format::MemoryOperation::Allocate;
  allocation.operation = static_cast<int8_t>(operation);
  allocation.memory_kind = memory_kind_of(event.memory);
  trace_.allocations.push_back(allocation);
}

void TorchReader::add_wait(const TorchEvent& event, const Work& work) {
  constexpr std::pair<std::string_view, int8_t> kKinds[] = {
      {"Event Sync", 1},        {"Stream Wait Event", 2}, {"Stream Sync", 3},
      {"Context Sync", 4},      {"EventSynchronize", 1},  {"StreamWaitEvent", 2},
      {"StreamSynchronize", 3}, {"ContextSynchronize", 4}};
  Wait wait;
  static_cast<Work&>(wait) = work;
  for (const auto& [words, kind] : kKinds) {
    if (event.name.starts_with(words) || event.sync_kind.starts_with(words)) wait.call = kind;
  }
  if (wait.call == kUnknown) wait.call = wait_of(plain_api_name(event.name));
  wait.event_id = event.event_id.value_or(kUnknown);
  trace_.waits.push_back(wait);
}

void TorchReader::take_header() {
  trace_.source = "torch_profiler";
  trace_.backend = is_hip_ ? "amd" : "nvidia";
  trace_.wall_of_zero_ns = header_["baseTimeNanoseconds"].as_integer(0);
  if (const auto named = process_names_.find(trace_.pid); named != process_names_.end()) {
    trace_.process = named->second;
  }
  const Json& job = header_["distributedInfo"];
  if (job["rank"].as_integer(-1) >= 0) trace_.rank = job["rank"].as_integer();
  if (job["world_size"].as_integer(0) > 0) trace_.world_size = job["world_size"].as_integer();
  const int64_t cuda = header_["cuda_runtime_version"].as_integer(0);  // 13010: 13.1
  const std::string runtime =
      cuda > 0 ? std::to_string(cuda / 1000) + "." + std::to_string(cuda % 1000 / 10) : "";
  constexpr std::pair<std::string_view, std::string_view> kFacts[] = {
      {"name", "name"},
      {"numSms", "sm_count"},
      {"totalGlobalMem", "memory_bytes"},
      {"computeMajor", "compute_major"},
      {"computeMinor", "compute_minor"},
  };
  for (const Json& device : header_["deviceProperties"].items()) {
    if (!device["id"].is_integer()) continue;
    Json line = Json::object();
    line.set("vendor", is_hip_ ? "amd" : "nvidia");
    for (const auto& [theirs, ours] : kFacts) {
      if (const Json* value = device.find(theirs)) line.set(ours, *value);
    }
    if (!runtime.empty()) line.set("runtime", runtime);
    trace_.devices[device["id"].as_integer()] = std::move(line);
  }
}

void TorchReader::note_shortfalls() {
  note_missing_gpu_work(trace_, "profile with ProfilerActivity.CPU and ProfilerActivity.CUDA");
  if (trace_.not_imported.contains("[memory]")) {
    trace_.shortfalls.push_back({"enable_memory_tracking", "not_imported",
                                 "events of PyTorch's allocator are not imported", ""});
  }
  if (trace_.scopes.empty()) {
    trace_.shortfalls.push_back(
        {"scopes", "not_in_trace", "the trace has no annotations of the program",
         "record with ProfilerActivity.CPU, torch.profiler.record_function and profiler.step()"});
  }
  if (trace_.python.empty()) {
    trace_.shortfalls.push_back({"stacks", "not_in_trace", "the trace has no Python functions",
                                 "record with ProfilerActivity.CPU and with_stack=True"});
  }
}

Status TorchReader::explain_failure(State state) const {
  if (!source_.status().is_ok() && consumed_ == 0) return source_.status();
  if (consumed_ == 0 && state == State::Starved && source_.bytes_total() == 0) {
    return {Code::Corrupt, "the file is empty"};
  }
  if (!has_events_ && state == State::Good) {
    return {Code::Unsupported,
            "this is JSON, but not a trace: it has no \"traceEvents\"; torch.profiler writes them "
            "with prof.export_chrome_trace()"};
  }
  return {Code::Corrupt, state == State::Starved
                             ? "the file ends before its first event: record or copy it again"
                             : "this is not JSON that torch.profiler wrote: error at byte " +
                                   std::to_string(consumed_)};
}

base::Result<Trace> TorchReader::read() {
  State state = parse_whole([](JsonCursor& cursor) { cursor.expect('{'); });
  for (bool is_first = true; state == State::Good; is_first = false) {
    bool is_end = false;
    state = parse_whole([&](JsonCursor& cursor) {
      is_end = cursor.take('}');
      if (!is_end && !is_first) cursor.expect(',');
    });
    if (state != State::Good || is_end) break;
    state = read_member();
  }
  if (state != State::Good && !trace_.is_empty()) {
    trace_.truncated = !source_.status().is_ok() ? source_.status().message()
                       : state == State::Starved
                           ? "the file ends inside the trace"
                           : "the JSON is invalid at byte " + std::to_string(consumed_);
  } else if (state != State::Good || !has_events_) {
    return explain_failure(state);
  }
  if (trace_.is_empty()) {
    return Status(Code::NotFound,
                  "the trace contains no kernel, copy, API call or annotation: was the profiler "
                  "running, with ProfilerActivity.CUDA, while the GPU worked?");
  }
  take_header();
  note_shortfalls();
  return std::move(trace_);
}

}  // namespace

base::Result<Trace> read_torch_trace(TextSource& source, const ByteProgress& progress) {
  return TorchReader(source, progress).read();
}

}  // namespace gpufl::importing
