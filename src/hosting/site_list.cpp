// SPDX-License-Identifier: Apache-2.0
#include "hosting/site_list.hpp"

#include <utility>

namespace gpufl::hosting {
namespace {

// Half of the exports that run at a time, and of the event streams a third.
constexpr server::SiteShare kShare{.is_one_of_several = true, .exports = 1, .event_streams = 64};

}  // namespace

std::shared_ptr<server::Site> SiteList::find(int64_t workspace) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(workspace);
  if (found == places_.end()) return nullptr;
  return {found->second, found->second->site.get()};
}

void SiteList::add_new(const store::Directory& directory, store::SessionStore& store,
                       std::chrono::milliseconds pace, server::SharedWork& shared) {
  for (const auto& [name, id] : directory.workspaces) {
    if (find(id)) continue;
    const auto folder = store.sessions_of(id);
    if (!folder) continue;  // tried again the next time
    auto notes = server::CacheFolder::open(store.folder_of(id) / "notes");
    if (!notes) continue;
    // Those of others went while nobody was there to hear of it.
    if (const auto kept = store.kept_sessions(id)) notes->keep_notes_of(*kept);
    auto place = std::make_shared<Place>(std::move(*notes), store, id);
    server::SiteShare share = kShare;
    share.fleet = &place->fleet;
    place->site = std::make_unique<server::Site>(*folder, pace, place->notes, shared, share);
    const std::lock_guard lock(mutex_);
    places_.emplace(id, std::move(place));
  }
}

void SiteList::hear_of(const server::AnalysisRequest& request, const base::Status& status) const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, place] : places_) place->site->hear_of(request, status);
}

void SiteList::look_soon(int64_t workspace, const std::filesystem::path& folder) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(workspace);
  if (found != places_.end()) found->second->site->look_soon(folder);
}

void SiteList::remove_notes(int64_t workspace, const std::string& session) const {
  const std::lock_guard lock(mutex_);
  const auto found = places_.find(workspace);
  if (found != places_.end()) found->second->notes.remove_notes(session);
}

void SiteList::close_streams() const {
  const std::lock_guard lock(mutex_);
  for (const auto& [id, place] : places_) place->site->events().close_all();
}

void SiteList::clear() {
  const std::lock_guard lock(mutex_);
  places_.clear();
}

}  // namespace gpufl::hosting
