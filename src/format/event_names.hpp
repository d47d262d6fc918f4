// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of events that one room writes and another looks for. Constants.
namespace gpufl::format {

// In the session that stands in for those which a traced program did not leave.
inline constexpr const char* kNoSessionLeft = "no_session_left";

}  // namespace gpufl::format
