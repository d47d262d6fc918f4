// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <map>
#include <string>

#include "analysis/code/multiprocessor.hpp"
#include "analysis/insights/sampled_kernels.hpp"
#include "report/json_figures.hpp"

namespace gpufl::report {
namespace {

using analysis::KernelGroup;
using analysis::LaunchConfig;
using analysis::TransferGroup;
using base::Json;
using base::JsonWriter;

std::string_view word(analysis::WorkKind kind) {
  switch (kind) {
    case analysis::WorkKind::Kernel: return "kernel";
    case analysis::WorkKind::Copy: return "copy";
    case analysis::WorkKind::Fill: return "fill";
    case analysis::WorkKind::Graph: return "graph";
  }
  return "";
}

Json idle_json(const analysis::IdleTime& idle) {
  Json json = Json::object();
  json.set("count", idle.count).set("total_ns", idle.total_ns).set("short_ns", idle.short_ns);
  json.set("longest", json_array(idle.longest, [](const analysis::Gap& gap) {
             Json entry = Json::object();
             entry.set("start_ns", gap.span.start).set("end_ns", gap.span.end);
             entry.set("after", word(gap.before.kind)).set("before", word(gap.after.kind));
             return entry;
           }));
  json.set("by_length", json_array(idle.classes, [](const analysis::GapClass& entry) {
             Json part = Json::object();
             part.set("from_ns", entry.from_ns);
             const bool has_end = entry.to_ns != std::numeric_limits<int64_t>::max();
             part.set("to_ns", has_end ? Json(entry.to_ns) : Json());
             part.set("count", entry.count).set("total_ns", entry.total_ns);
             return part;
           }));
  return json;
}

Json busy_json(const analysis::DeviceBusy& device) {
  Json json = Json::object();
  json.set("busy_ns", device.busy_ns).set("busy_share", device.busy_share);
  json.set("recorded_ns", device.recorded_ns);
  json.set("first_ns", device.first_ns).set("last_ns", device.last_ns);
  json.set("before_ns", device.before_ns).set("after_ns", device.after_ns);
  json.set("kernels", device.kernels).set("copies", device.copies);
  json.set("fills", device.fills).set("graphs", device.graphs);
  json.set("kernel_ns", device.kernel_ns).set("copy_ns", device.copy_ns);
  json.set("fill_ns", device.fill_ns).set("graph_ns", device.graph_ns);
  json.set("kernel_sum_ns", device.kernel_sum_ns).set("copy_sum_ns", device.copy_sum_ns);
  json.set("fill_sum_ns", device.fill_sum_ns);
  Json concurrency = Json::object();
  concurrency.set("mean", device.concurrency.mean).set("max", device.concurrency.max);
  concurrency.set("one_ns", device.concurrency.one_ns).set("two_ns", device.concurrency.two_ns);
  concurrency.set("more_ns", device.concurrency.more_ns);
  json.set("concurrency", std::move(concurrency));
  json.set("idle", idle_json(device.idle));
  json.set("busy_series", to_json(device.busy_series));
  return json;
}

Json device_json(const analysis::DeviceBusy& device, const analysis::Overview& overview) {
  Json json = Json::object();
  json.set("device", device.device).set("name", device.name);
  const Json figures = busy_json(device);
  for (const auto& [key, value] : figures.members()) {
    json.set(key, overview.kernels ? value : to_json(overview.kernels.unknown()));
  }
  return json;
}

Json kernel_group_json(const KernelGroup& group) { return to_json(group); }

// What it is of the whole run, where only phases of that were recorded.
Json with_estimate(Json json, const KernelGroup& group, const analysis::KernelFigures& kernels) {
  if (!kernels.estimates) return json;
  const auto found = kernels.estimates->find(static_cast<uint32_t>(group.key));
  if (found == kernels.estimates->end()) return json;
  Json estimate = Json::object();
  estimate.set("share", estimate_json(found->second.share, "phases"));
  estimate.set("total_ns", estimate_json(found->second.total_ns, "phases"));
  return json.set("estimate", std::move(estimate));
}

// A size that nobody told is 0 on all axes.
Json size_json(const std::array<int64_t, 3>& size) {
  return size[0] == 0 ? Json() : json_array(size);
}

Json text_or_null(std::string_view text) { return text.empty() ? Json() : Json(text); }

Json config_json(const LaunchConfig& config) {
  Json json = Json::object();
  json.set("grid", size_json(config.grid)).set("block", size_json(config.block));
  if (config.cluster) json.set("cluster", size_json(*config.cluster));
  json.set("registers", json_optional(config.registers));
  json.set("shared_static", json_optional(config.shared_static));
  json.set("shared_dynamic", json_optional(config.shared_dynamic));
  json.set("local_per_thread", json_optional(config.local_per_thread));
  json.set("local_total", json_optional(config.local_total));
  json.set("occupancy", json_optional(config.occupancy));
  json.set("occupancy_limit", text_or_null(config.occupancy_limit()));
  json.set("occupancy_bound", text_or_null(config.occupancy_bound));
  Json bounds = Json::object();
  for (const auto& [resource, blocks] : config.occupancy_bounds) bounds.set(resource, blocks);
  return json.set("occupancy_bounds", config.occupancy_bounds.empty() ? Json() : bounds);
}

Json transfer_json(const TransferGroup& group) {
  Json json = Json::object();
  json.set("label", group.label);
  const bool has_sizes = group.bytes.count > 0 || group.duration_ns.count == 0;
  json.set("duration_ns", to_json(group.duration_ns));
  json.set("bytes", has_sizes ? to_json(group.bytes) : Json());
  json.set("bytes_per_second", has_sizes ? Json(group.bytes_per_second) : Json());
  json.set("share", group.share);
  json.set("overlapped_ns", group.overlapped_ns).set("asynchronous", group.asynchronous);
  return json;
}

Json memory_transfer_json(const TransferGroup& group) {
  Json json = transfer_json(group);
  json.set("direction", analysis::to_string(group.direction));
  json.set("source", analysis::to_string(group.source))
      .set("target", analysis::to_string(group.target));
  return json;
}

Json size_class_json(const TransferGroup& group) {
  Json json = transfer_json(group);
  const bool has_begin = group.max_bytes > 0;
  const bool has_end = has_begin && group.max_bytes != std::numeric_limits<int64_t>::max();
  json.set("min_bytes", has_begin ? Json(group.min_bytes) : Json());
  json.set("max_bytes", has_end ? Json(group.max_bytes) : Json());
  return json;
}

}  // namespace

Json to_json(const KernelGroup& group) {
  Json json = Json::object();
  json.set("label", group.label);
  if (group.full_name != group.label) json.set("full_name", group.full_name);
  if (group.is_rest) json.set("is_rest", true);
  json.set("share", group.share).set("duration_ns", to_json(group.duration_ns));
  return json;
}

Json kernel_json(const KernelGroup& kernel) {
  return to_json(kernel).set("class", analysis::to_string(kernel.kernel_class));
}

Json device_line_json(const Json& device) {
  Json json = device;
  const auto sm = analysis::multiprocessor_of(device);
  if (!sm) return json;
  Json facts = Json::object();
  facts.set("threads", sm->threads).set("blocks", sm->blocks).set("registers", sm->registers);
  facts.set("shared_bytes", sm->shared_bytes);
  facts.set("shared_reserved_bytes", sm->shared_reserved_bytes);
  facts.set("warp_threads", sm->warp_threads).set("schedulers", sm->schedulers);
  facts.set("register_unit", sm->register_unit).set("shared_unit_bytes", sm->shared_unit_bytes);
  return json.set("multiprocessor", std::move(facts));
}

Json gpu_time_json(const analysis::Overview& overview) {
  Json json = Json::object();
  json.set("recorded_ns",
           overview.kernels ? Json(overview.recorded_ns) : to_json(overview.kernels.unknown()));
  json.set("devices", json_array(overview.devices, [&](const analysis::DeviceBusy& device) {
             return device_json(device, overview);
           }));
  json.set("energy_joules", json_figure(overview.energy_joules));
  json.set("caveats", json_array(overview.caveats));
  return json;
}

void write_kernels(JsonWriter& out, const SessionReport& report) {
  write_figure(
      out, "kernels", report.overview.kernels, [&](const analysis::KernelFigures& kernels) {
        const analysis::Tables& tables = report.session.tables;
        out.set("count", kernels.count).set("total_ns", kernels.total_ns);
        write_list(out, "by_name", kernels.by_name, [&](const KernelGroup& group) {
          return with_estimate(kernel_json(group), group, kernels);
        });
        write_list(out, "by_config", kernels.by_config, [&](const KernelGroup& group) {
          return kernel_json(group).set(
              "config", config_json(tables.config(static_cast<uint32_t>(group.key))));
        });
        write_list(out, "by_class", kernels.by_class, kernel_group_json);
        write_list(out, "by_scope", kernels.by_scope, kernel_group_json);
        write_list(out, "by_stream", kernels.by_stream, [&](const KernelGroup& group) {
          const analysis::Lane& lane = tables.lanes[static_cast<size_t>(group.key)];
          Json entry = to_json(group);
          return entry.set("device", lane.device).set("stream", std::to_string(lane.stream));
        });
        write_list(out, "by_device", kernels.by_device, [](const KernelGroup& group) {
          return to_json(group).set("device", group.key);
        });
        write_list_figure(out, "by_line", kernels.by_line, kernel_group_json);
        write_list_figure(out, "by_api_call", kernels.by_api_call, kernel_group_json);
        // Of frameworks that told of themselves alone: most programs have none.
        if (kernels.by_op) write_list(out, "by_op", *kernels.by_op, kernel_group_json);
        if (kernels.by_module) write_list(out, "by_module", *kernels.by_module, kernel_group_json);
      });
}

Json transfers_json(const analysis::TransferFigures& transfers) {
  Json json = Json::object();
  json.set("copies", json_figure(transfers.copies, [](const analysis::Transfers& copies) {
             Json part = Json::object();
             part.set("all", transfer_json(copies.all));
             part.set("by_direction", json_array(copies.by_direction, transfer_json));
             part.set("by_memory", json_array(copies.by_memory, memory_transfer_json));
             part.set("by_size", json_array(copies.by_size, size_class_json));
             return part;
           }));
  json.set("fills", json_figure(transfers.fills, transfer_json));
  return json;
}

Json latency_json(const analysis::LaunchLatency& latency) {
  const auto stats = [](const analysis::Stats& figure) { return to_json(figure); };
  Json json = Json::object();
  json.set("kernels", latency.kernels);
  json.set("launch_ns", json_figure(latency.launch_ns, stats));
  json.set("queue_ns", json_figure(latency.queue_ns, stats));
  json.set("driver_ns", json_figure(latency.driver_ns, stats));
  return json;
}

void write_api_calls(JsonWriter& out, const analysis::Overview& overview) {
  write_list_figure(out, "api_calls", overview.api, [](const analysis::ApiGroup& call) {
    Json json = Json::object();
    json.set("function", call.function).set("calls", call.calls);
    json.set("share", call.share).set("failed", call.failed);
    return json.set("duration_ns", to_json(call.duration_ns));
  });
}

Json memory_json(const analysis::Overview& overview) {
  return json_figure(overview.memory, [](const std::vector<analysis::MemoryUsage>& memory) {
    return json_array(memory, [](const analysis::MemoryUsage& usage) {
      Json json = Json::object();
      json.set("device", usage.device).set("kind", analysis::to_string(usage.kind));
      json.set("allocations", usage.allocations).set("releases", usage.releases);
      json.set("unmatched_releases", usage.unmatched_releases);
      json.set("allocated_bytes", usage.allocated_bytes);
      json.set("peak_bytes", usage.peak_bytes).set("peak_ns", usage.peak_ns);
      json.set("end_bytes", usage.end_bytes).set("end_allocations", usage.end_allocations);
      json.set("allocations_per_second", usage.allocations_per_second);
      json.set("call_ns", json_figure(usage.call_ns));
      json.set("live_bytes", to_json(usage.live_bytes));
      return json;
    });
  });
}

Json communication_json(const analysis::Overview& overview) {
  return json_figure(overview.communication, [](const std::vector<analysis::Communication>& list) {
    return json_array(list, [](const analysis::Communication& device) {
      Json json = Json::object();
      json.set("device", device.device).set("kernels", device.kernels);
      json.set("communication_ns", device.communication_ns).set("compute_ns", device.compute_ns);
      json.set("overlapped_ns", device.overlapped_ns).set("exposed_ns", device.exposed_ns());
      return json.set("overlap_share", device.overlap_share());
    });
  });
}

void write_samples(JsonWriter& out, const SessionReport& report) {
  const analysis::SessionView view(report.session, report.overview, {});
  write_list(out, "samples", sampled_kernels(view), [](const analysis::SampledKernel& kernel) {
    Json stalls = Json::object();
    for (const auto& [reason, count] : kernel.stalls) stalls.set(reason, count.samples);
    Json counters = Json::object();
    for (const auto& [name, value] : kernel.counters) counters.set(name, value);
    Json json = Json::object();
    json.set("label", kernel.label).set("full_name", kernel.name).set("samples", kernel.samples);
    return json.set("stalls", std::move(stalls)).set("counters", std::move(counters));
  });
}

}  // namespace gpufl::report
