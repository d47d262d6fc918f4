// SPDX-License-Identifier: Apache-2.0
#include "server/dashboard.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "net/compression.hpp"
#include "net/fields.hpp"
#include "server/replies.hpp"
#include "server/services.hpp"

namespace gpufl::embedded {
extern const std::string_view kIndexHtml;
}

namespace gpufl::server {
namespace {

constexpr std::string_view kHtml = "text/html; charset=utf-8";
constexpr std::string_view kIndex = "index.html";
// Names in recorded programs are data: nothing inside of the page can become a script or a style,
// and nothing of it can leave.
constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
// Names of assets change with their content.
constexpr std::string_view kForever = "public, max-age=31536000, immutable";
constexpr std::string_view kAskAgain = "no-cache";

net::HttpReply show_page(const Call& call) {
  const DashboardFile* const index = find_file(dashboard_files(), kIndex);
  if (index == nullptr) {
    return net::reply_with(std::string(kHtml), std::string(embedded::kIndexHtml));
  }
  net::HttpReply reply = reply_with_file(call.request(), *index, kAskAgain);
  reply.headers.emplace_back("Content-Security-Policy", kPolicy);
  return reply;
}

net::HttpReply show_asset(const Call& call) {
  const DashboardFile* const file = find_file(dashboard_files(), "assets/" + call.path("file"));
  if (file == nullptr) return no_such("file", call.path("file"));
  return reply_with_file(call.request(), *file, kForever);
}

}  // namespace

const DashboardFile* find_file(std::span<const DashboardFile> files, std::string_view path) {
  const auto found = std::find_if(files.begin(), files.end(),
                                  [&](const DashboardFile& file) { return file.path == path; });
  return found == files.end() ? nullptr : &*found;
}

std::string_view content_type_of(std::string_view path) {
  constexpr std::pair<std::string_view, std::string_view> kTypes[] = {
      {".html", kHtml},
      {".js", "text/javascript; charset=utf-8"},
      {".css", "text/css; charset=utf-8"},
      {".svg", "image/svg+xml"},
      {".png", "image/png"},
      {".woff2", "font/woff2"},
  };
  for (const auto& [end, type] : kTypes) {
    if (path.ends_with(end)) return type;
  }
  return "application/octet-stream";
}

net::HttpReply reply_with_file(const net::HttpRequest& request, const DashboardFile& file,
                               std::string_view cache_control) {
  net::HttpReply reply;
  reply.content_type = content_type_of(file.path);
  reply.headers.emplace_back("Cache-Control", cache_control);
  const bool is_gzip = net::accepts_gzip(request.header("Accept-Encoding"));
  if (is_gzip) {
    reply.body = file.gzip;
  } else {
    auto text = net::gunzip(file.gzip);
    if (!text) return net::problem(500);
    reply.body = std::move(*text);
  }
  // One for both forms, so it is a weak one.
  reply = net::with_etag(request, std::move(reply), "W/\"" + std::string(file.hash) + "\"");
  if (is_gzip && reply.status == 200) {
    reply.headers.emplace_back("Content-Encoding", "gzip");
    reply.headers.emplace_back("Vary", "Accept-Encoding");
  }
  return reply;
}

void add_dashboard_routes(Routes& routes) {
  routes.add({.pattern = "/",
              .id = "page",
              .summary = "The dashboard",
              .answers = {{.content_type = "text/html", .description = "A page."}},
              .is_open = true,
              .guests = Guests::Filtered,
              .handler = show_page});
  routes.add({.pattern = "/assets/{file}",
              .id = "asset",
              .summary = "Scripts, styles and pictures of the dashboard",
              .answers = {{.content_type = "text/javascript", .description = "The file."},
                          {.content_type = "text/css", .description = "Likewise."},
                          {.content_type = "image/svg+xml", .description = "Likewise."}},
              .is_open = true,
              .guests = Guests::Filtered,
              .handler = show_asset});
}

}  // namespace gpufl::server
