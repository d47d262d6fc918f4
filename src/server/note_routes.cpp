// SPDX-License-Identifier: Apache-2.0
#include <mutex>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "net/fields.hpp"
#include "server/replies.hpp"
#include "server/services.hpp"

namespace gpufl::server {
namespace {

using base::Json;

// In characters.
constexpr size_t kLongestNote = size_t{64} << 10;
constexpr size_t kLongestTag = 64;
constexpr size_t kMostTags = 32;

// As they are answered: both members, whatever is kept.
Json shown(const Json& notes) {
  Json json = Json::object();
  json.set("text", notes["text"].is_string() ? notes["text"] : Json(""));
  return json.set("tags", notes["tags"].is_array() ? notes["tags"] : Json::array());
}

// Why they cannot be kept; empty: they can.
std::string mistake_in(const Json& notes) {
  if (!notes.is_object()) return "notes are an object";
  for (const auto& [name, value] : notes.members()) {
    if (name == "text") {
      if (!value.is_string()) return "text is a string";
      if (count_characters(value.as_string()) > kLongestNote) {
        return fmt::format("text is longer than {} characters", kLongestNote);
      }
    } else if (name == "tags") {
      if (!value.is_array()) return "tags are an array of strings";
      if (value.items().size() > kMostTags) return fmt::format("there are over {} tags", kMostTags);
      for (const Json& tag : value.items()) {
        const std::string& text = tag.as_string();
        if (text.empty() || count_characters(text) > kLongestTag) {
          return fmt::format("a tag is a text of 1 to {} characters", kLongestTag);
        }
      }
    } else {
      return fmt::format("there is no member '{}'", name);
    }
  }
  return {};
}

net::HttpReply show_notes(const Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  return json_reply(call.request(), shown(services.notes.read_notes(session->id)));
}

net::HttpReply put_notes(const Services& services, const Call& call) {
  const SessionPtr session = session_of(services.catalogue, call);
  if (!session) return no_such("session", call.path("session"));
  const net::HttpRequest& request = call.request();
  if (!request.header("Content-Type").starts_with("application/json")) {
    return net::problem(415, "Unsupported media type", "send application/json");
  }
  const auto notes = Json::parse(request.body);
  if (!notes) return net::problem(400, "Not JSON", notes.status().message());
  if (const std::string mistake = mistake_in(*notes); !mistake.empty()) {
    return net::problem(400, "Wrong notes", mistake);
  }
  // From the comparison to the writing; other servers that share the cache are not waited for.
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  const std::string before =
      net::etag_of(shown(services.notes.read_notes(session->id)).dump() + "\n");
  if (request.has_header("If-Match") && !net::matches_etag(request.header("If-Match"), before)) {
    return net::problem(412, "Changed meanwhile", "read the notes again and change those");
  }
  const Json kept = shown(*notes);
  const base::Status written = services.notes.write_notes(session->id, kept);
  if (!written) return problem_of(written);
  return json_reply(request, kept);
}

}  // namespace

void add_note_routes(Routes& routes, Services& services) {
  constexpr const char* kPattern = "/api/v1/sessions/{session}/notes";
  routes.add({.pattern = kPattern,
              .id = "show_notes",
              .summary = "What the user wrote down about a session",
              .answers = {{.description = "Text and tags.", .schema = schema_ref("Notes")}},
              .handler = [&](const Call& call) { return show_notes(services, call); }});
  routes.add({.method = "PUT",
              .pattern = kPattern,
              .id = "put_notes",
              .summary = "Replaces that; kept in the user's cache, not beside the session",
              .answers = {{.description = "What is kept now.", .schema = schema_ref("Notes")}},
              .body_schema = schema_ref("NotesChange"),
              .handler = [&](const Call& call) { return put_notes(services, call); }});
}

}  // namespace gpufl::server
