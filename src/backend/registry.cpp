// SPDX-License-Identifier: Apache-2.0
#include "backend/backend.hpp"
#include "backend/diagnosis.hpp"
#include "backend/nvidia/nvidia_probe.hpp"
#include "backend/synthetic/synthetic_backend.hpp"
#ifdef GPUFL_HAS_NVIDIA
#include "backend/nvidia/nvidia_backend.hpp"
#endif
#ifdef GPUFL_HAS_CUPTI
#include "backend/nvidia/cuda/cuda_start.hpp"
#endif
#ifdef GPUFL_HAS_NVTX
#include "backend/nvidia/nvtx/nvtx_injection.hpp"
#endif

namespace gpufl::backend {
namespace {

std::unique_ptr<Backend> make_nvidia(Availability& why) {
#ifdef GPUFL_HAS_NVIDIA
  auto backend = make_nvidia_backend();
  why = backend->health_available();
  return backend;
#else
  why = {false, "not_built", "this build has no NVIDIA backend: nvml.h was not found",
         "build with ./dev build, which fetches the header"};
  return nullptr;
#endif
}

std::unique_ptr<Backend> make_amd(Availability& why) {
  why = {false, "not_built", "this version has no AMD backend yet", ""};
  return nullptr;
}

std::unique_ptr<Backend> make_synthetic(Availability& why) {
  auto backend = make_synthetic_backend(SyntheticOptions::from_environment());
  why = backend->health_available();
  return backend;
}

struct Entry {
  std::string_view name;
  std::unique_ptr<Backend> (*make)(Availability&);
  bool automatic;  // a candidate for "auto"
};

constexpr Entry kEntries[] = {
    {"nvidia", make_nvidia, true},
    {"amd", make_amd, true},
    {"synthetic", make_synthetic, false},
};

// The first that works. When none does, the reason is that of the first: later entries matter
// only where it is absent, and their words come after its own.
std::unique_ptr<Backend> make_first_available(Availability& why) {
  Availability refusal;
  for (const Entry& entry : kEntries) {
    if (!entry.automatic) continue;
    Availability found;
    auto backend = entry.make(found);
    if (backend && found.available) {
      why = std::move(found);
      return backend;
    }
    const std::string words = std::string(entry.name) + ": " + found.detail;
    if (refusal.reason.empty()) {
      refusal = {false, found.reason, words, found.hint};
    } else {
      refusal.detail += "; " + words;
    }
  }
  why = std::move(refusal);
  return nullptr;
}

}  // namespace

std::unique_ptr<Backend> make_backend(std::string_view name, Availability& why) {
  if (name == "none") {
    why = {false, "none", "no backend was asked for", ""};
    return nullptr;
  }
  if (name == "auto") return make_first_available(why);
  for (const Entry& entry : kEntries) {
    if (entry.name == name) return entry.make(why);
  }
  why = {false, "unknown_backend", "there is no backend \"" + std::string(name) + "\"",
         "use auto, none, nvidia, amd or synthetic"};
  return nullptr;
}

std::vector<std::string_view> backend_names() {
  std::vector<std::string_view> names;
  for (const Entry& entry : kEntries) names.push_back(entry.name);
  return names;
}

int nvtx_starts([[maybe_unused]] NvtxGetExportTable get_export_table) {
#ifdef GPUFL_HAS_NVTX
  return start_nvtx_injection(get_export_table);
#else
  return 0;
#endif
}

void cuda_starts() {
#ifdef GPUFL_HAS_CUPTI
  nvidia_cuda_starts();
#endif
}

Diagnosis diagnose(const std::string& root) {
  Diagnosis diagnosis;
  const auto nvidia = make_nvidia(diagnosis.health);
  diagnosis.trace = nvidia ? nvidia->trace_available() : diagnosis.health;
  probe_nvidia(root, diagnosis.health, diagnosis.findings);
  return diagnosis;
}

}  // namespace gpufl::backend
