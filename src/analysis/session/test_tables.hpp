// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/session/session_data.hpp"
#include "analysis/tables/table_order.hpp"

// A session made by hand, as load() would give it: rows in any order, each with what the test cares
// about; finish() sorts them. For tests only.
//
//   TestSession session;
//   const int64_t step = session.scope("step", 0, 1000);
//   session.kernel("gemm", 100, 50, {.stream = 7, .scope = step, .api_start = 80});
//   session.wait(3, 200, 40, {.thread = 2});
//   const SessionData data = session.finish();
namespace gpufl::analysis::testing {

// Where, and by whom. What is left out is as in an ordinary session: one device, stream and thread.
struct TestWork {
  int64_t device = 0, context = 1, stream = 7;
  int64_t thread = 1;
  int64_t scope = 0;  // what scope() gave; 0: none
  bool inherited = false;
  int64_t api_start = kNoTime;
  int64_t api_duration = 0;
  int64_t correlation = 0;
  uint32_t stack = 0;
};

struct TestScope {
  int64_t parent = 0;  // what scope() gave
  int64_t thread = 1;
  std::string_view tag = "";
  uint32_t repeat = 0, warmup = 0;
  uint8_t ending = 0;  // format::ScopeEnding, or Scopes::kOpen
};

struct TestKernel {
  int64_t queued = kNoTime, submitted = kNoTime;
  int64_t graph = 0, graph_node = 0, external = 0;
  uint32_t node_stack = 0;
};

struct TestCopy {
  uint8_t source_kind = 1, target_kind = 3;  // pageable host memory, device memory
  bool is_async = true;
  int64_t peer_device = -1;
};

struct TestSample {
  int64_t time = 0;
  int64_t device = 0;
  int64_t module = 1;
  int64_t scope = 0;  // what scope() gave; 0: none
};

struct TestRange {
  int64_t start = 0, duration = 10;
  int64_t device = 0;
};

struct TestPmSample {
  int64_t device = 0;
  int64_t exponent = 0;
};

struct TestCoverage {
  format::CoverageShape shape = format::CoverageShape::Phase;
  format::CoverageReason why = format::CoverageReason::Budget;
  format::CoverageEnd ending = format::CoverageEnd::Budget;
  int64_t cost_ns = -1;
  format::CostMeasure measure = format::CostMeasure::Unknown;
  int64_t device = -1, samples = -1, dropped = -1, launches = -1;
};

class TestSession {
 public:
  SessionData data;  // for what has no function here; rows may be looked at after finish()

  TestSession() {
    data.tables.names = data.tables.texts = data.tables.metrics = {""};
    data.tables.configs.emplace_back();
    data.summary.header.session_id = "test";
    data.summary.header.app_name = "test";
  }

  uint32_t name(std::string_view text) { return intern(data.tables.names, text); }
  uint32_t metric_name(std::string_view text) { return intern(data.tables.metrics, text); }
  // `config.name` is set from `name`. Equal ones are not gathered.
  uint32_t config(std::string_view kernel_name, LaunchConfig config) {
    config.name = name(kernel_name);
    data.tables.configs.push_back(std::move(config));
    return static_cast<uint32_t>(data.tables.configs.size() - 1);
  }
  // One of 128 blocks of 256 threads, the same for each name.
  uint32_t config(std::string_view kernel_name) {
    const uint32_t id = name(kernel_name);
    const auto& configs = data.tables.configs;
    for (size_t i = 1; i < configs.size(); ++i) {
      if (configs[i].name == id) return static_cast<uint32_t>(i);
    }
    LaunchConfig config;
    config.grid = {128, 1, 1};
    config.block = {256, 1, 1};
    return this->config(kernel_name, std::move(config));
  }

  // The scope's id, to be given to rows and to scopes inside it.
  int64_t scope(std::string_view scope_name, int64_t start, int64_t duration,
                const TestScope& more = {}) {
    Scopes& scopes = data.tables.scopes;
    const int64_t id = static_cast<int64_t>(scopes.rows()) + 1;
    scopes.start.push_back(start);
    scopes.duration.push_back(duration);
    scopes.parent.push_back(static_cast<uint32_t>(more.parent));  // a row from finish() on
    scopes.name.push_back(name(scope_name));
    scopes.tag.push_back(name(more.tag));
    scopes.thread.push_back(more.thread);
    scopes.repeat.push_back(more.repeat);
    scopes.warmup.push_back(more.warmup);
    scopes.ending.push_back(more.ending);
    scopes.id.push_back(id);
    return id;
  }

  void kernel(std::string_view kernel_name, int64_t start, int64_t duration,
              const TestWork& work = {}, const TestKernel& more = {}) {
    kernel(config(kernel_name), start, duration, work, more);
  }
  void kernel(uint32_t config_id, int64_t start, int64_t duration, const TestWork& work = {},
              const TestKernel& more = {}) {
    Kernels& kernels = data.tables.kernels;
    add(kernels, start, duration, work);
    kernels.config.push_back(config_id);
    kernels.queued.push_back(more.queued);
    kernels.submitted.push_back(more.submitted);
    kernels.graph.push_back(more.graph);
    kernels.graph_node.push_back(more.graph_node);
    kernels.external.push_back(more.external);
    kernels.node_stack.push_back(more.node_stack);
  }

