// SPDX-License-Identifier: Apache-2.0
#include "net/proxy.hpp"

#include <cstdlib>

#include "net/fields.hpp"
#include "net/http_message.hpp"

namespace gpufl::net {
namespace {

std::string first_set(const Variables& variables, std::initializer_list<const char*> names,
                      std::string& found) {
  for (const char* name : names) {
    std::string value = variables(name);
    if (value.empty()) continue;
    found = name;
    return value;
  }
  return {};
}

// "example.com" and ".example.com" name a domain and all that is in it.
bool is_within(const Url& url, std::string_view entry) {
  if (entry == "*") return true;
  std::string_view host = entry;
  if (const size_t colon = host.rfind(':');
      colon != std::string_view::npos && host.find(':') == colon) {
    if (host.substr(colon + 1) != std::to_string(url.port)) return false;
    host = host.substr(0, colon);
  }
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.starts_with('.')) host.remove_prefix(1);
  if (host.empty() || url.host.size() < host.size()) return false;
  const size_t before = url.host.size() - host.size();
  return equals_ignoring_case(std::string_view(url.host).substr(before), host) &&
         (before == 0 || url.host[before - 1] == '.');
}

}  // namespace

std::string environment_variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

base::Result<std::optional<Url>> proxy_for(const Url& url, const Variables& variables) {
  if (url.is_loopback()) return std::optional<Url>();
  std::string name;
  std::string text = url.is_tls ? first_set(variables, {"https_proxy", "HTTPS_PROXY"}, name)
                                : first_set(variables, {"http_proxy"}, name);
  if (text.empty()) text = first_set(variables, {"all_proxy", "ALL_PROXY"}, name);
  if (text.empty()) return std::optional<Url>();
  std::string ignored;
  const std::string without = first_set(variables, {"no_proxy", "NO_PROXY"}, ignored);
  for (const std::string_view entry : split_list(without)) {
    if (is_within(url, entry)) return std::optional<Url>();
  }
  if (text.find("://") == std::string::npos) text.insert(0, "http://");
  const auto proxy = parse_url(text, true);
  if (!proxy) return base::Status(proxy.status().code(), name + ": " + proxy.status().message());
  if (proxy->is_tls) {
    return base::Status(base::Code::Unsupported,
                        name +
                            " names a proxy that is spoken to by TLS, which gpufl cannot; "
                            "name one that begins with http://");
  }
  return std::optional<Url>(*proxy);
}

}  // namespace gpufl::net
