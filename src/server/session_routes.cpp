// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "server/fleet_json.hpp"
#include "server/replies.hpp"
#include "server/services.hpp"
#include "server/session_json.hpp"
#include "server/session_query.hpp"
#include "server/withheld.hpp"

namespace gpufl::server {
namespace {

using base::Json;

constexpr int64_t kMostOnPage = 1000;
constexpr int64_t kOnPage = 100;

// A session as whoever asks may see it. What users wrote down is not for guests.
Json shown_session(const Services& services, const SessionEntry& session, const Viewer& viewer) {
  return viewer.is_guest() ? guest_session_json(session, viewer)
                           : session_json(session, services.notes.read_notes(session.id));
}

// Whatever a guest looks for, so that the number of matches does not tell what they may not see.
net::HttpReply list_only_session(const Services& services, const Call& call) {
  const SessionPtr session = services.catalogue.find(call.viewer().session);
  Json sessions = Json::array();
  if (session) sessions.push(shown_session(services, *session, call.viewer()));
  Json json = Json::object();
  json.set("matches", static_cast<uint64_t>(sessions.items().size()));
  json.set("sessions", std::move(sessions));
  return json_reply(call.request(), json.set("next_cursor", Json()));
}

net::HttpReply list_sessions(const Services& services, const Call& call) {
  if (call.viewer().is_guest()) return list_only_session(services, call);
  SessionQuery query;
  query.text = call.text("q", "");
  query.state = call.text("state", "");
  query.host = call.text("host", "");
  query.app = call.text("app", "");
  query.engine = call.text("engine", "");
  query.run = call.text("run", "");
  query.sort = call.text("sort", query.sort);
  query.cursor = call.text("cursor", "");
  query.limit = static_cast<size_t>(call.integer("limit", kOnPage));
  std::vector<SessionPtr> found = services.catalogue.sessions();
  if (const std::string tag = call.text("tag", ""); !tag.empty()) {
    std::erase_if(found, [&](const SessionPtr& session) {
      const Json notes = services.notes.read_notes(session->id);
      const auto& tags = notes["tags"].items();
      return std::none_of(tags.begin(), tags.end(),
                          [&](const Json& one) { return one.as_string() == tag; });
    });
  }
  const auto page = choose(std::move(found), query);
  if (!page)
    return net::problem(400, "Wrong cursor", "take it from next_cursor of the page before");
  Json sessions = Json::array();
  for (const SessionPtr& session : page->sessions) {
    sessions.push(session_json(*session, services.notes.read_notes(session->id)));
  }
  Json json = Json::object();
  json.set("sessions", std::move(sessions)).set("matches", static_cast<uint64_t>(page->matches));
  json.set("next_cursor", page->next_cursor.empty() ? Json() : Json(page->next_cursor));
  return json_reply(call.request(), json);
}

net::HttpReply show_session(const Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  const Viewer& viewer = call.viewer();
  Json json = shown_session(services, *session, viewer);
  if (session->listed.found.is_readable()) {
    const Json header = session->listed.found.header.to_json();
    json.set("header",
             viewer.is_guest() ? without_withheld(header, viewer, session->dir.string()) : header);
  }
  Json devices = Json::array();
  for (const workbench::ListedDevice& device : session->listed.devices) {
    if (auto line = Json::parse(device.line)) devices.push(std::move(*line));
  }
  json.set("device_lines", std::move(devices));
  const Json notes = viewer.is_guest() ? Json() : services.notes.read_notes(session->id);
  json.set("note", notes["text"].is_string() ? notes["text"] : Json(""));
  return json_reply(call.request(), json);
}

// The sessions of each run, by rank and age; runs newest first.
std::vector<std::vector<SessionPtr>> group_runs(const std::vector<SessionPtr>& sessions) {
  std::map<std::string, size_t> places;
  std::vector<std::vector<SessionPtr>> runs;
  for (const SessionPtr& session : sessions) {
    const auto [found, is_new] = places.emplace(session->run, runs.size());
    if (is_new) runs.emplace_back();
    runs[found->second].push_back(session);
  }
  for (auto& run : runs) {
    std::sort(run.begin(), run.end(), [](const SessionPtr& a, const SessionPtr& b) {
      const auto key = [](const SessionEntry& one) {
        const format::SessionHeader& header = one.listed.found.header;
        return std::tuple(header.rank.value_or(0), header.start_wall_ns, one.id);
      };
      return key(*a) < key(*b);
    });
  }
  return runs;
}

Json run_json(const std::vector<SessionPtr>& run) {
  const format::SessionHeader& first = run.front()->listed.found.header;
  int64_t start_ns = INT64_MAX, longest_ns = 0;
  uint64_t bytes = 0, live = 0;
  std::set<std::string> hosts;
  Json ids = Json::array();
  for (const SessionPtr& session : run) {
    const workbench::ListedSession& listed = session->listed;
    if (listed.found.is_readable())
      start_ns = std::min(start_ns, listed.found.header.start_wall_ns);
    longest_ns = std::max(longest_ns, listed.duration_ns.value_or(0));
    bytes += listed.bytes;
    live += session->is_live() ? 1 : 0;
    hosts.insert(listed.found.header.host);
    ids.push(session->id);
  }
  Json json = Json::object();
  json.set("id", run.front()->run).set("app", first.app_name);
  json.set("start_wall_ns", start_ns == INT64_MAX ? Json() : Json(std::to_string(start_ns)));
  json.set("longest_ns", longest_ns).set("bytes", bytes).set("live_sessions", live);
  json.set("world_size", first.world_size ? Json(*first.world_size) : Json());
  Json list = Json::array();
  for (const std::string& host : hosts) list.push(host);
  return json.set("hosts", std::move(list)).set("sessions", std::move(ids));
}

// A page of what was made from all sessions: the cursor is how many came before.
net::HttpReply list_page(const Call& call, std::string_view name, const std::vector<Json>& items) {
  const auto limit = static_cast<size_t>(call.integer("limit", kOnPage));
  const auto from = static_cast<size_t>(call.integer("cursor", 0));
  Json list = Json::array();
  for (size_t i = from; i < items.size() && i < from + limit; ++i) list.push(items[i]);
  const bool has_more = from + limit < items.size();
  Json json = Json::object();
  json.set(name, std::move(list));
  json.set("next_cursor", has_more ? Json(std::to_string(from + limit)) : Json());
  return json_reply(call.request(), json);
}

net::HttpReply list_runs(const Services& services, const Call& call) {
  std::vector<Json> items;
  for (const auto& run : group_runs(services.catalogue.sessions())) items.push_back(run_json(run));
  return list_page(call, "runs", items);
}

net::HttpReply show_run(const Services& services, const Call& call) {
  for (const auto& run : group_runs(services.catalogue.sessions())) {
    if (run.front()->run != call.path("run")) continue;
    Json json = run_json(run);
    Json sessions = Json::array();
    for (const SessionPtr& session : run) {
      sessions.push(session_json(*session, services.notes.read_notes(session->id)));
    }
    return json_reply(call.request(), json.set("sessions", std::move(sessions)));
  }
  return no_such("run", call.path("run"));
}

net::HttpReply list_hosts(const Services& services, const Call& call) {
  struct Host {
    uint64_t sessions = 0, live = 0;
    int64_t last_ns = 0;
  };
  std::map<std::string, Host> hosts;
  for (const SessionPtr& session : services.catalogue.sessions()) {
    if (!session->listed.found.is_readable()) continue;
    const format::SessionHeader& header = session->listed.found.header;
    Host& host = hosts[header.host];
    ++host.sessions;
    host.live += session->is_live() ? 1 : 0;
    host.last_ns = std::max(host.last_ns, header.start_wall_ns);
  }
  std::vector<Json> items;
  for (const auto& [name, host] : hosts) {
    Json json = Json::object();
    json.set("host", name).set("sessions", host.sessions).set("live_sessions", host.live);
    items.push_back(json.set("last_start_wall_ns", std::to_string(host.last_ns)));
  }
  return list_page(call, "hosts", items);
}

net::HttpReply list_devices(const Services& services, const Call& call) {
  struct Device {
    Json line;
    std::string host;
    uint64_t sessions = 0;
  };
  // By what does not change from session to session: the uuid, where the log has one.
  std::map<std::pair<std::string, std::string>, Device> devices;
  for (const SessionPtr& session : services.catalogue.sessions()) {
    const std::string& host = session->listed.found.header.host;
    for (const workbench::ListedDevice& listed : session->listed.devices) {
      const bool has_uuid = !listed.uuid.empty();
      Device& device =
          devices[{host, has_uuid ? listed.uuid : "device-" + std::to_string(listed.number)}];
      if (device.sessions++ == 0) device.line = *Json::parse(listed.line);
      device.host = host;
    }
  }
  std::map<std::pair<std::string, std::string>, FleetDevice> fleet;  // likewise
  if (services.share.fleet != nullptr) {
    auto known = services.share.fleet->devices();
    if (!known) return problem_of(known.status());
    for (FleetDevice& one : *known) {
      const std::pair key(one.host, one.uuid);
      // Its sessions may be gone.
      const auto [device, is_unknown] = devices.try_emplace(key);
      if (is_unknown) {
        device->second.host = one.host;
        device->second.line = Json::object().set("name", one.name).set("uuid", one.uuid);
      }
      fleet.emplace(key, std::move(one));
    }
  }
  std::vector<Json> items;
  for (const auto& [key, device] : devices) {
    Json json = Json::object();
    json.set("host", device.host).set("sessions", device.sessions);
    for (const auto& [name, value] : device.line.members()) {
      if (name != "type") json.set(name, value);
    }
    const auto noted = fleet.find(key);
    set_fleet_fields(json, noted == fleet.end() ? nullptr : &noted->second);
    items.push_back(std::move(json));
  }
  return list_page(call, "devices", items);
}

std::vector<Parameter> page_parameters() {
  return {integer("limit", 1, kMostOnPage, kOnPage, "Entries of a page."),
          integer("cursor", 0, INT32_MAX, 0, "next_cursor of the page before.")};
}

}  // namespace

void add_session_routes(Routes& routes, Services& services) {
  const auto bound = [&services](auto function) {
    return [&services, function](const Call& call) { return function(services, call); };
  };
  routes.add({.pattern = "/api/v1/hosts",
              .id = "list_hosts",
              .summary = "Machines that sessions were recorded on",
              .parameters = page_parameters(),
              .answers = {{.description = "Hosts by name.", .schema = schema_ref("HostList")}},
              .handler = bound(list_hosts)});
  routes.add(
      {.pattern = "/api/v1/devices",
       .id = "list_devices",
       .summary = "GPUs of those machines",
       .parameters = page_parameters(),
       .answers = {{.description = "Devices by host, each as its latest session describes it.",
                    .schema = schema_ref("DeviceList")}},
       .handler = bound(list_devices)});
  routes.add({.pattern = "/api/v1/runs",
              .id = "list_runs",
              .summary = "Runs: all sessions of one launch as one",
              .parameters = page_parameters(),
              .answers = {{.description = "Runs, newest first.", .schema = schema_ref("RunList")}},
              .handler = bound(list_runs)});
  routes.add({.pattern = "/api/v1/runs/{run}",
              .id = "show_run",
              .summary = "One run with its sessions",
              .answers = {{.description = "The run.", .schema = schema_ref("RunDetail")}},
              .handler = bound(show_run)});
  routes.add(
      {.pattern = "/api/v1/sessions",
       .id = "list_sessions",
       .summary = "Sessions: search, filter, sort",
       .parameters =
           {text_parameter(
                "q", "In the name, command, host, path or id; upper and lower case are the same."),
            choice(
                "state",
                {"live", "complete", "not proven", "losses", "damaged", "unclosed", "unreadable"},
                "", "Only sessions in this state."),
            text_parameter("host", "Only sessions of this host."),
            text_parameter("app", "Only sessions of this application."),
            text_parameter("engine", "Only sessions that this engine recorded."),
            text_parameter("run", "Only sessions of this run."),
            text_parameter("tag", "Only sessions with this tag."),
            choice("sort", session_sorts(), "-start", "The order; - is descending."),
            integer("limit", 1, kMostOnPage, kOnPage, "Sessions of a page."),
            text_parameter("cursor", "next_cursor of the page before.")},
       .answers = {{.description = "Sessions, and how many match on all pages.",
                    .schema = schema_ref("SessionList")}},
       .guests = Guests::Filtered,
       .handler = bound(list_sessions)});
  routes.add({.pattern = "/api/v1/sessions/{session}",
              .id = "show_session",
              .summary = "One session",
              .answers = {{.description = "The session, with the first line of its log.",
                           .schema = schema_ref("SessionDetail")}},
              .guests = Guests::OfSession,
              .handler = bound(show_session)});
}

}  // namespace gpufl::server
