// SPDX-License-Identifier: Apache-2.0
#include "server/session_folders.hpp"

#include "base/json.hpp"

namespace gpufl::server {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

std::string without_session_folders(std::string json, std::string_view folder) {
  if (folder.empty()) return json;
  const std::string quoted = base::Json(std::string(folder)).dump();
  const std::string_view name = std::string_view(quoted).substr(1, quoted.size() - 2);
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

}  // namespace gpufl::server
