// SPDX-License-Identifier: Apache-2.0
#include "server/session_folders.hpp"

#include <utility>

#include "server/front.hpp"

namespace gpufl::server {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string without_session_folders(std::string json, std::string_view folder) {
  if (folder.empty()) return json;
  const std::string name = inside_json(std::string(folder));
  const std::string_view text = json;
  std::string out;
  size_t done = 0;
  for (size_t at = 0; (at = text.find(name, at)) != std::string_view::npos;) {
    size_t end = at + name.size();
    if (end + 1 < text.size() && text[end] == '/' && is_digit(text[end + 1])) {
      for (++end; end < text.size() && is_digit(text[end]);) ++end;
    }
    const bool has_more = text.substr(end).starts_with('/');
    const bool is_all = at > 0 && text[at - 1] == '"' && text.substr(end).starts_with('"');
    out += text.substr(done, at - done);
    if (!has_more && !is_all) out += "the session";
    at = done = has_more ? end + 1 : end;
  }
  if (done == 0) return json;
  return out += text.substr(done);
}

std::string without_places(std::string json, const HiddenPlaces& places) {
  if (!places.cache.empty()) json = without_path(std::move(json), inside_json(places.cache));
  return without_session_folders(std::move(json), places.sessions);
}

}  // namespace gpufl::server
