// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cuda/cuda_search.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

namespace gpufl::backend {
namespace {

namespace fs = std::filesystem;

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

// A folder's entries, sorted; none where it cannot be read.
std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    found.push_back(it->path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<fs::path> entries_named(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> found = entries(folder);
  std::erase_if(
      found, [&](const fs::path& path) { return !path.filename().string().starts_with(prefix); });
  return found;
}

// Of the interpreter that this process is, if it is one: as it was called, which may be by a link
// from a virtual environment, and where it really lies.
std::vector<fs::path> own_prefixes(const std::string& root) {
  std::string called;
  std::getline(std::ifstream(root + "/proc/self/cmdline"), called, '\0');
  if (!fs::path(called).filename().string().starts_with("python")) return {};
  std::vector<fs::path> prefixes;
  if (called.find('/') != std::string::npos) {
    prefixes.push_back(fs::path(root + called).parent_path().parent_path());
  }
  std::error_code error;
  const fs::path real = fs::read_symlink(root + "/proc/self/exe", error);
  if (!error) prefixes.push_back(fs::path(root + real.string()).parent_path().parent_path());
  return prefixes;
}

// Without asking the interpreter, which may be anything: from where it lies.
std::vector<fs::path> python_prefixes(const std::string& root,
                                      const std::vector<fs::path>& search_path) {
  std::vector<fs::path> prefixes = own_prefixes(root);
  for (const char* name : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string value = variable(name); !value.empty()) prefixes.push_back(root + value);
  }
  std::error_code error;
  for (const char* name : {"python3", "python"}) {
    for (const fs::path& folder : search_path) {
      if (!fs::exists(folder / name, error)) continue;
      prefixes.push_back(folder.parent_path());
      const fs::path real = fs::canonical(folder / name, error);
      if (!error) prefixes.push_back(real.parent_path().parent_path());
      break;
    }
  }
  if (const std::string home = variable("HOME"); !home.empty()) {
    prefixes.push_back(root + home + "/.local");
  }
  prefixes.push_back(root + "/usr/local");
  return prefixes;
}

std::vector<fs::path> package_folders(const fs::path& prefix) {
  std::vector<fs::path> folders;
  for (const fs::path& python : entries_named(prefix / "lib", "python")) {
    for (const char* packages : {"site-packages", "dist-packages"}) {
      for (const fs::path& package : entries(python / packages / "nvidia")) {
        folders.push_back(package);
      }
    }
  }
  return folders;
}

}  // namespace

CudaSearch::CudaSearch(const std::string& root) {
  std::istringstream path(variable("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) {
    if (!folder.empty()) search_path_.push_back(root + folder);
  }
  for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) {
    if (const std::string value = variable(name); !value.empty()) toolkits_.push_back(root + value);
  }
  for (const fs::path& toolkit : entries_named(root + "/usr/local", "cuda")) {
    toolkits_.push_back(toolkit);
  }
  for (const fs::path& prefix : python_prefixes(root, search_path_)) {
    for (const fs::path& package : package_folders(prefix)) wheels_.push_back(package);
  }
}

std::vector<fs::path> CudaSearch::libraries(std::string_view name) const {
  std::vector<fs::path> folders;
  for (const fs::path& wheel : wheels_) folders.push_back(wheel / "lib");
  for (const fs::path& toolkit : toolkits_) {
    for (const char* folder : {"extras/CUPTI/lib64", "lib64", "targets/x86_64-linux/lib", "lib"}) {
      folders.push_back(toolkit / folder);
    }
  }
  std::vector<fs::path> found;
  std::set<fs::path> seen;
  for (const fs::path& folder : folders) {
    for (const fs::path& file : entries_named(folder, "lib" + std::string(name) + ".so")) {
      std::error_code error;
      const fs::path real = fs::canonical(file, error);
      if (!error && seen.insert(real).second) found.push_back(file);
    }
  }
  return found;
}

fs::path CudaSearch::program(std::string_view name) const {
  std::vector<fs::path> folders = search_path_;
  for (const fs::path& toolkit : toolkits_) folders.push_back(toolkit / "bin");
  for (const fs::path& wheel : wheels_) folders.push_back(wheel / "bin");
  for (const fs::path& folder : folders) {
    const fs::path file = folder / name;
    std::error_code error;
    if (fs::is_regular_file(file, error) && access(file.c_str(), X_OK) == 0) return file;
  }
  return {};
}

}  // namespace gpufl::backend
