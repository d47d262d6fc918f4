// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "hosting/hosted_routes.hpp"

namespace gpufl::hosting {

// The pages that belong to no workspace: to log in, and to see what one may see.
void add_page_routes(HostedRoutes& routes, HostedServices& services);

}  // namespace gpufl::hosting
