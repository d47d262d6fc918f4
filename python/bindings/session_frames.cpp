// SPDX-License-Identifier: Apache-2.0
#include "session_frames.hpp"

#include <array>
#include <initializer_list>
#include <optional>

#include "analysis/wait_calls.hpp"
#include "sample_frames.hpp"

namespace gpufl::python {
namespace {

using analysis::kNoRow;
using analysis::kNoTime;
using analysis::LaunchConfig;
using analysis::Tables;
using analysis::Work;
using exporting::SessionTexts;

// Values by index, for a column that is looked up in a small table.
template <typename List, typename Read>
std::vector<int64_t> values_by_index(const List& list, Read read) {
  std::vector<int64_t> values;
  values.reserve(list.size());
  for (const auto& entry : list) values.push_back(read(entry));
  return values;
}

// Of a column of indices, each row's value of that table.
void look_up(FrameBuilder& frame, std::string name, const std::vector<uint32_t>& index,
             std::vector<int64_t> values) {
  const bool is_known =
      std::any_of(values.begin(), values.end(), [](int64_t value) { return value != kUnknown; });
  if (index.empty() || !is_known) return frame.absent(std::move(name), Dtype::Int64);
  frame.maybe(std::move(name),
              [&index, values = std::move(values)](size_t row) { return values[index[row]]; });
}

auto name_text(const SessionTexts& texts) {
  return [&texts](uint64_t id) { return texts.name(static_cast<uint32_t>(id)); };
}
auto site_text(const SessionTexts& texts) {
  return [&texts](uint64_t stack) { return texts.site(static_cast<uint32_t>(stack)); };
}

void add_place(FrameBuilder& frame, const Tables& tables, const Work& work) {
  const auto add = [&](std::string name, int64_t analysis::Lane::* member) {
    look_up(frame, std::move(name), work.lane,
            values_by_index(tables.lanes, [member](const analysis::Lane& lane) {
              return lane.*member < 0 ? kUnknown : lane.*member;
            }));
  };
  add("device", &analysis::Lane::device);
  add("context", &analysis::Lane::context);
  add("stream", &analysis::Lane::stream);
}

void add_caller(FrameBuilder& frame, const SessionTexts& texts, const Work& work) {
  const Tables& tables = texts.tables();
  frame.maybe("correlation", work.correlation, 0);
  look_up(frame, "thread", work.caller,
          values_by_index(tables.callers, [](const analysis::Caller& caller) {
            return caller.thread == 0 ? kUnknown : caller.thread;
          }));
  frame.texts_of("scope", work.caller, [&texts, &tables](uint64_t caller) {
    return texts.path_text(texts.scope_path(tables.callers[caller].scope));
  });
  frame.texts_of("launched_at", work.stack, site_text(texts));
}

void add_call_times(FrameBuilder& frame, const Work& work) {
  frame.view("api_start_ns", work.api_start, kNoTime);
  if (work.api_duration.empty()) return frame.absent("api_duration_ns", Dtype::Int64);
  frame.maybe("api_duration_ns", [&work](size_t row) {
    const bool is_known = work.api_start.empty() || work.api_start[row] != kNoTime;
    return is_known ? work.api_duration[row] : kUnknown;
  });
}

void add_times(FrameBuilder& frame, const std::vector<int64_t>& start,
               const analysis::NarrowColumn& duration) {
  frame.view("start_ns", start);
  frame.whole("duration_ns", [&duration](size_t row) { return duration[row]; });
}

// What all tables of work begin with.
void add_work(FrameBuilder& frame, const SessionTexts& texts, const Work& work) {
  add_times(frame, work.start, work.duration);
  add_place(frame, texts.tables(), work);
  add_caller(frame, texts, work);
  add_call_times(frame, work);
}

// Labels of all rows of a table, found once for all columns.
struct Labels {
  explicit Labels(const SessionTexts& texts, const Work& work) {
    if (texts.framework().is_empty()) return;
    const size_t rows = work.rows();
    for (auto* column : {&op, &module, &stack, &forward_op, &forward_path}) column->reserve(rows);
    backward.reserve(rows);
    for (size_t row = 0; row < rows; ++row) {
      const analysis::FrameworkLabel label = texts.framework().at(work, row);
      op.push_back(label.op);
      module.push_back(label.module);
      stack.push_back(label.stack);
      backward.push_back(label.op == 0 ? kNoOp : label.is_backward ? 1 : 0);
      forward_op.push_back(label.forward_op);
      forward_path.push_back(texts.scope_path(label.forward_scope));
    }
  }
  static constexpr uint8_t kNoOp = 2;
  std::vector<uint32_t> op, module, stack, forward_op, forward_path;  // empty: nobody labelled
  std::vector<uint8_t> backward;
};

// Borrows `labels` until the frame is finished.
void add_labels(FrameBuilder& frame, const SessionTexts& texts, const Labels& labels) {
  // What has no name has the empty one, which is unknown.
  frame.texts_of("op", labels.op, name_text(texts));
  frame.texts_of("module", labels.module, name_text(texts));
  frame.texts_of("line", labels.stack, site_text(texts));
  frame.maybe("backward", labels.backward, Labels::kNoOp);
  frame.texts_of("forward_op", labels.forward_op, name_text(texts));
  frame.texts_of("forward_scope", labels.forward_path,
                 [&texts](uint64_t path) { return texts.path_text(static_cast<uint32_t>(path)); });
}

void add_config(FrameBuilder& frame, const Tables& tables) {
  const std::vector<uint32_t>& index = tables.kernels.config;
  const auto add = [&](std::string name, auto read) {
    look_up(frame, std::move(name), index, values_by_index(tables.configs, read));
  };
  using Size = std::array<int64_t, 3>;
  for (const auto& [what, size] :
       std::initializer_list<std::pair<const char*, Size LaunchConfig::*>>{
           {"grid_", &LaunchConfig::grid}, {"block_", &LaunchConfig::block}}) {
    for (size_t axis = 0; axis < 3; ++axis) {
      add(what + std::string(1, "xyz"[axis]), [size = size, axis](const LaunchConfig& config) {
        // No launch has a size of 0: it is what stands where nothing defines the configuration.
        const int64_t value = (config.*size)[axis];
        return value == 0 ? kUnknown : value;
      });
    }
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    add("cluster_" + std::string(1, "xyz"[axis]), [axis](const LaunchConfig& config) {
      return config.cluster ? (*config.cluster)[axis] : kUnknown;
    });
  }
  using Fact = std::optional<int64_t> LaunchConfig::*;
  for (const auto& [name, fact] : std::initializer_list<std::pair<const char*, Fact>>{
           {"registers", &LaunchConfig::registers},
           {"shared_static_bytes", &LaunchConfig::shared_static},
           {"shared_dynamic_bytes", &LaunchConfig::shared_dynamic},
           {"local_per_thread_bytes", &LaunchConfig::local_per_thread},
           {"local_total_bytes", &LaunchConfig::local_total}}) {
    add(name,
        [fact = fact](const LaunchConfig& config) { return (config.*fact).value_or(kUnknown); });
  }
  std::vector<double> occupancy;
  for (const LaunchConfig& config : tables.configs) {
    occupancy.push_back(config.occupancy.value_or(std::numeric_limits<double>::quiet_NaN()));
  }
  frame.reals("occupancy", [&index, occupancy = std::move(occupancy)](size_t row) {
    return occupancy[index[row]];
  });
  frame.texts_of("occupancy_limit", index, [&tables](uint64_t config) {
    return exporting::valid_utf8(tables.configs[config].occupancy_limit);
  });
}

Frame kernels(const SessionTexts& texts) {
  const analysis::Kernels& rows = texts.tables().kernels;
  const Labels labels(texts, rows);
  FrameBuilder frame(rows.rows());
  add_work(frame, texts, rows);
  frame.texts_of("name", rows.config,
                 [&texts](uint64_t id) { return texts.kernel(static_cast<uint32_t>(id)); });
  add_config(frame, texts.tables());
  frame.view("queued_ns", rows.queued, kNoTime);
  frame.view("submitted_ns", rows.submitted, kNoTime);
  frame.maybe("graph", rows.graph, 0);
  frame.ids_of("graph_node", rows.graph_node);
  frame.ids_of("external", rows.external);
  frame.texts_of("captured_at", rows.node_stack, site_text(texts));
  add_labels(frame, texts, labels);
  return frame.finish();
}

Frame copies(const SessionTexts& texts) {
  const analysis::Copies& rows = texts.tables().copies;
  const Labels labels(texts, rows);
  FrameBuilder frame(rows.rows());
  add_work(frame, texts, rows);
  frame.maybe("bytes", rows.bytes, 0);
  frame.texts_of("direction", rows.direction, exporting::copy_direction);
  frame.texts_of("source_memory", rows.source_kind, exporting::memory_kind);
  frame.texts_of("target_memory", rows.target_kind, exporting::memory_kind);
  frame.maybe("peer_device", rows.peer_device, -1);
  frame.maybe("async", rows.is_async, kUnknown);
  frame.ids_of("graph_node", rows.graph_node);
  add_labels(frame, texts, labels);
  return frame.finish();
}

Frame fills(const SessionTexts& texts) {
  const analysis::Fills& rows = texts.tables().fills;
  const Labels labels(texts, rows);
  FrameBuilder frame(rows.rows());
  add_work(frame, texts, rows);
  frame.maybe("bytes", rows.bytes, 0);
  frame.maybe("value", rows.value, kUnknown);
  frame.texts_of("memory", rows.memory_kind, exporting::memory_kind);
  frame.ids_of("graph_node", rows.graph_node);
  add_labels(frame, texts, labels);
  return frame.finish();
}

Frame waits(const SessionTexts& texts) {
  const analysis::Waits& rows = texts.tables().waits;
  const Labels labels(texts, rows);
  FrameBuilder frame(rows.rows());
  add_work(frame, texts, rows);
  // The function that was called follows from the stack and the kind of wait.
  constexpr unsigned kCallBits = 8;
  frame.texts(
      "name",
      [&rows](size_t row) {
        const uint64_t stack = rows.stack.empty() ? 0 : rows.stack[row];
        return stack << kCallBits | (rows.call.empty() ? 0 : rows.call[row]);
      },
      [&texts](uint64_t key) {
        const auto call = static_cast<uint8_t>(key);
        return texts.call(static_cast<uint32_t>(key >> kCallBits), analysis::wait_call_name(call));
      });
  frame.maybe("event", rows.event_id, -1);
  add_labels(frame, texts, labels);
  return frame.finish();
}

Frame allocations(const SessionTexts& texts) {
  const analysis::Allocations& rows = texts.tables().allocations;
  FrameBuilder frame(rows.rows());
  frame.view("time_ns", rows.start);
  add_place(frame, texts.tables(), rows);
  add_caller(frame, texts, rows);
  add_call_times(frame, rows);
  frame.texts_of("operation", rows.operation, exporting::allocation_operation);
  frame.texts_of("memory", rows.memory_kind, exporting::memory_kind);
  frame.ids_of("address", rows.address, false);
  frame.maybe("bytes", rows.bytes, kUnknown);
  frame.maybe("async", rows.is_async, kUnknown);
  return frame.finish();
}

Frame graphs(const SessionTexts& texts) {
  const analysis::GraphLaunches& rows = texts.tables().graphs;
  FrameBuilder frame(rows.rows());
  add_work(frame, texts, rows);
  frame.whole("graph", [&rows](size_t row) { return rows.graph[row]; });
  frame.maybe("nodes", rows.nodes, 0);
  return frame.finish();
}

Frame api_calls(const SessionTexts& texts) {
  const analysis::ApiCalls& rows = texts.tables().api_calls;
  FrameBuilder frame(rows.rows());
  add_times(frame, rows.start, rows.duration);
  add_place(frame, texts.tables(), rows);
  add_caller(frame, texts, rows);
  frame.texts_of("name", rows.name, name_text(texts));
  frame.view("result", rows.result, kUnknown);
  frame.texts_of("error", rows.error, name_text(texts));
  return frame.finish();
}

Frame scope_events(const SessionTexts& texts) {
  const analysis::Scopes& rows = texts.tables().scopes;
  FrameBuilder frame(rows.rows());
  frame.view("id", rows.id);
  frame.maybe("parent", [&rows](size_t row) {
    const uint32_t parent = rows.parent[row];
    return parent < rows.id.size() ? rows.id[parent] : kUnknown;
  });
  frame.view("thread", rows.thread);
  add_times(frame, rows.start, rows.duration);
  frame.texts_of("name", rows.name, name_text(texts));
  frame.texts_of("tag", rows.tag, name_text(texts));
  frame.texts(
      "path", [&texts](size_t row) { return texts.scope_path(static_cast<uint32_t>(row)); },
      [&texts](uint64_t path) { return texts.path_text(static_cast<uint32_t>(path)); });
  frame.maybe("repeat", rows.repeat, 0);
  frame.maybe("warmup", rows.warmup, 0);
  frame.texts_of("ending", rows.ending, exporting::scope_ending);
  return frame.finish();
}

Frame markers(const SessionTexts& texts) {
  const analysis::Markers& rows = texts.tables().markers;
  FrameBuilder frame(rows.rows());
  add_times(frame, rows.start, rows.duration);
  frame.texts_of("shape", rows.shape, exporting::marker_shape);
  frame.view("thread", rows.thread, 0);
  frame.view("end_thread", rows.end_thread, 0);
  frame.texts_of("name", rows.name, name_text(texts));
  frame.texts_of("domain", rows.domain, name_text(texts));
  frame.view("category", rows.category, 0);
  frame.view("color", rows.color, 0);
  frame.reals("payload", [&rows](size_t row) { return rows.payload[row]; });
  return frame.finish();
}

Frame counters(const SessionTexts& texts) {
  const analysis::Samples& rows = texts.tables().counters;
  FrameBuilder frame(rows.rows());
  frame.view("time_ns", rows.time);
  frame.texts_of("name", rows.metric, name_text(texts));
  frame.view("value", rows.value);
  return frame.finish();
}

Frame metrics(const SessionTexts& texts, const analysis::Samples& rows) {
  FrameBuilder frame(rows.rows());
  frame.view("time_ns", rows.time);
  frame.maybe("device", rows.device, -1);
  frame.whole("index", [&rows](size_t row) { return rows.index[row]; });
  frame.texts_of("metric", rows.metric,
                 [&texts](uint64_t id) { return texts.metric(static_cast<uint32_t>(id)); });
  frame.view("value", rows.value);
  return frame.finish();
}

struct NamedFrame {
  std::string_view name;
  Frame (*make)(const SessionTexts&);
};

constexpr std::array kFrames = {
    NamedFrame{"kernels", kernels},
    NamedFrame{"memcpy", copies},
    NamedFrame{"memset", fills},
    NamedFrame{"syncs", waits},
    NamedFrame{"graphs", graphs},
    NamedFrame{"allocations", allocations},
    NamedFrame{"api_calls", api_calls},
    NamedFrame{"scope_events", scope_events},
    NamedFrame{"markers", markers},
    NamedFrame{"counters", counters},
    NamedFrame{
        "device_metrics",
        [](const SessionTexts& texts) { return metrics(texts, texts.tables().device_metrics); }},
    NamedFrame{
        "host_metrics",
        [](const SessionTexts& texts) { return metrics(texts, texts.tables().host_metrics); }},
    NamedFrame{"profile_samples", profile_samples},
    NamedFrame{"pc_samples", pc_samples},
    NamedFrame{"perf", perf},
    NamedFrame{"warp_spans", warp_spans},
};

}  // namespace

std::vector<std::string_view> frame_names() {
  std::vector<std::string_view> names;
  for (const NamedFrame& frame : kFrames) names.push_back(frame.name);
  return names;
}

Frame session_frame(const SessionTexts& texts, std::string_view table) {
  const auto* const found =
      std::find_if(kFrames.begin(), kFrames.end(),
                   [table](const NamedFrame& frame) { return frame.name == table; });
  return found != kFrames.end() ? found->make(texts) : Frame{};
}

}  // namespace gpufl::python
