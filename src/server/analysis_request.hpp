// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/json.hpp"

// What the server asks of an analysis, and what its result is kept under. Plain data.
namespace gpufl::server {

struct AnalysisRequest {
  // "report", "kernel", "group", "flame", "diff", "gate": what is kept; "export": what is streamed.
  std::string kind;
  base::Json arguments;  // of that kind: paths and what else was asked
  // Whose it is, for those who want to hear of its end: a session of a site. May be empty.
  std::string site, session;
  // What the sessions' files were: a result of the same subject and stamp is the same result.
  std::string stamp;
  uint64_t log_bytes = 0;
  bool is_live = false;  // a result of four fifths of it is good enough

  std::string subject() const { return kind + '\n' + arguments.dump(); }
  std::string key() const;
};

}  // namespace gpufl::server
