// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "hosting/workspace_fleet.hpp"
#include "server/site.hpp"
#include "store/people.hpp"
#include "store/session_store.hpp"

// The site of every workspace. They are made as workspaces appear, and stay. Any thread.
namespace gpufl::hosting {

class SiteList {
 public:
  // Null: there is no such workspace, or its folder cannot be made.
  std::shared_ptr<server::Site> find(int64_t workspace) const;
  // Makes those that are missing.
  void add_new(const store::Directory& directory, store::SessionStore& store,
               std::chrono::milliseconds pace, server::SharedWork& shared);
  void hear_of(const server::AnalysisRequest& request, const base::Status& status) const;
  // Something of the session in that folder has changed.
  void look_soon(int64_t workspace, const std::filesystem::path& folder) const;
  // Of a session that is gone for good.
  void remove_notes(int64_t workspace, const std::string& session) const;
  // Ends their streams.
  void close_streams() const;
  void clear();

 private:
  struct Place {
    Place(server::CacheFolder folder, store::SessionStore& store, int64_t workspace)
        : notes(std::move(folder)), fleet(store, workspace) {}
    server::CacheFolder notes;
    WorkspaceFleet fleet;
    std::unique_ptr<server::Site> site;  // uses the others
  };
  mutable std::mutex mutex_;
  std::map<int64_t, std::shared_ptr<Place>> places_;
};

}  // namespace gpufl::hosting
