// SPDX-License-Identifier: Apache-2.0
#include "server/site.hpp"

#include <system_error>
#include <utility>

#include "format/session_files.hpp"
#include "server/front.hpp"
#include "server/session_json.hpp"

namespace gpufl::server {

using base::Json;

namespace {

size_t count_sealed(const std::filesystem::path& dir) {
  size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(dir, error), end; !error && entry != end;
       entry.increment(error)) {
    const auto name = format::parse_file_name(entry->path().filename().string());
    count += name && name->form == format::FileName::Form::Sealed ? 1 : 0;
  }
  return count;
}

}  // namespace

Site::Site(const std::filesystem::path& folder, std::chrono::milliseconds pace,
           const CacheFolder& notes, SharedWork& shared, const SiteShare& share)
    : cache_(shared.cache.path()),
      hidden_(share.is_one_of_several ? HiddenPlaces{folder.string(), cache_.string()}
                                      : HiddenPlaces{}),
      events_(share.event_streams, hidden_),
      catalogue_(folder, pace,
                 [this, &indexes = shared.indexes,
                  indexes_at_once = share.is_one_of_several](const std::vector<Change>& changes) {
                   for (const Change& change : changes) {
                     events_.publish("session", change_json(change));
                     if (!indexes_at_once || !is_worth_indexing(change)) continue;
                     indexes.prepare(change.session);
                   }
                 }),
      services_(catalogue_, events_, notes, shared, share) {
  add_all_routes(routes_, services_);
}

// Lines of a session that is being recorded would be begun again every second; a window that was
// sealed never changes.
bool Site::is_worth_indexing(const Change& change) {
  const std::filesystem::path& dir = change.session->dir;
  if (change.what == Change::What::Removed || !change.session->is_live()) {
    sealed_.erase(dir);
    return change.what != Change::What::Removed;
  }
  const size_t now = count_sealed(dir);
  return now > std::exchange(sealed_[dir], now);
}

net::HttpReply Site::answer(const net::HttpRequest& request, const Viewer& viewer) const {
  net::HttpReply reply = routes_.answer(request, viewer);
  if (reply.content_type.ends_with("json")) {
    reply.body = without_places(std::move(reply.body), hidden_);
  }
  return reply;
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
  add_fleet_routes(routes, services);
  add_section_routes(routes, services);
  add_file_routes(routes, services);
  add_timeline_routes(routes, services);
  add_figure_routes(routes, services);
  add_note_routes(routes, services);
}

}  // namespace gpufl::server
