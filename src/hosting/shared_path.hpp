// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

// Where guests see a shared session: below "/shared/ID/", so that the cookie of a link is sent
// nowhere else, and two links can be open side by side. Pure functions.
namespace gpufl::hosting {

inline constexpr std::string_view kSharedFolder = "/shared";

inline bool is_shared_path(std::string_view path) {
  return path.starts_with(kSharedFolder) &&
         (path.size() == kSharedFolder.size() || path[kSharedFolder.size()] == '/');
}

struct SharedPath {
  std::string_view share;  // the link's id, as it was asked for
  std::string_view rest;   // of the path, from its slash on; empty: there is none
};

// Of a path for which is_shared_path() holds.
inline SharedPath split_shared_path(std::string_view path) {
  path.remove_prefix(kSharedFolder.size());
  if (!path.empty()) path.remove_prefix(1);
  const size_t end = path.find('/');
  if (end == std::string_view::npos) return {path, {}};
  return {path.substr(0, end), path.substr(end)};
}

}  // namespace gpufl::hosting
