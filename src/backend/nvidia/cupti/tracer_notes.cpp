// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/tracer_notes.hpp"

#include <string>
#include <utility>

namespace gpufl::backend {

base::Json& TracerNotes::tell(std::string_view name, int64_t time_ns, std::string_view text,
                              std::string_view hint) {
  base::Json event = base::Json::object();
  event.set("time", time_ns).set("name", name).set("text", text);
  if (!hint.empty()) event.set("hint", hint);
  return events_.emplace_back(std::move(event));
}

void TracerNotes::tell_lacking(std::string_view feature, std::string_view asked,
                               std::string_view got, const Availability& why) {
  capabilities_.push_back({std::string(feature), std::string(asked), std::string(got), why.reason,
                           why.detail, why.hint, "nvidia"});
}

void TracerNotes::write(RowSink& sink) {
  for (const base::Json& event : std::exchange(events_, {})) {
    sink.write(format::Kind::Event, event);
  }
  for (const format::Capability& capability : std::exchange(capabilities_, {})) {
    sink.write(format::Kind::Capability, capability.to_json());
  }
}

}  // namespace gpufl::backend
