// SPDX-License-Identifier: Apache-2.0
#include "symbols/vendor_code.hpp"

#include <algorithm>
#include <span>

namespace gpufl::symbols {
namespace {

using Words = std::span<const std::string_view>;

struct VendorCode {
  // How names of files begin.
  Words driver_libraries, other_libraries;
  Words folders;           // how paths begin
  Words header_folders;    // what paths of headers contain
  Words functions;         // how those of its API begin, before a capital letter
  Words runtime_internal;  // how those of its runtime begin that nobody calls by name
  Words launch_glue;
};

namespace nvidia {
constexpr std::string_view kDriver[] = {"libcuda.so", "libcudart", "libcupti", "libnvidia-"};
constexpr std::string_view kOthers[] = {"libcublas", "libcudnn",    "libcufft",    "libcufile",
                                        "libcurand", "libcusolver", "libcusparse", "libcutensor",
                                        "libnccl",   "libnv"};
constexpr std::string_view kFolders[] = {"/usr/local/cuda", "/opt/nvidia/"};
constexpr std::string_view kHeaders[] = {"/targets/x86_64-linux/include/",
                                         "/targets/sbsa-linux/include/", "/nvidia/cu13/include/",
                                         "/cuda_runtime/include/", "/bin/..//include/"};
constexpr std::string_view kFunctions[] = {"cuda", "cu"};
constexpr std::string_view kInternal[] = {"__cuda", "__cudart", "libcudart_static_"};
constexpr std::string_view kGlue[] = {"__cudaLaunch", "__cudaPushCall", "__cudaPopCall",
                                      "__device_stub"};
}  // namespace nvidia

constexpr VendorCode kVendors[] = {
    {nvidia::kDriver, nvidia::kOthers, nvidia::kFolders, nvidia::kHeaders, nvidia::kFunctions,
     nvidia::kInternal, nvidia::kGlue},
};

bool starts_with_any(std::string_view text, Words beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

template <typename Matches>
bool any_vendor(Matches matches) {
  return std::any_of(std::begin(kVendors), std::end(kVendors), matches);
}

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

bool is_driver_library(std::string_view module) {
  return any_vendor([name = file_name(module)](const VendorCode& vendor) {
    return starts_with_any(name, vendor.driver_libraries);
  });
}

bool is_vendor_library(std::string_view module) {
  return is_driver_library(module) ||
         any_vendor([name = file_name(module)](const VendorCode& vendor) {
           return starts_with_any(name, vendor.other_libraries);
         });
}

bool is_in_vendor_folder(std::string_view path) {
  return any_vendor(
      [&](const VendorCode& vendor) { return starts_with_any(path, vendor.folders); });
}

bool is_vendor_header(std::string_view file) {
  return any_vendor([&](const VendorCode& vendor) {
    return std::any_of(
        vendor.header_folders.begin(), vendor.header_folders.end(),
        [&](std::string_view folder) { return file.find(folder) != std::string_view::npos; });
  });
}

bool is_vendor_function(std::string_view name) {
  const auto is_call = [&](std::string_view beginning) {
    const size_t at = beginning.size();
    return name.starts_with(beginning) && at < name.size() && name[at] >= 'A' && name[at] <= 'Z';
  };
  return any_vendor([&](const VendorCode& vendor) {
    return starts_with_any(name, vendor.runtime_internal) ||
           std::any_of(vendor.functions.begin(), vendor.functions.end(), is_call);
  });
}

bool is_launch_glue(std::string_view function) {
  return any_vendor(
      [&](const VendorCode& vendor) { return starts_with_any(function, vendor.launch_glue); });
}

}  // namespace gpufl::symbols
