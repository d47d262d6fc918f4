// SPDX-License-Identifier: Apache-2.0
#include "server/event_json.hpp"

#include <utility>

#include "base/json.hpp"
#include "server/index_answer.hpp"
#include "server/timeline_json.hpp"

namespace gpufl::server {
namespace {

using base::Json;
using index::FoundEvent;
using index::Names;
using index::TrackKind;

Json found_json(const FoundEvent& found, const Names& names) {
  return event_json(found.key, found.row, found.event, names);
}

std::string_view origin_word(symbols::Origin origin) {
  switch (origin) {
    case symbols::Origin::User: return "user";
    case symbols::Origin::Library: return "library";
    case symbols::Origin::Internal: break;
  }
  return "internal";
}

Json frame_json(const symbols::CodeFrame& frame) {
  Json json = Json::object();
  json.set("text", symbols::frame_text(frame)).set("origin", origin_word(frame.origin));
  json.set("function", frame.function).set("file", frame.file).set("line", frame.line);
  json.set("module", frame.module);
  return json.set("inlined", frame.inlined);
}

Json site_json(const analysis::CodeSite& site) {
  if (site.file.empty()) return {};
  Json json = Json::object();
  json.set("text", site.text).set("file", site.file).set("line", site.line);
  return json.set("source", site.source.empty() ? Json() : Json(site.source));
}

}  // namespace

std::string event_detail_json(const index::EventDetail& detail, const Names& names) {
  Json around = Json::object();
  around.set("event", detail.event ? found_json(*detail.event, names) : Json());
  if (detail.event && detail.event->key.kind == TrackKind::Kernels) {
    const index::NameEntry kernel = names.label(TrackKind::Kernels, detail.event->event.name);
    around.set("class", analysis::to_string(kernel.kernel_class));
  }
  around.set("call", detail.call ? found_json(*detail.call, names) : Json());
  Json work = Json::array();
  for (const FoundEvent& one : detail.work) work.push(found_json(one, names));
  around.set("work", std::move(work));
  Json scopes = Json::array();
  for (const FoundEvent& scope : detail.scopes) scopes.push(found_json(scope, names));
  Json markers = Json::array();
  for (const index::MarkerAround& marker : detail.markers) {
    Json json = found_json(marker.event, names);
    const bool has_domain = marker.domain != 0;
    json.set("domain", has_domain ? Json(names.text(format::Dict::Name, marker.domain)) : Json());
    markers.push(std::move(json));
  }
  Json frames = Json::array();
  for (const symbols::CodeFrame& frame : detail.code.frames(detail.stack)) {
    frames.push(frame_json(frame));
  }
  around.set("scopes", std::move(scopes)).set("markers", std::move(markers));
  around.set("site", site_json(detail.code.site(detail.stack)));
  around.set("frames", std::move(frames));
  std::string out = detail.row;
  out.pop_back();  // its closing brace
  append_member(out, "around", around);
  return end_answer(std::move(out));
}

}  // namespace gpufl::server