  void copy(uint8_t direction, int64_t bytes, int64_t start, int64_t duration,
            const TestWork& work = {}, const TestCopy& more = {}) {
    Copies& copies = data.tables.copies;
    add(copies, start, duration, work);
    copies.bytes.push_back(bytes);
    copies.route.push_back(direction);
    copies.source_memory.push_back(more.source_kind);
    copies.target_memory.push_back(more.target_kind);
    copies.peer_device.push_back(more.peer_device);
    copies.async.push_back(more.is_async ? 1 : 0);
  }

  void fill(int64_t bytes, int64_t start, int64_t duration, const TestWork& work = {}) {
    Fills& fills = data.tables.fills;
    add(fills, start, duration, work);
    fills.bytes.push_back(bytes);
    fills.value.push_back(0);
    fills.memory.push_back(3);
  }

  // `call`: format's; 1 event, 2 stream waits for event, 3 stream, 4 context.
  void wait(uint8_t call, int64_t start, int64_t duration, const TestWork& work = {}) {
    Waits& waits = data.tables.waits;
    add(waits, start, duration, work);
    waits.wait_kind.push_back(call);
    waits.event_id.push_back(0);
  }

  void allocation(format::MemoryOperation operation, uint64_t address, int64_t bytes, int64_t time,
                  const TestWork& work = {}) {
    Allocations& allocations = data.tables.allocations;
    add(allocations, time, 0, work);
    allocations.operation.push_back(static_cast<uint8_t>(operation));
    allocations.memory.push_back(3);
    allocations.address.push_back(address);
    allocations.bytes.push_back(bytes);
    allocations.async.push_back(0);
  }

  void graph_launch(int64_t graph, int64_t nodes, int64_t start, int64_t duration,
                    const TestWork& work = {}) {
    GraphLaunches& graphs = data.tables.graphs;
    add(graphs, start, duration, work);
    graphs.graph.push_back(graph);
    graphs.nodes.push_back(nodes);
  }

  // `error`: empty where it did not fail.
  void api_call(std::string_view function, int64_t start, int64_t duration, int64_t result = 0,
                std::string_view error = "", const TestWork& work = {}) {
    ApiCalls& calls = data.tables.api_calls;
    add(calls, start, duration, work);
    calls.name.push_back(name(function));
    calls.result.push_back(result);
    calls.error.push_back(name(error));
  }

  void marker(std::string_view text, int64_t start, int64_t duration, int64_t thread = 1,
              std::string_view domain = "") {
    Markers& markers = data.tables.markers;
    markers.start.push_back(start);
    markers.duration.push_back(duration);
    markers.shape.push_back(duration > 0 ? 1 : 0);
    markers.thread.push_back(thread);
    markers.end_thread.push_back(thread);
    markers.name.push_back(name(text));
    markers.domain.push_back(name(domain));
    markers.category.push_back(0);
    markers.color.push_back(0);
    markers.payload.push_back(std::numeric_limits<double>::quiet_NaN());
  }

  void counter(std::string_view counter_name, int64_t time, int64_t value) {
    sample(data.tables.counters, name(counter_name), time, value, -1, 0);
  }
  // device -1: of the host.
  void metric(std::string_view metric_text, int64_t device, int64_t time, int64_t value,
              int32_t index = 0) {
    Tables& tables = data.tables;
    sample(device < 0 ? tables.host_metrics : tables.device_metrics, metric_name(metric_text), time,
           value, static_cast<int32_t>(device), index);
  }

  // Samples of the program counter; `stall` as the device calls it.
  void pc_sample(std::string_view function, int64_t pc, std::string_view stall, int64_t samples,
                 const TestSample& more = {}) {
    other(format::Kind::PcSample)
        .push_row({more.time, more.device, 1, more.module, name(function), pc, metric_name(stall),
                   samples, 0, more.scope});
  }
  // A hardware counter of a range or a kernel: `value` times ten to the power of `exponent`.
  void range_metric(std::string_view range, std::string_view metric, int64_t value,
                    int64_t exponent = 0, const TestRange& more = {}) {
    other(format::Kind::RangeMetric)
        .push_row({more.start, more.duration, more.device, 1, name(range), metric_name(metric),
                   value, exponent, 0, -1, 0});
  }
  void pm_sample(std::string_view metric, int64_t start, int64_t duration, int64_t value,
                 const TestPmSample& more = {}) {
    other(format::Kind::PmSample)
        .push_row({start, duration, more.device, metric_name(metric), value, more.exponent});
  }
  // A phase in which an engine was attached, or a window in which it sampled.
  void coverage(std::string_view engine, int64_t start, int64_t duration,
                const TestCoverage& more = {}) {
    format::Batch& rows = other(format::Kind::Coverage);
    rows.push_row({start, duration, name(engine), static_cast<int64_t>(more.shape),
                   static_cast<int64_t>(more.why), static_cast<int64_t>(more.ending), more.cost_ns,
                   static_cast<int64_t>(more.measure), more.device, more.samples, more.dropped,
                   more.launches});
    auto& engines = data.summary.coverage;
    auto entry = std::find_if(engines.begin(), engines.end(),
                              [&](const EngineCoverage& known) { return known.engine == engine; });
    if (entry == engines.end()) {
      entry = engines.emplace(engines.end());
      entry->engine = engine;
    }
    entry->add(rows, rows.rows() - 1);
  }

