// SPDX-License-Identifier: Apache-2.0
#include "hosting/pages.hpp"

#include <string>
#include <utility>

namespace gpufl::embedded {
extern const std::string_view kAccountHtml;
extern const std::string_view kAccountJs;
extern const std::string_view kAccountCss;
}  // namespace gpufl::embedded

namespace gpufl::hosting {
namespace {

constexpr std::string_view kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'";

net::HttpReply page(std::string_view type, std::string_view text) {
  net::HttpReply reply = net::reply_with(std::string(type), std::string(text));
  reply.headers.emplace_back("Content-Security-Policy", kPolicy);
  return reply;
}

}  // namespace

void add_page_routes(HostedRoutes& routes, HostedServices&) {
  const auto add = [&](const char* path, const char* id, const char* summary, const char* type,
                       std::string_view text, std::vector<server::Parameter> parameters = {}) {
    routes.add(Need::Nothing,
               {.pattern = path, .id = id, .summary = summary, .parameters = std::move(parameters)},
               [type, text](const HostedCall&) { return page(type, text); });
  };
  add("/", "show_account", "To log in, and which workspaces one has", "text/html; charset=utf-8",
      embedded::kAccountHtml, {server::text_parameter("workspace", "Where a login leads to.")});
  add("/account.js", "account_script", "Its script", "text/javascript; charset=utf-8",
      embedded::kAccountJs);
  add("/account.css", "account_style", "Its style", "text/css; charset=utf-8",
      embedded::kAccountCss);
  add("/healthz", "health", "Whether the server answers", "text/plain", "ok\n");
}

}  // namespace gpufl::hosting
