// SPDX-License-Identifier: Apache-2.0
#include "server/index_answer.hpp"

namespace gpufl::server {

using base::Json;

void append_member(std::string& out, std::string_view name, const Json& value) {
  out += out.back() == '{' ? "\"" : ",\"";
  out.append(name).append("\":").append(value.dump());
}

Json span_json(const index::TimeSpan& span) {
  if (span.empty()) return {};
  Json json = Json::array();
  json.push(span.first);
  json.push(span.last);
  return json;
}

std::string begin_answer(const index::IndexedSession& session) {
  Json indexed = Json::object();
  indexed.set("bytes", session.progress.bytes_done).set("of", session.progress.bytes_total);
  std::string out = "{";
  append_member(out, "version", session.version);
  append_member(out, "is_live", session.is_live);
  append_member(out, "is_complete", session.progress.is_complete());
  append_member(out, "indexed", indexed);
  append_member(out, "span", span_json(session.span));
  return out;
}

std::string end_answer(std::string out) {
  out += "}\n";
  return out;
}

}  // namespace gpufl::server
