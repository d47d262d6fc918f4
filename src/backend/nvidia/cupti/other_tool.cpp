// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/other_tool.hpp"

#include <link.h>

#include <cstdlib>

namespace gpufl::backend {
namespace {

struct Mark {
  std::string_view in_path;
  const char* tool;
};
// Those that are there only to profile come first: a framework is loaded also when its profiler
// rests.
constexpr Mark kMarks[] = {
    {"libToolsInjection", "Nsight Systems"},
    {"nsight-systems", "Nsight Systems"},
    {"libcuda-injection", "Nsight Compute"},
    {"nsight-compute", "Nsight Compute"},
    {"libsanitizer-collection", "compute-sanitizer"},
    {"libaccinj", "nvprof"},
    {"libcuinj", "nvprof"},
    {"libparcagpucupti", "parcagpu"},
    {"libproton", "Triton's Proton"},
    {"libkineto", "torch.profiler"},
    {"libtorch_cpu", "torch.profiler"},
};

std::string_view file_name(std::string_view path) {
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

std::string described(const char* tool, std::string_view path) {
  return std::string(tool) + " (" + std::string(file_name(path)) + ")";
}

}  // namespace

std::string name_other_tool(std::string_view injected, const std::vector<std::string>& loaded) {
  if (!injected.empty()) {
    for (const Mark& mark : kMarks) {
      if (injected.find(mark.in_path) != std::string_view::npos) {
        return described(mark.tool, injected);
      }
    }
    return described("the tool of CUDA_INJECTION64_PATH", injected);
  }
  for (const Mark& mark : kMarks) {
    for (const std::string& path : loaded) {
      if (path.find(mark.in_path) != std::string::npos) return described(mark.tool, path);
    }
  }
  return "";
}

std::string other_tool_here(const std::string& own_path) {
  std::vector<std::string> loaded;
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* out) {
        static_cast<std::vector<std::string>*>(out)->emplace_back(info->dlpi_name);
        return 0;
      },
      &loaded);
  const char* variable = std::getenv("CUDA_INJECTION64_PATH");
  std::string_view injected = variable != nullptr ? variable : "";
  if (injected == own_path) injected = "";
  return name_other_tool(injected, loaded);
}

}  // namespace gpufl::backend
