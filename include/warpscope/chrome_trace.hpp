// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/trace.hpp>

namespace ws {

// Names are indexed by id; where one is missing, the side block's is used. False: the file could
// not be written.
inline bool write_chrome_trace(const Trace& trace, const std::vector<std::string>& event_names,
                               const std::vector<std::string>& group_names,
                               const std::string& path);
inline bool write_chrome_trace(const uint64_t* words, size_t n,
                               const std::vector<std::string>& event_names,
                               const std::vector<std::string>& group_names,
                               const std::string& path);
inline bool write_chrome_trace(const Trace& trace, const std::string& path);

}  // namespace ws
