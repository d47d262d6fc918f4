// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/status.hpp"
#include "store/people.hpp"

// What `gpufl admin` does with links to sessions. Each prints what it finds and writes into the
// audit log what it changes, as done by `actor`. One thread.
namespace gpufl::cli {

// "on" or "off"; of an empty word it says what holds.
base::Status set_sharing(store::People& people, int64_t workspace, const std::string& word,
                         std::string_view actor);
base::Status list_shares(store::People& people, int64_t workspace);
base::Status revoke_share(store::People& people, int64_t workspace, const std::string& id,
                          std::string_view actor);

}  // namespace gpufl::cli
