// SPDX-License-Identifier: Apache-2.0
#include "server/site.hpp"

#include "server/front.hpp"
#include "server/server.hpp"
#include "server/session_json.hpp"

namespace gpufl::server {

using base::Json;

Site::Site(const std::filesystem::path& folder, std::chrono::milliseconds pace,
           const CacheFolder& notes, SharedWork& shared)
    : cache_(shared.cache.path()),
      catalogue_(folder, pace,
                 [this](const std::vector<Change>& changes) {
                   for (const Change& change : changes) {
                     events_.publish("session", change_json(change));
                   }
                 }),
      services_(catalogue_, events_, notes, shared) {
  add_all_routes(routes_, services_);
}

void Site::hear_of(const AnalysisRequest& request, const base::Status& status) {
  if (request.site != catalogue_.folder()) return;
  Json json = Json::object();
  json.set("session", request.session).set("kind", request.kind);
  json.set("state", status.is_ok() ? "ready" : "failed");
  if (!status.is_ok()) json.set("problem", without_path(status.message(), cache_.string()));
  events_.publish("analysis", json);
}

}  // namespace gpufl::server
