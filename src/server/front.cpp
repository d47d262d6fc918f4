// SPDX-License-Identifier: Apache-2.0
#include "server/front.hpp"

#include "base/json.hpp"

namespace gpufl::server {
namespace {

void set_unless_there(net::HttpReply& reply, std::string_view name, std::string_view value) {
  if (net::find_header(reply.headers, name) != nullptr) return;
  reply.headers.emplace_back(name, value);
}

}  // namespace

std::string inside_json(const std::string& text) {
  const std::string quoted = base::Json(text).dump();
  return quoted.substr(1, quoted.size() - 2);
}

std::string without_path(std::string text, std::string_view path) {
  for (size_t at; (at = text.find(path)) != std::string::npos;) {
    text.replace(at, path.size(), "CACHE");
  }
  return text;
}

Front::Front(const std::optional<PublicUrl>& public_url, const std::filesystem::path& hidden)
    : public_url_(public_url), hidden_(inside_json(hidden.string())) {}

bool Front::has_prefix(std::string_view path) const {
  if (!public_url_) return false;
  const std::string& prefix = public_url_->path;
  return !prefix.empty() && path.starts_with(prefix) &&
         (path.size() == prefix.size() || path[prefix.size()] == '/');
}

std::optional<net::HttpRequest> Front::without_prefix(const net::HttpRequest& asked) const {
  if (!has_prefix(asked.path)) return std::nullopt;
  net::HttpRequest stripped = asked;
  stripped.path.erase(0, public_url_->path.size());
  if (stripped.path.empty()) stripped.path = "/";
  return stripped;
}

std::optional<net::HttpReply> Front::to_slash(const net::HttpRequest& asked) const {
  if (!has_prefix(asked.path) || asked.path != public_url_->path) return std::nullopt;
  net::HttpReply reply;
  reply.status = 308;
  reply.headers.emplace_back("Location", public_url_->prefix + "/");
  return reply;
}

net::HttpReply Front::with_common_fields(net::HttpReply reply) const {
  hide_folder(reply);
  set_unless_there(reply, "Cache-Control", "no-store");
  set_unless_there(reply, "X-Content-Type-Options", "nosniff");
  set_unless_there(reply, "Referrer-Policy", "no-referrer");
  set_unless_there(reply, "X-Frame-Options", "DENY");
  set_unless_there(reply, "Cross-Origin-Resource-Policy", "same-origin");
  set_unless_there(reply, "Content-Security-Policy",
                   "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
                   "form-action 'none'; frame-ancestors 'none'");
  return reply;
}

std::string Front::address(std::string_view scheme, std::string_view endpoint) const {
  if (!public_url_) return std::string(scheme) + "://" + std::string(endpoint);
  return public_url_->scheme + "://" + public_url_->authority + public_url_->prefix;
}

// Of problems: where things are concerns the user of this machine, and readers may be others.
void Front::hide_folder(net::HttpReply& reply) const {
  if (reply.content_type != "application/problem+json") return;
  reply.body = without_path(std::move(reply.body), hidden_);
}

}  // namespace gpufl::server
