// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.hpp"
#include "backend/diagnosis.hpp"
#include "backend/nvidia/nvidia_vendor.hpp"
#include "backend/synthetic/synthetic_backend.hpp"
#include "backend/vendor.hpp"

namespace gpufl::backend {
namespace {

std::unique_ptr<Backend> make_amd(Availability& why) {
  why = {false, "not_built", "this version has no AMD backend yet", ""};
  return nullptr;
}

std::unique_ptr<Backend> make_synthetic(Availability& why) {
  auto backend = make_synthetic_backend(SyntheticOptions::from_environment());
  why = backend->health_available();
  return backend;
}

constexpr std::string_view kAuto = "auto", kNone = "none";
constexpr std::string_view kSyntheticVariables[] = {"GPUFL_SYNTHETIC_"};

// When no vendor is here, the reason is that of the first: later ones matter only where it is
// absent, and their words come after its own.
OpenedBackends make_available() {
  OpenedBackends backends;
  Availability refusal;
  for (const Vendor& vendor : vendors()) {
    if (!vendor.is_automatic) continue;
    Availability health;
    auto backend = vendor.make(health);
    if (backend && health.available) {
      backends.list.push_back({std::move(backend), std::move(health)});
      continue;
    }
    const std::string words = std::string(vendor.name) + ": " + health.detail;
    if (refusal.reason.empty()) {
      refusal = {false, health.reason, words, health.hint};
    } else {
      refusal.detail += "; " + words;
    }
  }
  if (backends.list.empty()) backends.refused.push_back({std::string(kAuto), std::move(refusal)});
  return backends;
}

Availability unknown_backend(std::string_view name) {
  std::string hint = "use auto, none";
  for (const std::string_view known : backend_names()) hint.append(", ").append(known);
  return {false, "unknown_backend", "there is no backend \"" + std::string(name) + "\"",
          std::move(hint)};
}

void make_named(std::string_view name, OpenedBackends& out) {
  Availability health = unknown_backend(name);
  std::unique_ptr<Backend> backend;
  for (const Vendor& vendor : vendors()) {
    if (vendor.name == name) backend = vendor.make(health);
  }
  if (name == kNone) health = {false, "none", "no backend was requested", ""};
  if (backend) {
    out.list.push_back({std::move(backend), std::move(health)});
  } else {
    out.refused.push_back({std::string(name), std::move(health)});
  }
}

}  // namespace

std::span<const Vendor> vendors() {
  static const Vendor all[] = {
      kNvidia,
      {.name = "amd", .is_automatic = true, .make = make_amd},
      {.name = "synthetic",
       .is_automatic = false,
       .make = make_synthetic,
       .variables = kSyntheticVariables},
  };
  return all;
}

std::vector<std::string_view> injection_variables() {
  std::vector<std::string_view> all;
  for (const Vendor& vendor : vendors()) {
    all.insert(all.end(), vendor.injection_variables.begin(), vendor.injection_variables.end());
  }
  return all;
}

OpenedBackends make_backends(std::string_view names) {
  if (names == kAuto) return make_available();
  OpenedBackends backends;
  while (true) {
    const size_t comma = names.find(',');
    make_named(names.substr(0, comma), backends);
    if (comma == std::string_view::npos) return backends;
    names.remove_prefix(comma + 1);
  }
}

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  for (const Vendor& vendor : vendors()) names.push_back(vendor.name);
  return names;
}

void driver_starts() {
  for (const Vendor& vendor : vendors()) {
    if (vendor.driver_starts != nullptr) vendor.driver_starts();
  }
}

int annotations_start(AnnotationTables tables) {
  for (const Vendor& vendor : vendors()) {
    if (vendor.annotations_start == nullptr) continue;
    if (const int started = vendor.annotations_start(tables); started != 0) return started;
  }
  return 0;
}

base::Result<std::unique_ptr<MetricCatalog>> open_metric_catalog(const std::string& chip) {
  for (const Vendor& vendor : vendors()) {
    if (vendor.open_catalog != nullptr) return vendor.open_catalog(chip);
  }
  return base::Status(base::Code::Unsupported,
                      "this build has no catalogue of hardware counters: cupti.h was not found");
}

std::vector<CountingEngine> counting_engines() {
  std::vector<CountingEngine> all;
  for (const Vendor& vendor : vendors()) {
    if (vendor.counting_engines == nullptr) continue;
    const std::vector<CountingEngine> its = vendor.counting_engines();
    all.insert(all.end(), its.begin(), its.end());
  }
  return all;
}

// Of several vendors, engines have what the first has whose GPUs are here.
Diagnosis diagnose(const std::string& root) {
  Diagnosis diagnosis;
  for (const Vendor& vendor : vendors()) {
    if (!vendor.is_automatic) continue;
    Availability health;
    const auto backend = vendor.make(health);
    const bool is_first = diagnosis.health.detail.empty();
    if (is_first || (health.available && !diagnosis.health.available)) {
      diagnosis.trace = backend ? backend->trace_available() : health;
      diagnosis.sampling = diagnosis.trace.available ? backend->ask_sampling() : diagnosis.trace;
      diagnosis.counting = diagnosis.trace.available ? backend->ask_counting() : diagnosis.trace;
      diagnosis.ranging = diagnosis.trace.available ? backend->ask_ranging() : diagnosis.trace;
      diagnosis.pm_sampling =
          diagnosis.trace.available ? backend->ask_pm_sampling() : diagnosis.trace;
      diagnosis.health = health;
    }
    if (vendor.probe != nullptr) vendor.probe(root, health, diagnosis.findings);
  }
  return diagnosis;
}

}  // namespace gpufl::backend
