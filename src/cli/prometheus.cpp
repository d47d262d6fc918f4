// SPDX-License-Identifier: Apache-2.0
#include "cli/prometheus.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <gpufl/version.hpp>

#include "analysis/figures/clock_limits.hpp"
#include "text/display.hpp"

namespace gpufl::cli {
namespace {

using backend::MetricValue;

// Names come from other people's processes: what is not printable UTF-8 would fail the scrape.
std::string label_value(std::string_view text) {
  std::string out;
  for (char c : text::make_harmless(text)) {
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  return out;
}

class Exposition {
 public:
  void begin(std::string_view family, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text_), "# HELP {} {}\n# TYPE {} {}\n", family, help, family,
                   type);
    family_ = family;
  }
  void add(std::string_view labels, auto value) {
    if (labels.empty()) {
      fmt::format_to(std::back_inserter(text_), "{} {}\n", family_, value);
    } else {
      fmt::format_to(std::back_inserter(text_), "{}{{{}}} {}\n", family_, labels, value);
    }
  }
  void single(std::string_view family, std::string_view type, std::string_view help, auto value) {
    begin(family, type, help);
    add("", value);
  }
  std::string take() { return std::move(text_); }

 private:
  std::string text_;
  std::string_view family_;
};

std::string joined(std::string_view a, std::string_view b) {
  return a.empty() || b.empty() ? fmt::format("{}{}", a, b) : fmt::format("{},{}", a, b);
}

// A MIG instance carries its GPU's number as `gpu` and its own as `mig`.
std::map<int64_t, std::string> device_labels(const capture::MetricBoard& board) {
  std::map<int64_t, std::string> labels;
  for (const backend::DeviceFacts& device : board.devices) {
    labels[device.device] =
        device.parent
            ? fmt::format(R"(gpu="{}",mig="{}",uuid="{}")", *device.parent, device.device,
                          label_value(device.uuid))
            : fmt::format(R"(gpu="{}",uuid="{}")", device.device, label_value(device.uuid));
  }
  return labels;
}

// The values of one scope by metric, so that each family is written in one place.
std::unordered_map<std::string_view, std::vector<const MetricValue*>> by_metric(
    const std::vector<MetricValue>& values) {
  std::unordered_map<std::string_view, std::vector<const MetricValue*>> groups;
  for (const MetricValue& value : values) groups[value.metric].push_back(&value);
  return groups;
}

void write_value(Exposition& out, const PrometheusMetric& row, const std::string& labels,
                 int64_t value) {
  if (row.metric == backend::metric::kClockLimits) {
    for (const analysis::ClockLimit& reason : analysis::kClockLimits) {
      out.add(joined(labels, fmt::format(R"(reason="{}")", reason.name)),
              (static_cast<uint64_t>(value) & reason.bit) != 0 ? 1 : 0);
    }
  } else if (row.divide == 1) {
    out.add(labels, value * row.multiply);
  } else {
    out.add(labels, static_cast<double>(value) / static_cast<double>(row.divide));
  }
}

std::string_view help_of(std::string_view family) {
  const auto table = prometheus_table();
  const auto first = std::find_if(table.begin(), table.end(),
                                  [&](const auto& row) { return row.family == family; });
  return first->help.empty() ? backend::find_metric(first->scope, first->metric)->help
                             : first->help;
}

void write_metrics(Exposition& out, const capture::MetricBoard& board,
                   const std::map<int64_t, std::string>& devices) {
  const auto device_groups = by_metric(board.device_values);
  const auto host_groups = by_metric(board.host_values);
  std::string_view open_family;
  for (const PrometheusMetric& row : prometheus_table()) {
    const bool is_device = row.scope == backend::MetricScope::Device;
    const backend::MetricSpec* spec = backend::find_metric(row.scope, row.metric);
    const auto& groups = is_device ? device_groups : host_groups;
    const auto group = groups.find(row.metric);
    if (group == groups.end()) continue;
    if (row.family != open_family) {
      open_family = row.family;
      out.begin(row.family, backend::to_string(spec->type), help_of(row.family));
    }
    for (const MetricValue* value : group->second) {
      std::string labels;
      if (is_device) {
        const auto known = devices.find(value->device);
        labels = known != devices.end() ? known->second : fmt::format(R"(gpu="{}")", value->device);
      }
      if (!spec->index.empty()) {
        labels = joined(labels, fmt::format(R"({}="{}")", spec->index, value->index));
      }
      write_value(out, row, joined(labels, row.labels), value->value);
    }
  }
}

void write_devices(Exposition& out, const capture::MetricBoard& board,
                   const std::map<int64_t, std::string>& labels) {
  out.single("gpufl_gpus", "gauge", "GPUs and MIG instances seen", board.devices.size());
  if (board.devices.empty()) return;
  out.begin("gpufl_gpu_info", "gauge", "What the GPU is; the value is always 1");
  for (const backend::DeviceFacts& device : board.devices) {
    out.add(joined(labels.at(device.device),
                   fmt::format(R"(name="{}",driver="{}",pci_bus="{}")", label_value(device.name),
                               label_value(device.driver), label_value(device.pci_bus))),
            1);
  }
}

void write_processes(Exposition& out, const capture::MetricBoard& board,
                     const std::map<int64_t, std::string>& devices) {
  bool begun = false;
  for (const backend::ProcessUse& process : board.processes) {
    const auto device = devices.find(process.device);
    if (!process.memory_bytes || device == devices.end()) continue;
    if (!begun) {
      out.begin("gpufl_gpu_process_memory_bytes", "gauge", "Device memory held by a process");
      begun = true;
    }
    out.add(joined(device->second,
                   fmt::format(R"(pid="{}",process="{}")", process.pid, label_value(process.name))),
            *process.memory_bytes);
  }
}

}  // namespace

std::string prometheus_text(const capture::MetricBoard& board, const PrometheusOptions& options) {
  Exposition out;
  const auto devices = device_labels(board);
  out.begin("gpufl_build_info", "gauge", "Version of GPUFlight; the value is always 1");
  out.add(R"(version=")" GPUFL_VERSION R"(")", 1);
  write_devices(out, board, devices);
  write_metrics(out, board, devices);
  if (options.processes) write_processes(out, board, devices);
  if (!board.event_counts.empty()) {
    out.begin("gpufl_device_events_total", "counter", "Events of GPUs since the monitor started");
    for (const auto& [name, count] : board.event_counts) {
      out.add(fmt::format(R"(event="{}")", label_value(name)), count);
    }
  }
  out.single("gpufl_samples_total", "counter", "Samples taken since the monitor started",
             board.samples_taken);
  out.single("gpufl_samples_missed_total", "counter",
             "Samples that came too late and were left out", board.samples_missed);
  out.single("gpufl_log_paused", "gauge",
             "1 while the log takes nothing: the disk or spool is full",
             board.log.paused.empty() ? 0 : 1);
  out.begin("gpufl_rows_dropped_total", "counter", "Rows that the log did not take");
  // Those that there is to alert on are there from the beginning: a rate needs a first value.
  auto dropped = board.log.dropped;
  for (const char* reason : {"disk_floor", "disk_full", "io_error", "spool_full"}) dropped[reason];
  for (const auto& [reason, rows] : dropped) {
    out.add(fmt::format(R"(reason="{}")", label_value(reason)), rows);
  }
  return out.take();
}

}  // namespace gpufl::cli
