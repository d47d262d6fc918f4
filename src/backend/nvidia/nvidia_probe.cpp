// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvidia_probe.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>

#include "backend/nvidia/cuda/cuda_search.hpp"
#include "backend/nvidia/cupti/cupti_library.hpp"
#include "base/dynamic_library.hpp"

namespace gpufl::backend {
namespace {

namespace fs = std::filesystem;
using State = FindingState;

constexpr int kCapSysAdmin = 21;  // its bit in CapEff of /proc/self/status

std::string first_line_with(const std::string& path, std::string_view word) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (line.find(word) != std::string::npos) return line;
  }
  return {};
}

// "NVRM version: NVIDIA UNIX ... Kernel Module  580.159.04  Release Build ..."
std::string kernel_module_version(const std::string& root) {
  const std::string line = first_line_with(root + "/proc/driver/nvidia/version", "Kernel Module");
  size_t i = line.find("Kernel Module");
  if (i == std::string::npos) return {};
  // The open module writes its name between: the version is the next word that begins a number.
  while ((i = line.find(' ', i)) != std::string::npos) {
    i = line.find_first_not_of(' ', i);
    if (i == std::string::npos) break;
    if (line[i] >= '0' && line[i] <= '9') return line.substr(i, line.find(' ', i) - i);
  }
  return {};
}

Finding driver(const std::string& root) {
  const std::string version = kernel_module_version(root);
  if (!version.empty()) return {"driver", State::Good, "kernel module " + version, ""};
  return {"driver", State::Problem, "no NVIDIA kernel module is loaded",
          "install the NVIDIA driver, or load it (modprobe nvidia)"};
}

Finding nvml(const Availability& health) {
  return {"nvml", health.available ? State::Good : State::Problem, health.detail, health.hint};
}

Finding cuda() {
  const auto library = base::DynamicLibrary::open({"libcuda.so.1"});
  if (!library) {
    return {
        "cuda", State::Absent, library.status().message(),
        "it comes with the driver; in a container NVIDIA_DRIVER_CAPABILITIES needs \"compute\""};
  }
  int (*get_version)(int*) = nullptr;
  int version = 0;
  if (!library->load("cuDriverGetVersion", get_version) || get_version(&version) != 0) {
    return {"cuda", State::Problem, library->path() + " does not report its version", ""};
  }
  return {"cuda", State::Good,
          "the driver supports CUDA up to " + std::to_string(version / 1000) + "." +
              std::to_string(version % 1000 / 10),
          ""};
}

Finding cupti_version(const base::DynamicLibrary& library) {
  if (!can_call_cupti(library)) {
    return {"cupti", State::Absent,
            library.path() +
                ", which cannot be used without CUDA's "
                "driver",
            "see cuda"};
  }
  uint32_t version = 0;
  int (*get_version)(uint32_t*) = nullptr;
  const bool told = library.load("cuptiGetVersion", get_version) && get_version(&version) == 0;
  return {"cupti", told ? State::Good : State::Problem,
          (told ? cupti_version_text(version) : "unknown version") + ", " + library.path(), ""};
}

// Opens the one that a session would, so that no process holds two of them.
void cupti_and_nvperf(const CudaSearch& search, std::vector<Finding>& findings) {
  const auto library = open_cupti(search);
  if (!library) {
    const bool broken = library.status().code() != base::Code::NotFound;
    findings.push_back({"cupti", broken ? State::Problem : State::Absent,
                        broken ? library.status().message() : "libcupti was not found",
                        "it is in the CUDA toolkit, and in the wheel nvidia-cuda-cupti"});
    findings.push_back(
        {"nvperf", State::Absent, "it comes with libcupti, which was not found", ""});
    return;
  }
  findings.push_back(cupti_version(*library));
  // Both halves have to be of CUPTI's own version: those beside it.
  const fs::path folder = fs::path(library->path()).parent_path();
  std::error_code error;
  std::string missing;
  for (const char* name : {"libnvperf_host.so", "libnvperf_target.so"}) {
    if (!fs::exists(folder / name, error))
      missing += (missing.empty() ? "" : ", ") + std::string(name);
  }
  findings.push_back(missing.empty()
                         ? Finding{"nvperf", State::Good, folder.string(), ""}
                         : Finding{"nvperf", State::Absent, missing + " not in " + folder.string(),
                                   "use a CUPTI that comes with them"});
}

Finding tool(const CudaSearch& search, const char* name) {
  const fs::path file = search.program(name);
  if (!file.empty()) return {name, State::Good, file.string(), ""};
  return {name, State::Absent, "not found",
          std::string("it is in the CUDA toolkit, and in the wheel nvidia-cuda-") + name};
}

bool is_profiling_admin(const std::string& root) {
  const std::string line = first_line_with(root + "/proc/self/status", "CapEff:");
  const size_t digits = line.find_first_of("0123456789abcdef", sizeof("CapEff:") - 1);
  if (digits == std::string::npos) return false;
  return (std::strtoull(line.c_str() + digits, nullptr, 16) >> kCapSysAdmin & 1) != 0;
}

