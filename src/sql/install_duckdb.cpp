// SPDX-License-Identifier: Apache-2.0
#include "sql/install_duckdb.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <iterator>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "base/child_process.hpp"
#include "base/sha256.hpp"

namespace gpufl::sql {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;

// What the registry has for a machine is not always of one version.
constexpr std::array<PinnedLibrary, 2> kPinned = {{
    {"x86_64", "@duckdb/node-bindings-linux-x64", "1.5.6-r.1",
     "3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633"},
    {"aarch64", "@duckdb/node-bindings-linux-arm64", "1.5.5-r.5",
     "d00d007f3f7ca1f2896a5e4b89c2ce141bf0508506a9d6d56f9598b8e59d074e"},
}};
constexpr const char* kInPackage = "package/libduckdb.so";
constexpr std::chrono::minutes kMostTime{10};
constexpr int kNoProgram = 127;  // of env
constexpr const char* kNameYourOwn =
    "name a libduckdb.so that you have with --library or GPUFL_DUCKDB";

// A folder that goes with the object.
class WorkFolder {
 public:
  explicit WorkFolder(const fs::path& beside) {
    std::string name = (beside / ".install-XXXXXX").string();
    if (mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~WorkFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

Status run(const std::string& what, const std::vector<std::string>& words) {
  base::ChildLimits limits;
  limits.time = kMostTime;
  limits.output_bytes = size_t{1} << 20;
  const auto child = base::run_child("/usr/bin/env", words, {}, limits);
  if (!child) return {child.status().code(), what + ": " + child.status().message()};
  if (child->exit_code == 0) return {};
  if (child->exit_code == kNoProgram) {
    return {Code::NotFound,
            fmt::format("there is no {} on this machine, and --install needs it. Without it, {}",
                        words.front(), kNameYourOwn)};
  }
  std::string said = child->err.empty() ? child->out : child->err;
  while (said.ends_with('\n')) said.pop_back();
  return {Code::Unavailable, fmt::format("{} failed: {}", what, said)};
}

base::Result<fs::path> only_archive(const fs::path& folder) {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".tgz") return entry.path();
  }
  return Status(Code::Unavailable, "npm pack left no package");
}

// On disk before it has its name.
Status put(const fs::path& file, const fs::path& library) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Status::from_errno(errno, file.string());
  const bool is_good = ::fchmod(fd, 0644) == 0 && ::fsync(fd) == 0;
  const int error = errno;
  ::close(fd);
  if (!is_good) return Status::from_errno(error, file.string());
  if (::rename(file.c_str(), library.c_str()) != 0) {
    return Status::from_errno(errno, library.string());
  }
  return {};
}

}  // namespace

const PinnedLibrary* pinned_library() {
  utsname machine{};
  if (::uname(&machine) != 0) return nullptr;
  const auto found = std::find_if(kPinned.begin(), kPinned.end(), [&](const PinnedLibrary& pinned) {
    return pinned.machine == static_cast<const char*>(machine.machine);
  });
  return found != kPinned.end() ? std::to_address(found) : nullptr;
}

std::string pinned_version() {
  const PinnedLibrary* const pinned = pinned_library();
  if (pinned == nullptr) return "other";
  return std::string(pinned->version.substr(0, pinned->version.find('-')));
}

base::Result<Installed> install_duckdb(const fs::path& library, const PinnedLibrary* pinned,
                                       const std::string& npm) {
  if (pinned == nullptr) {
    return Status(Code::Unsupported,
                  fmt::format("no library is known for this kind of machine: {}", kNameYourOwn));
  }
  if (library.empty()) return Status(Code::NotFound, "neither HOME nor XDG_DATA_HOME is set");
  Installed installed{library, std::string(pinned->version), false};
  if (const auto hash = base::sha256_of(library); hash && *hash == pinned->sha256) {
    installed.was_there = true;
    return installed;
  }
  std::error_code error;
  fs::create_directories(library.parent_path(), error);
  if (error) return Status::from_errno(error.value(), library.parent_path().string());
  // Beside the library, so that it can be renamed to it.
  const WorkFolder folder(library.parent_path());
  if (folder.path().empty()) return Status::from_errno(errno, library.parent_path().string());
  const std::string package = fmt::format("{}@{}", pinned->package, pinned->version);
  // --force: npm may be of another kind of machine than this program.
  Status status = run("npm pack " + package, {npm, "pack", package, "--force", "--pack-destination",
                                              folder.path().string()});
  if (!status) return status;
  const auto archive = only_archive(folder.path());
  if (!archive) return archive.status();
  status = run("tar", {"tar", "-xzf", archive->string(), "-C", folder.path().string(), kInPackage});
  if (!status) return status;
  const fs::path unpacked = folder.path() / kInPackage;
  if (!fs::is_regular_file(fs::symlink_status(unpacked, error))) {
    return Status(Code::Corrupt, package + " has no " + kInPackage);
  }
  const auto hash = base::sha256_of(unpacked);
  if (!hash) return hash.status();
  if (*hash != pinned->sha256) {
    return Status(Code::Corrupt,
                  fmt::format("what npm fetched as {} is not the library that was tested: its "
                              "SHA-256 is {}, expected {}; nothing was installed",
                              package, *hash, pinned->sha256));
  }
  status = put(unpacked, library);
  if (!status) return status;
  return installed;
}

}  // namespace gpufl::sql
