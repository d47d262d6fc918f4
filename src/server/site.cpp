// SPDX-License-Identifier: Apache-2.0
#include "server/site.hpp"

#include "server/front.hpp"
#include "server/session_json.hpp"

namespace gpufl::server {

using base::Json;

Site::Site(const std::filesystem::path& folder, std::chrono::milliseconds pace,
           const CacheFolder& notes, SharedWork& shared, const SiteShare& share)
    : cache_(shared.cache.path()),
      events_(share.event_streams),
      catalogue_(folder, pace,
                 [this, &indexes = shared.indexes,
                  indexes_at_once = share.is_one_of_several](const std::vector<Change>& changes) {
                   for (const Change& change : changes) {
                     events_.publish("session", change_json(change));
                     const bool is_there = change.what != Change::What::Removed;
                     // One that is being recorded would be begun again every second.
                     if (!indexes_at_once || !is_there || change.session->is_live()) continue;
                     (void)indexes.open(*change.session, {std::chrono::milliseconds(0)});
                   }
                 }),
      services_(catalogue_, events_, notes, shared, share) {
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

void add_all_routes(Routes& routes, Services& services) {
  add_dashboard_routes(routes);
  add_operation_routes(routes, services);
  add_session_routes(routes, services);
  add_section_routes(routes, services);
  add_file_routes(routes, services);
  add_timeline_routes(routes, services);
  add_figure_routes(routes, services);
  add_note_routes(routes, services);
}

}  // namespace gpufl::server
