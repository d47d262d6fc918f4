// SPDX-License-Identifier: Apache-2.0
#include "backend/diagnosis.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>

namespace gpufl::backend {
namespace {

namespace fs = std::filesystem;

// A machine of files, and an environment without what this one has.
class DiagnosisTest : public testing::Test {
 protected:
  DiagnosisTest() {
    char path[] = "/tmp/gpufl-doctor-XXXXXX";
    root_ = mkdtemp(path);
    for (const char* name :
         {"PATH", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX", "LD_PRELOAD",
          "CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID",
          "NV_COMPUTE_PROFILER_PERFWORKS_DIR", "NVIDIA_VISIBLE_DEVICES",
          "NVIDIA_DRIVER_CAPABILITIES", "GPUFL_NVML_LIBRARY", "GPUFL_CUPTI_LIBRARY"}) {
      const char* value = std::getenv(name);
      environment_[name] = value ? std::optional<std::string>(value) : std::nullopt;
      unsetenv(name);
    }
    setenv("GPUFL_NVML_LIBRARY", "/nonexistent/libnvidia-ml.so.1", 1);
    setenv("PATH", "/opt/tools:/opt/venv/bin", 1);
  }
  ~DiagnosisTest() override {
    for (const auto& [name, value] : environment_) {
      value ? setenv(name.c_str(), value->c_str(), 1) : unsetenv(name.c_str());
    }
    fs::remove_all(root_);
  }

  void write(const std::string& path, const std::string& text, bool executable = false) {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
    if (executable) fs::permissions(root_ / path, fs::perms::owner_all);
  }
  Finding find(const std::string& topic) const {
    const Diagnosis diagnosis = diagnose(root_.string());
    for (const Finding& finding : diagnosis.findings) {
      if (finding.topic == topic) return finding;
    }
    ADD_FAILURE() << "no finding " << topic;
    return {};
  }

