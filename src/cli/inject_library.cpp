// SPDX-License-Identifier: Apache-2.0
#include "cli/inject_library.hpp"

#include <cstdlib>
#include <string>
#include <system_error>

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVariable = "GPUFL_INJECT_LIBRARY";
constexpr const char* kName = "libgpufl_inject.so";

}  // namespace

base::Result<fs::path> find_inject_library() {
  std::error_code error;
  if (const char* named = std::getenv(kVariable); named != nullptr && *named != '\0') {
    const fs::path path = fs::canonical(named, error);
    if (!error) return path;
    return base::Status(base::Code::NotFound,
                        std::string(kVariable) + " names " + named + ", which does not exist");
  }
  const fs::path programs = fs::read_symlink("/proc/self/exe", error).parent_path();
  // As installed; as built.
  for (const fs::path& folder : {programs / GPUFL_BIN_TO_LIB, programs / "../lib"}) {
    const fs::path path = fs::canonical(folder / kName, error);
    if (!error) return path;
  }
  return base::Status(base::Code::NotFound, std::string(kName) + " is not beside " +
                                                programs.string() + "; set " + kVariable +
                                                " to its path");
}

}  // namespace gpufl::cli
