// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <map>

#include "base/status.hpp"
#include "server/analysis_request.hpp"
#include "server/cache_folder.hpp"
#include "server/catalogue.hpp"
#include "server/event_hub.hpp"
#include "server/routes.hpp"
#include "server/services.hpp"
#include "server/session_folders.hpp"

// The sessions of one folder, as a server shows them: what there is, what happens to it, and the
// routes that answer for it. A server of one folder has one; a hosted one has one for each
// workspace, which know nothing of each other. Any thread.
namespace gpufl::server {

class Site {
 public:
  // `notes` and `shared` outlive it. Of one of several, timelines are made ready as sessions come,
  // and not when somebody looks at them first.
  Site(const std::filesystem::path& folder, std::chrono::milliseconds pace,
       const CacheFolder& notes, SharedWork& shared, const SiteShare& share = {});
  Site(const Site&) = delete;
  Site& operator=(const Site&) = delete;

  const Routes& routes() const { return routes_; }
  // As its routes do. Of one of several, no answer says where the sessions are.
  net::HttpReply answer(const net::HttpRequest& request, const Viewer& viewer = {}) const;
  const Catalogue& catalogue() const { return catalogue_; }
  EventHub& events() { return events_; }
  // As the catalogue's.
  bool look_soon(const std::filesystem::path& dir) { return catalogue_.look_soon(dir); }
  // Passes it on to those who follow the events, where it is about one of these sessions.
  void hear_of(const AnalysisRequest& request, const base::Status& status);

 private:
  bool is_worth_indexing(const Change& change);

  const std::filesystem::path cache_;  // is hidden from readers
  const HiddenPlaces hidden_;          // from those who read one of several
  EventHub events_;
  std::map<std::filesystem::path, size_t> sealed_;  // windows of live sessions; the look's thread's
  Catalogue catalogue_;
  Services services_;
  Routes routes_;
};

}  // namespace gpufl::server
