// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/status.hpp"
#include "net/url.hpp"

// Which proxy a client goes through, as the environment says. Pure; any thread.
namespace gpufl::net {

// Of the environment, or of a test. Empty: not set.
using Variables = std::function<std::string(const std::string& name)>;
std::string environment_variable(const std::string& name);

// HTTPS_PROXY, http_proxy (lower case only: servers that start programs set the other from a
// request), ALL_PROXY; but for hosts in NO_PROXY, and never for this machine itself. Fails where
// the one that is meant is no http:// address.
base::Result<std::optional<Url>> proxy_for(const Url& url, const Variables& variables);

}  // namespace gpufl::net
