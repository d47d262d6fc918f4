// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/code_caches.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "backend/nvidia/code/code_file.hpp"

namespace gpufl::backend {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr size_t kMaxFiles = 200'000;  // of all sorts
constexpr int kMaxDepth = 8;
constexpr std::chrono::seconds kMaxTime{2};
constexpr size_t kMaxAlike = 64;  // files of one name that are looked at
constexpr uint64_t kMaxBytes = uint64_t{64} << 20;

std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): no one else's
  return value != nullptr ? value : "";
}

std::string user_name() {
  for (const char* name : {"LOGNAME", "USER"}) {
    if (std::string value = variable(name); !value.empty()) return value;
  }
  return std::to_string(::getuid());
}

}  // namespace

std::vector<std::string> code_cache_folders() {
  std::vector<std::string> folders;
  if (std::string triton = variable("TRITON_CACHE_DIR"); !triton.empty()) {
    folders.push_back(std::move(triton));
  } else if (std::string home = variable("HOME"); !home.empty()) {
    folders.push_back(home + "/.triton/cache");
  }
  if (std::string inductor = variable("TORCHINDUCTOR_CACHE_DIR"); !inductor.empty()) {
    folders.push_back(std::move(inductor));
  } else {
    std::error_code error;
    const fs::path temporary = fs::temp_directory_path(error);
    if (!error) folders.push_back((temporary / ("torchinductor_" + user_name())).string());
  }
  return folders;
}

void CodeCaches::refresh(const std::vector<std::string>& folders, const std::atomic<bool>& stop) {
  paths_.clear();
  const auto deadline = Clock::now() + kMaxTime;
  size_t seen = 0;
  for (const std::string& folder : folders) {
    std::error_code error;
    fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                           error);
    for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
      if (stop || ++seen > kMaxFiles || Clock::now() > deadline) return;
      if (entry.depth() >= kMaxDepth) entry.disable_recursion_pending();
      const fs::path& path = entry->path();
      if (path.extension() == ".cubin") paths_[path.stem().string()].push_back(path.string());
    }
  }
}

void CodeCaches::find(const std::string& name, const std::atomic<bool>& stop,
                      const std::function<bool(const FoundImage&)>& visit) const {
  const auto found = paths_.find(name);
  if (found == paths_.end()) return;
  std::vector<std::pair<int64_t, const std::string*>> newest;
  for (const std::string& path : found->second) {
    const CodeFile file(path);
    if (file.is_open() && file.size() <= kMaxBytes) newest.emplace_back(file.modified_ns(), &path);
  }
  std::sort(newest.rbegin(), newest.rend());
  if (newest.size() > kMaxAlike) newest.resize(kMaxAlike);
  std::string image;
  for (const auto& [modified_ns, path] : newest) {
    if (stop) return;
    const CodeFile file(*path);
    if (!file.is_open() || file.size() > kMaxBytes) continue;
    image.resize(file.size());
    if (!file.reader()(0, image.data(), image.size())) continue;
    if (!visit({image, *path})) return;
  }
}

}  // namespace gpufl::backend
