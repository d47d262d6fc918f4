// SPDX-License-Identifier: Apache-2.0
#include "hosting/file_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace gpufl::hosting {
namespace {

// Databases, journals, and what handlers read and write.
constexpr uint64_t kOwnFiles = 200;
// A socket, and the lock of the session that is recorded at its other end.
constexpr uint64_t kFilesOfConnection = 2;
constexpr uint64_t kFewest = 8;
// Indexes may keep half of all files open (index/index_file.cpp).
constexpr uint64_t kIndexShare = 2;

}  // namespace

uint64_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return files_for(kFewest);
  const rlimit most{limit.rlim_max, limit.rlim_max};
  const bool is_raised = ::setrlimit(RLIMIT_NOFILE, &most) == 0;
  return is_raised ? most.rlim_cur : limit.rlim_cur;
}

size_t connections_within(uint64_t files) {
  const uint64_t left = files / kIndexShare;
  return std::max(kFewest, (left - std::min(left, kOwnFiles)) / kFilesOfConnection);
}

uint64_t files_for(size_t connections) {
  return kIndexShare * (kOwnFiles + kFilesOfConnection * connections);
}

}  // namespace gpufl::hosting
