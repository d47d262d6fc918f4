// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>

#include "base/status.hpp"
#include "net/http_limits.hpp"
#include "server/analysis_pool.hpp"
#include "server/answer_budget.hpp"
#include "server/cache_folder.hpp"
#include "server/catalogue.hpp"
#include "server/event_hub.hpp"
#include "server/fleet.hpp"
#include "server/index_pool.hpp"
#include "server/routes.hpp"

// What handlers work with, and the functions that put them into the table: a file of routes is a
// function here, a line in add_all_routes() and the handlers, which keep a reference to the
// services. catalogue.find(id)->dir is a session's folder, cache.subfolder(name) a place for what
// can be derived again. Any thread.
namespace gpufl::server {

// What all sites of a server share, so that many users cannot ask for more than a few.
struct SharedWork {
  AnalysisPool& analysis;
  const CacheFolder& cache;
  IndexPool& indexes;
  std::function<net::HttpStats()> http_stats;
  std::atomic<int> exports = 0;  // under way
  AnswerBudget tiles{uint64_t{160} << 20};
};

// What one site of several may have of that, so that those of one cannot use up what is there for
// all. Of the only site: everything.
struct SiteShare {
  bool is_one_of_several = false;  // and is told nothing of what the others do
  int exports = 2;
  size_t event_streams = SIZE_MAX;
  Fleet* fleet = nullptr;  // null: there is none; it outlives the site
};

struct Services {
  Services(Catalogue& sessions, EventHub& hub, const CacheFolder& own, SharedWork& shared,
           const SiteShare& its_share = {})
      : share(its_share),
        catalogue(sessions),
        events(hub),
        notes(own),
        analysis(shared.analysis),
        cache(shared.cache),
        indexes(shared.indexes),
        http_stats(shared.http_stats),
        exports(shared.exports),
        tiles(shared.tiles) {}

  const SiteShare share;
  std::atomic<int> own_exports = 0;  // of this site, under way
  Catalogue& catalogue;
  EventHub& events;
  const CacheFolder& notes;  // what users write down
  AnalysisPool& analysis;
  const CacheFolder& cache;
  IndexPool& indexes;
  const std::function<net::HttpStats()>& http_stats;
  std::atomic<int>& exports;
  AnswerBudget& tiles;
};

// The table of everything that a server of these services offers: all of those below.
void add_all_routes(Routes& routes, Services& services);
void add_session_routes(Routes& routes, Services& services);    // sessions, runs, hosts, devices
void add_section_routes(Routes& routes, Services& services);    // what analyses answer
void add_file_routes(Routes& routes, Services& services);       // windows, exports
void add_fleet_routes(Routes& routes, Services& services);      // readings of GPUs by themselves
void add_timeline_routes(Routes& routes, Services& services);   // tiles, events, search
void add_figure_routes(Routes& routes, Services& services);     // kernels, scopes, health, ledger
void add_note_routes(Routes& routes, Services& services);       // what users write down
void add_operation_routes(Routes& routes, Services& services);  // health, metrics, events, OpenAPI
void add_dashboard_routes(Routes& routes);                      // the pages themselves

}  // namespace gpufl::server
