// SPDX-License-Identifier: Apache-2.0
#include "capture/identity.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string_view>

namespace gpufl::capture {

namespace {

constexpr size_t kMaxCommandBytes = 4096;

std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string first_line(const std::filesystem::path& path) {
  std::string text = read_text(path);
  return text.substr(0, text.find('\n'));
}

std::optional<int64_t> whole_number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  int64_t value = 0;
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < 0) return std::nullopt;
  return value;
}

std::optional<std::string> not_empty(std::optional<std::string> text) {
  return text && !text->empty() ? text : std::nullopt;
}

// The pid and start time of the parent: the same for all workers that one launcher started on this
// machine, and for no others.
std::string parent_process() {
  const std::string stat = read_text("/proc/" + std::to_string(getppid()) + "/stat");
  // The command name may hold anything; fields count from the parenthesis that closes it.
  std::istringstream fields(stat.substr(std::min(stat.size(), stat.rfind(')') + 1)));
  std::string field;
  constexpr int kStartTimeField = 20;  // "starttime", counted from "state"
  for (int i = 0; i < kStartTimeField; ++i) fields >> field;
  return std::to_string(getppid()) + "-" + field;
}

bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

// The last run of 64 hex digits in a control group's path: Docker, containerd, CRI-O and Podman
// all name the group after the container.
std::string container_id_in(std::string_view text) {
  constexpr size_t kIdDigits = 64;
  std::string found;
  size_t run = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && is_hex(text[i])) {
      ++run;
      continue;
    }
    if (run == kIdDigits) found = text.substr(i - kIdDigits, kIdDigits);
    run = 0;
  }
  return found;
}

// In a namespace of its own a process sees its control group as "/", but the files that the runtime
// lays over /etc still come from a folder named after the container.
std::string container_id_in_mounts(const std::string& mountinfo) {
  std::istringstream lines(mountinfo);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    std::string mount_id, parent_id, device, root, mount_point;
    fields >> mount_id >> parent_id >> device >> root >> mount_point;
    if (mount_point != "/etc/hostname" && mount_point != "/etc/hosts" &&
        mount_point != "/etc/resolv.conf") {
      continue;
    }
    if (std::string id = container_id_in(root); !id.empty()) return id;
  }
  return {};
}

// Podman's file of assignments: `id="3f1c..."`.
std::string podman_id(const std::string& text) {
  constexpr std::string_view kKey = "\nid=\"";
  const std::string padded = "\n" + text;
  const size_t at = padded.find(kKey);
  if (at == std::string::npos) return {};
  const size_t begin = at + kKey.size();
  return padded.substr(begin, padded.find('"', begin) - begin);
}

std::string command_line() {
  std::string command = read_text("/proc/self/cmdline");
  while (!command.empty() && command.back() == '\0') command.pop_back();
  std::replace(command.begin(), command.end(), '\0', ' ');
  if (command.size() > kMaxCommandBytes) command.resize(kMaxCommandBytes);
  return command;
}

}  // namespace

Environment process_environment() {
  return [](const char* name) -> std::optional<std::string> {
    const char* value = std::getenv(name);
    return value != nullptr ? std::optional<std::string>(value) : std::nullopt;
  };
}

std::optional<std::string> launcher_run_id(const Environment& env) {
  if (auto id = not_empty(env("GPUFL_RUN_ID"))) return id;
  if (auto id = not_empty(env("TORCHELASTIC_RUN_ID"))) {
    // What torchrun says when it was given no id: the same for every launch in the world.
    return *id != "none" ? *id : "torchrun-" + parent_process();
  }
  auto job = not_empty(env("SLURM_JOB_ID"));
  if (!job) return std::nullopt;
  const auto step = not_empty(env("SLURM_STEP_ID"));
  return "slurm-" + *job + (step ? "." + *step : "");
}

void fill_ranks(const Environment& env, format::SessionHeader& header) {
  struct Launcher {
    const char *rank, *world_size, *local_rank;
  };
  constexpr Launcher kLaunchers[] = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
      {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"},
  };
  for (const Launcher& launcher : kLaunchers) {
    const auto rank = whole_number(env(launcher.rank));
    if (!rank) continue;
    header.rank = rank;
    header.world_size = whole_number(env(launcher.world_size));
    header.local_rank = whole_number(env(launcher.local_rank));
    return;
  }
}

std::string detect_container(const std::filesystem::path& root, const Environment& env) {
  const std::string podman = read_text(root / "run/.containerenv");
  if (std::string id = podman_id(podman); !id.empty()) return id;
  if (std::string id = container_id_in(read_text(root / "proc/self/cgroup")); !id.empty()) {
    return id;
  }
  if (std::string id = container_id_in_mounts(read_text(root / "proc/self/mountinfo"));
      !id.empty()) {
    return id;
  }
  std::error_code ignored;
  if (std::filesystem::exists(root / "run/.containerenv", ignored)) return "podman";
  if (std::filesystem::exists(root / ".dockerenv", ignored)) return "docker";
  if (env("APPTAINER_NAME") || env("SINGULARITY_NAME")) return "apptainer";
  if (env("KUBERNETES_SERVICE_HOST")) return "kubernetes";
  return not_empty(env("container")).value_or("");
}

format::SessionHeader describe_process(int64_t wall_ns) {
  const Environment env = process_environment();
  format::SessionHeader header;
  header.session_id = format::make_session_id(wall_ns);
  header.run_id = launcher_run_id(env).value_or(header.session_id);
  header.pid = getpid();
  header.process = first_line("/proc/self/comm");
  header.command = command_line();
  utsname machine{};
  if (uname(&machine) == 0) {
    header.host = machine.nodename;
    header.os = std::string(machine.sysname) + " " + machine.release;
  }
  header.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  header.container = detect_container("/", env);
  fill_ranks(env, header);
  return header;
}

}  // namespace gpufl::capture
