// SPDX-License-Identifier: Apache-2.0
#include "cli/info_command.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "backend/backend.hpp"
#include "capture/host_metrics.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "format/vendor_words.hpp"

namespace gpufl::cli {
namespace {

using backend::DeviceFacts;

constexpr double kGiB = 1 << 30;

struct Machine {
  capture::HostFacts host;
  backend::Availability gpus;
  std::string backend;
  std::vector<DeviceFacts> devices;
};

Machine look(const std::string& backend_name) {
  Machine machine;
  machine.host = capture::HostMetrics().facts();
  const backend::OpenedBackends found = backend::make_backends(backend_name);
  for (const backend::RefusedBackend& one : found.refused) machine.gpus = one.why;
  for (const backend::OpenedBackend& one : found.list) {
    machine.gpus = one.health;
    if (!one.health.available) continue;
    machine.backend.append(machine.backend.empty() ? "" : ", ").append(one.backend->name());
    one.backend->number_devices_from(backend::number_after(machine.devices));
    auto health = one.backend->make_health_source();
    if (health) {
      const auto devices = (*health)->devices();
      machine.devices.insert(machine.devices.end(), devices.begin(), devices.end());
    } else if (machine.devices.empty()) {
      machine.gpus = {false, "unavailable", health.status().message(), ""};
    }
  }
  return machine;
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  if (!value.empty()) fmt::format_to(std::back_inserter(out), "  {:<12}{}\n", name, value);
}

// The pieces whose values are known, joined by commas.
class Pieces {
 public:
  Pieces& add(fmt::format_string<const int64_t&> text, const std::optional<int64_t>& value) {
    if (value) add(fmt::format(text, *value));
    return *this;
  }
  Pieces& add(const std::optional<int64_t>& count, std::string_view things) {
    if (count) add(fmt::format("{} {}", *count, things));
    return *this;
  }
  Pieces& add(const std::string& text) {
    text_ += (text_.empty() ? "" : ", ") + text;
    return *this;
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string describe(const DeviceFacts& facts) {
  std::string out =
      fmt::format("GPU {}: {}", facts.device, facts.name.empty() ? "does not answer" : facts.name);
  if (facts.parent) out += fmt::format(" (instance of GPU {})", *facts.parent);
  out += '\n';
  append_field(out, "uuid", facts.uuid);
  append_field(out, "pci bus", facts.pci_bus);
  if (facts.memory_bytes) {
    append_field(out, "memory",
                 fmt::format("{:.1f} GiB", static_cast<double>(*facts.memory_bytes) / kGiB));
  }
  const format::VendorWords words = format::words_of_vendor(facts.vendor);
  Pieces compute;
  compute.add(facts.compute_units, words.compute_units);
  if (!facts.architecture.empty()) compute.add(facts.architecture);
  append_field(out, "compute", compute.text());
  Pieces clocks;
  if (facts.max_compute_clock_mhz) {
    clocks.add(fmt::format("{} up to {} MHz", words.compute_unit, *facts.max_compute_clock_mhz));
  }
  append_field(out, "clocks", clocks.add("memory up to {} MHz", facts.max_memory_clock_mhz).text());
  if (facts.power_limit_mw) {
    append_field(out, "power", fmt::format("limit {} W", *facts.power_limit_mw / 1000));
  }
  append_field(out, "temperature",
               Pieces()
                   .add("slows down at {} °C", facts.slowdown_temperature_c)
                   .add("shuts down at {} °C", facts.shutdown_temperature_c)
                   .text());
  append_field(out, "links",
               Pieces()
                   .add("PCIe generation {}", facts.pcie_generation_max)
                   .add("{} lanes", facts.pcie_width_max)
                   .add(facts.link_count, words.links)
                   .text());
  Pieces versions;
  if (!facts.driver.empty()) versions.add(facts.driver);
  if (!facts.runtime.empty())
    versions.add(fmt::format("up to {} {}", words.runtime, facts.runtime));
  append_field(out, "driver", versions.text());
  return out;
}

std::string describe(const Machine& machine) {
  std::string out;
  for (const DeviceFacts& facts : machine.devices) out += describe(facts);
  if (machine.devices.empty()) {
    out += fmt::format("no GPU: {}\n", machine.gpus.detail);
    if (!machine.gpus.hint.empty()) out += fmt::format("  {}\n", machine.gpus.hint);
  }
  const capture::HostFacts& host = machine.host;
  out += "host\n";
  append_field(out, "cpu",
               Pieces().add("{} cores", host.core_count).text() +
                   (host.cpu_model.empty() ? "" : ", " + host.cpu_model));
  if (host.ram_total_bytes) {
    append_field(out, "memory",
                 fmt::format("{:.1f} GiB", static_cast<double>(*host.ram_total_bytes) / kGiB));
  }
  Pieces limits;
  if (host.cgroup_memory_limit_bytes) {
    limits.add(fmt::format("{:.1f} GiB of memory",
                           static_cast<double>(*host.cgroup_memory_limit_bytes) / kGiB));
  }
  if (host.cgroup_cpu_limit_permille) {
    limits.add(
        fmt::format("{:.1f} cores", static_cast<double>(*host.cgroup_cpu_limit_permille) / 1000));
  }
  append_field(out, "cgroup", limits.text());
  return out;
}

base::Json to_json(const Machine& machine) {
  base::Json devices = base::Json::array();
  for (const DeviceFacts& facts : machine.devices) devices.push(facts.to_json());
  base::Json json = base::Json::object();
  json.set("backend", machine.backend.empty() ? base::Json() : base::Json(machine.backend));
  if (!machine.gpus.available) {
    json.set("reason", machine.gpus.reason);
    json.set("detail", machine.gpus.detail);
    if (!machine.gpus.hint.empty()) json.set("hint", machine.gpus.hint);
  }
  json.set("devices", std::move(devices));
  json.set("host", machine.host.to_json());
  return json;
}

}  // namespace

void add_info_command(Command program) {
  struct Options {
    std::string backend = "auto";
    bool json = false;
  };
  auto options = std::make_shared<Options>();
  Command command = program.add_command("info", "Show the GPUs and their static facts");
  std::vector<std::string> names{"auto"};
  for (const std::string_view name : backend::backend_names()) names.emplace_back(name);
  command.add_option("--backend", options->backend, "Whose GPUs")
      .type_name("NAME")
      .choices(names)
      .show_default();
  command.add_flag("--json", options->json, "Print one JSON object");
  command.set_footer("Exit code: 0 there is a GPU; 1 there is no GPU, and the output says why.");
  command.set_action([options] {
    const Machine machine = look(options->backend);
    print(options->json ? to_json(machine).dump() + '\n' : describe(machine));
    return machine.devices.empty() ? kExitNo : kExitGood;
  });
}

}  // namespace gpufl::cli