  // Call once. The session lasts until its last row ends, unless the summary says how long.
  SessionData finish() {
    Tables& tables = data.tables;
    drop_unused(tables);
    sort_tables(tables);
    std::vector<uint32_t> row_of(tables.scopes.rows() + 1, kNoRow);  // by id
    for (size_t row = 0; row < tables.scopes.rows(); ++row) {
      row_of[static_cast<size_t>(tables.scopes.id[row])] = static_cast<uint32_t>(row);
    }
    for (uint32_t& parent : tables.scopes.parent) parent = row_of[parent];
    for (Caller& caller : tables.callers) caller.scope = row_of[caller.scope];
    if (data.summary.duration_ns == 0) {
      see_end(tables.kernels, tables.copies, tables.fills, tables.waits, tables.allocations,
              tables.graphs, tables.api_calls, tables.scopes);
      data.summary.ended = true;
    }
    return std::move(data);
  }

 private:
  format::Batch& other(format::Kind kind) {
    return data.tables.others.try_emplace(kind, kind).first->second;
  }
  static uint32_t intern(std::vector<std::string>& texts, std::string_view text) {
    const auto found = std::find(texts.begin(), texts.end(), text);
    if (found != texts.end()) return static_cast<uint32_t>(found - texts.begin());
    texts.emplace_back(text);
    return static_cast<uint32_t>(texts.size() - 1);
  }
  template <typename T>
  static uint32_t index_of(std::vector<T>& known, const T& wanted) {
    const auto found = std::find(known.begin(), known.end(), wanted);
    if (found != known.end()) return static_cast<uint32_t>(found - known.begin());
    known.push_back(wanted);
    return static_cast<uint32_t>(known.size() - 1);
  }

  void add(Work& table, int64_t start, int64_t duration, const TestWork& work) {
    table.start.push_back(start);
    table.duration.push_back(duration);
    table.lane.push_back(index_of(data.tables.lanes, Lane{work.device, work.context, work.stream}));
    // The scope's id until finish().
    const Caller caller{work.thread, static_cast<uint32_t>(work.scope), work.inherited};
    table.caller.push_back(index_of(data.tables.callers, caller));
    table.api_start.push_back(work.api_start);
    table.api_duration.push_back(work.api_start == kNoTime ? kNoDuration : work.api_duration);
    table.correlation.push_back(work.correlation);
    table.stack.push_back(work.stack);
  }
  static void sample(Samples& samples, uint32_t metric, int64_t time, int64_t value, int32_t device,
                     int32_t index) {
    samples.time.push_back(time);
    samples.device.push_back(device);
    samples.index.push_back(index);
    samples.metric.push_back(metric);
    samples.value.push_back(value);
  }

  // A column that says nothing in any row is one that the log does not have.
  template <typename T>
  static void drop_if_all(std::vector<T>& column, T nothing) {
    const auto is_nothing = [nothing](T value) { return value == nothing; };
    if (std::all_of(column.begin(), column.end(), is_nothing)) column.clear();
  }
  static void drop_if_zero(NarrowColumn& column) {
    for (size_t row = 0; row < column.size(); ++row) {
      if (column[row] != 0) return;
    }
    column = {};
  }
  static void drop_unused(Tables& tables) {
    for (Work* table :
         std::initializer_list<Work*>{&tables.kernels, &tables.copies, &tables.fills, &tables.waits,
                                      &tables.allocations, &tables.graphs, &tables.api_calls}) {
      drop_if_all(table->api_start, kNoTime);
      if (table->api_start.empty()) table->api_duration = {};
      drop_if_zero(table->correlation);
      drop_if_all(table->stack, uint32_t{0});
    }
    Kernels& kernels = tables.kernels;
    drop_if_all(kernels.queued, kNoTime);
    drop_if_all(kernels.submitted, kNoTime);
    drop_if_zero(kernels.graph);
    drop_if_all(kernels.graph_node, int64_t{0});
    drop_if_all(kernels.external, int64_t{0});
    drop_if_all(kernels.node_stack, uint32_t{0});
  }
  template <typename... Table>
  void see_end(const Table&... tables) {
    const auto see = [this](const auto& table) {
      for (size_t row = 0; row < table.rows(); ++row) {
        data.summary.duration_ns = std::max(data.summary.duration_ns, table.end(row));
      }
    };
    (see(tables), ...);
  }
};

}  // namespace gpufl::analysis::testing