  fs::path root_;
  std::map<std::string, std::optional<std::string>> environment_;
};

TEST_F(DiagnosisTest, AMachineWithNothingHasHintsForEverything) {
  const Diagnosis diagnosis = diagnose(root_.string());
  EXPECT_FALSE(diagnosis.health.available);
  EXPECT_FALSE(diagnosis.trace.available);
  EXPECT_FALSE(diagnosis.health.reason.empty());
  std::vector<std::string> topics;
  for (const Finding& finding : diagnosis.findings) {
    topics.push_back(finding.topic);
    EXPECT_FALSE(finding.text.empty()) << finding.topic;
  }
  EXPECT_EQ(topics, (std::vector<std::string>{"driver", "nvml", "cuda", "cupti", "nvperf",
                                              "nvdisasm", "cuobjdump", "device_files",
                                              "permissions", "container", "other_tools"}));
  for (const char* topic : {"driver", "nvml", "cupti", "nvdisasm", "device_files"}) {
    EXPECT_NE(find(topic).state, FindingState::Good) << topic;
    EXPECT_FALSE(find(topic).hint.empty()) << topic;
  }
}

TEST_F(DiagnosisTest, TheKernelModulesVersionInBothOfItsForms) {
  write(
      "proc/driver/nvidia/version",
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.54.03  Tue Jun  6 22:20:39 UTC 2023\n");
  EXPECT_EQ(find("driver").text, "kernel module 535.54.03");
  write("proc/driver/nvidia/version",
        "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build\n"
        "GCC version:  gcc 13\n");
  EXPECT_EQ(find("driver").text, "kernel module 580.159.04");
  EXPECT_EQ(find("driver").state, FindingState::Good);
}

TEST_F(DiagnosisTest, CountersForAdministratorsOnly) {
  write("proc/driver/nvidia/params", "ResmanDebugLevel: 1\nRmProfilingAdminOnly: 0\n");
  EXPECT_EQ(find("permissions").state, FindingState::Good);
  write("proc/driver/nvidia/params", "ResmanDebugLevel: 0\nRmProfilingAdminOnly: 1\n");
  write("proc/self/status", "Name:\tx\nCapEff:\t0000000000000000\n");
  EXPECT_EQ(find("permissions").state, FindingState::Problem);
  EXPECT_NE(find("permissions").hint.find("CAP_SYS_ADMIN"), std::string::npos);
  write("proc/self/status", "Name:\tx\nCapEff:\t0000000000200000\n");
  EXPECT_EQ(find("permissions").state, FindingState::Good);
}

TEST_F(DiagnosisTest, ToolsInPathToolkitAndWheels) {
  EXPECT_EQ(find("nvdisasm").state, FindingState::Absent);
  write("opt/venv/bin/python3", "", true);
  write("opt/venv/lib/python3.12/site-packages/nvidia/cu13/bin/nvdisasm", "", true);
  EXPECT_EQ(find("nvdisasm").text,
            (root_ / "opt/venv/lib/python3.12/site-packages/nvidia/cu13/bin/nvdisasm").string());
  write("usr/local/cuda-13.0/bin/nvdisasm", "", true);
  EXPECT_EQ(find("nvdisasm").text, (root_ / "usr/local/cuda-13.0/bin/nvdisasm").string());
  write("opt/tools/nvdisasm", "", false);  // not executable: not it
  EXPECT_EQ(find("nvdisasm").text, (root_ / "usr/local/cuda-13.0/bin/nvdisasm").string());
  write("opt/tools/nvdisasm", "", true);
  EXPECT_EQ(find("nvdisasm").text, (root_ / "opt/tools/nvdisasm").string());
}

TEST_F(DiagnosisTest, TheInterpretersOwnWheelsComeFirst) {
  write("opt/venv/bin/python3", "", true);
  write("opt/venv/lib/python3.12/site-packages/nvidia/cu13/bin/nvdisasm", "", true);
  write("srv/app/lib/python3.11/site-packages/nvidia/cu12/bin/nvdisasm", "", true);
  write("proc/self/cmdline", std::string("/srv/app/bin/python3.11\0train.py\0", 33));
  EXPECT_EQ(find("nvdisasm").text,
            (root_ / "srv/app/lib/python3.11/site-packages/nvidia/cu12/bin/nvdisasm").string());
  write("proc/self/cmdline", std::string("/srv/app/bin/train\0", 19));
  EXPECT_EQ(find("nvdisasm").text,
            (root_ / "opt/venv/lib/python3.12/site-packages/nvidia/cu13/bin/nvdisasm").string());
}

TEST_F(DiagnosisTest, ACuptiThatDoesNotLoadIsAProblem) {
  write("usr/local/cuda/extras/CUPTI/lib64/libcupti.so.13", "this is no library");
  const Finding cupti = find("cupti");
  EXPECT_EQ(cupti.state, FindingState::Problem);
  EXPECT_NE(cupti.text.find("libcupti.so.13"), std::string::npos);
}

TEST_F(DiagnosisTest, CuptiTellsItsVersionAndHasNvperfBesideIt) {
  const std::string packages = "opt/venv/lib/python3.12/site-packages/nvidia/cu13/lib/";
  const fs::path folder = root_ / packages;
  fs::create_directories(folder);
  fs::copy_file(GPUFL_STANDIN_CUPTI, folder / "libcupti.so.13");
  write("opt/venv/bin/python3", "", true);
  if (find("cuda").state == FindingState::Absent) {
    // Not asked: a real one might end the process.
    EXPECT_EQ(find("cupti").state, FindingState::Absent);
    EXPECT_TRUE(find("cupti").text.starts_with((folder / "libcupti.so.13").string()));
  }
  setenv("GPUFL_CUPTI_LIBRARY", (folder / "libcupti.so.13").c_str(), 1);
  EXPECT_EQ(find("cupti").state, FindingState::Good);
  EXPECT_EQ(find("cupti").text, "13.0, " + (folder / "libcupti.so.13").string());
  EXPECT_EQ(find("nvperf").state, FindingState::Absent);
  write(packages + "libnvperf_host.so", "");
  write(packages + "libnvperf_target.so", "");
  EXPECT_EQ(find("nvperf").state, FindingState::Good);
}

TEST_F(DiagnosisTest, DeviceFiles) {
  write("dev/nvidiactl", "");
  write("dev/nvidia0", "");
  EXPECT_EQ(find("device_files").state, FindingState::Good);
}

TEST_F(DiagnosisTest, ContainersWithoutGpusOrCapabilities) {
  EXPECT_EQ(find("container").text, "no container detected");
  write(".dockerenv", "");
  EXPECT_EQ(find("container").state, FindingState::Good);
  setenv("NVIDIA_VISIBLE_DEVICES", "void", 1);
  EXPECT_EQ(find("container").state, FindingState::Problem);
  setenv("NVIDIA_VISIBLE_DEVICES", "all", 1);
  setenv("NVIDIA_DRIVER_CAPABILITIES", "compute", 1);
  EXPECT_NE(find("container").hint.find("\"utility\""), std::string::npos);
  setenv("NVIDIA_DRIVER_CAPABILITIES", "compute,utility", 1);
  EXPECT_EQ(find("container").state, FindingState::Good);
}

TEST_F(DiagnosisTest, OtherTools) {
  EXPECT_EQ(find("other_tools").state, FindingState::Good);
  write("proc/77/comm", "nv-hostengine\n");
  write("proc/78/comm", "bash\n");
  setenv("CUDA_INJECTION64_PATH", "/opt/libother.so", 1);
  const Finding tools = find("other_tools");
  EXPECT_EQ(tools.state, FindingState::Absent);
  EXPECT_EQ(tools.text, "CUDA_INJECTION64_PATH=/opt/libother.so; nv-hostengine runs (pid 77)");
}

}  // namespace
}  // namespace gpufl::backend
