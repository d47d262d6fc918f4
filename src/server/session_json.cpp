// SPDX-License-Identifier: Apache-2.0
#include "server/session_json.hpp"

#include <string>

#include "server/withheld.hpp"

namespace gpufl::server {
namespace {

using base::Json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

}  // namespace

Json session_json(const SessionEntry& session, const Json& notes) {
  const workbench::ListedSession& listed = session.listed;
  const format::SessionHeader& header = listed.found.header;
  const bool is_readable = listed.found.is_readable();
  Json json = Json::object();
  json.set("id", session.id).set("run", session.run).set("path", session.name.string());
  json.set("state", listed.state);
  if (!is_readable) json.set("problem", listed.found.status.message());
  if (!listed.damage.empty()) json.set("problem", listed.damage);
  json.set("app", header.app_name).set("engine", header.engine).set("host", header.host);
  // Beyond what numbers of JavaScript hold.
  json.set("start_wall_ns", is_readable ? Json(std::to_string(header.start_wall_ns)) : Json());
  json.set("duration_ns", or_null(listed.duration_ns));
  json.set("duration_is_lower_bound", !listed.has_end);
  json.set("kernels", or_null(listed.kernels)).set("bytes", listed.bytes);
  json.set("rank", or_null(header.rank)).set("world_size", or_null(header.world_size));
  json.set("process", header.process).set("pid", header.pid).set("command", header.command);
  Json devices = Json::array();
  for (const workbench::ListedDevice& device : listed.devices) {
    Json one = Json::object();
    one.set("device", device.number).set("vendor", device.vendor).set("name", device.name);
    devices.push(std::move(one));
  }
  json.set("devices", std::move(devices));
  return json.set("tags", notes["tags"].is_array() ? notes["tags"] : Json::array());
}

Json guest_session_json(const SessionEntry& session, const Viewer& viewer) {
  Json json = without_withheld(session_json(session, {}), viewer, session.dir.string());
  // How many sessions there are is seen from the names of their folders.
  json.set("path", ".");
  // What is said of files names them.
  if (json.find("problem") != nullptr) json.set("problem", "not all of it can be read");
  return json;
}

Json change_json(const Change& change) {
  Json json = session_json(*change.session, {});
  return json.set("change", to_string(change.what));
}

}  // namespace gpufl::server
