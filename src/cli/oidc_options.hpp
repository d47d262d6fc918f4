// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "base/status.hpp"
#include "cli/command_line.hpp"
#include "hosting/oidc_provider.hpp"

// The provider of logins of `gpufl serve --data`, as options. Main thread only.
namespace gpufl::cli {

struct OidcLine {
  std::string issuer, client_id, secret_file, name, ca_file;
  bool allow_plain_http = false;
};

// `data`: the option without which none of these means anything.
void add_oidc_options(Command command, OidcLine& line, Option data);

// Nothing: there is no provider. The secret is in the file, or in GPUFL_OIDC_CLIENT_SECRET.
base::Result<std::optional<hosting::OidcSettings>> oidc_settings(const OidcLine& line);

}  // namespace gpufl::cli
