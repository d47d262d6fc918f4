// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "base/json.hpp"
#include "format/capability.hpp"

// What a tracer has to say of itself, on its way to the log.
namespace gpufl::backend {

class TracerNotes {
 public:
  // An event, to which more can be added until the next one.
  base::Json& tell(std::string_view name, int64_t time_ns, std::string_view text,
                   std::string_view hint = "");
  // The session's own capability records were written when it began: these correct them.
  void tell_lacking(std::string_view feature, std::string_view asked, std::string_view got,
                    const Availability& why);
  void write(RowSink& sink);

 private:
  std::vector<base::Json> events_;
  std::vector<format::Capability> capabilities_;
};

}  // namespace gpufl::backend
