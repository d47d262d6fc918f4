// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

// Where a server for others keeps their sessions tells them nothing that they can use, and
// strangers how it is set up. Pure functions; any thread.
namespace gpufl::server {

// JSON without the folder that sessions are in, which have numbers there: of "FOLDER/7/scope.1.log"
// "scope.1.log" stays, "FOLDER/7" becomes "the session". A text that is nothing but a folder is
// empty. An empty `folder` changes nothing.
std::string without_session_folders(std::string json, std::string_view folder);

struct HiddenPlaces {
  std::string sessions, cache;  // empty: it is no secret
};
// JSON without these: "CACHE" stands for the cache's folder.
std::string without_places(std::string json, const HiddenPlaces& places);

}  // namespace gpufl::server