Finding permissions(const std::string& root) {
  const std::string line =
      first_line_with(root + "/proc/driver/nvidia/params", "RmProfilingAdminOnly:");
  if (line.empty()) {
    return {"permissions", State::Absent, "the driver does not say who may read counters", ""};
  }
  const bool restricted = line.find('1', line.find(':')) != std::string::npos;
  if (!restricted) return {"permissions", State::Good, "every user may read GPU counters", ""};
  if (is_profiling_admin(root)) {
    return {"permissions", State::Good,
            "only administrators may read GPU counters; this user is "
            "one",
            ""};
  }
  return {"permissions", State::Problem,
          "the driver lets only administrators read GPU counters (RmProfilingAdminOnly: 1)",
          "give the process CAP_SYS_ADMIN, or load the driver with "
          "NVreg_RestrictProfilingToAdminUsers=0; Monitor and Trace do not need it"};
}

Finding device_files(const std::string& root) {
  int there = 0;
  std::string denied;
  std::error_code error;
  for (const char* name : {"/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia0"}) {
    const std::string path = root + name;
    if (!fs::exists(path, error)) continue;
    ++there;
    if (access(path.c_str(), R_OK | W_OK) != 0) denied += " " + std::string(name);
  }
  if (there == 0) {
    return {"device_files", State::Problem, "there is no /dev/nvidiactl and no /dev/nvidia0",
            "load the driver; in a container pass the GPUs in (docker run --gpus all)"};
  }
  if (!denied.empty()) {
    return {"device_files", State::Problem, "no access to" + denied,
            "change their permissions, or join the group that has access"};
  }
  return {"device_files", State::Good, "/dev/nvidia* can be opened", ""};
}

bool is_container(const std::string& root) {
  std::error_code error;
  if (fs::exists(root + "/.dockerenv", error) || fs::exists(root + "/run/.containerenv", error)) {
    return true;
  }
  for (const char* word : {"docker", "kubepods", "containerd", "libpod"}) {
    if (!first_line_with(root + "/proc/1/cgroup", word).empty()) return true;
  }
  return false;
}

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
}

Finding container(const std::string& root) {
  const auto visible = variable("NVIDIA_VISIBLE_DEVICES");
  const auto capabilities = variable("NVIDIA_DRIVER_CAPABILITIES");
  if (!visible && !capabilities && !is_container(root)) {
    return {"container", State::Good, "no container detected", ""};
  }
  std::string text = "NVIDIA_VISIBLE_DEVICES=" + visible.value_or("(not set)") +
                     ", NVIDIA_DRIVER_CAPABILITIES=" + capabilities.value_or("(not set)");
  if (visible && (visible->empty() || *visible == "void" || *visible == "none")) {
    return {"container", State::Problem, text,
            "this container was started without GPUs: docker run --gpus all"};
  }
  if (capabilities && *capabilities != "all") {
    for (const char* needed : {"utility", "compute"}) {
      if (capabilities->find(needed) == std::string::npos) {
        return {"container", State::Problem, text,
                std::string("NVIDIA_DRIVER_CAPABILITIES lacks \"") + needed +
                    "\": start with NVIDIA_DRIVER_CAPABILITIES=compute,utility"};
      }
    }
  }
  return {"container", State::Good, text, ""};
}

// Before CUDA 13.3 one tool at a time can hold CUPTI in a process, and one on a machine the
// hardware counters.
Finding other_tools(const std::string& root) {
  std::vector<std::string> seen;
  for (const char* name : {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "LD_PRELOAD",
                           "NSYS_PROFILING_SESSION_ID", "NV_COMPUTE_PROFILER_PERFWORKS_DIR"}) {
    const auto value = variable(name);
    if (value && !value->empty()) seen.push_back(std::string(name) + "=" + *value);
  }
  constexpr std::string_view kPrograms[] = {
      "nv-hostengine", "dcgmproftester", "nsys", "nsys-launcher", "ncu", "nvprof"};
  std::error_code error;
  for (fs::directory_iterator it(root + "/proc", error), end; !error && it != end;
       it.increment(error)) {
    const std::string pid = it->path().filename().string();
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::string name;
    std::getline(std::ifstream(it->path() / "comm"), name);
    if (std::find(std::begin(kPrograms), std::end(kPrograms), name) != std::end(kPrograms)) {
      seen.push_back(name.append(" runs (pid ").append(pid).append(")"));
    }
  }
  if (seen.empty()) return {"other_tools", State::Good, "no other profiler found", ""};
  std::string text;
  for (const std::string& one : seen) {
    if (!text.empty()) text += "; ";
    text += one;
  }
  return {"other_tools", State::Absent, text,
          "another tool may hold CUPTI or the counters; Monitor does not need them"};
}

}  // namespace

Availability counter_access(const std::string& root) {
  const Finding found = permissions(root);
  if (found.state != State::Problem) return {true, "", found.text, ""};
  return {false, "permission_denied", found.text, found.hint};
}

void probe_nvidia(const std::string& root, const Availability& health,
                  std::vector<Finding>& findings) {
  const CudaSearch search(root);
  findings.push_back(driver(root));
  findings.push_back(nvml(health));
  findings.push_back(cuda());
  cupti_and_nvperf(search, findings);
  findings.push_back(tool(search, "nvdisasm"));
  findings.push_back(tool(search, "cuobjdump"));
  findings.push_back(device_files(root));
  findings.push_back(permissions(root));
  findings.push_back(container(root));
  findings.push_back(other_tools(root));
}

}  // namespace gpufl::backend
