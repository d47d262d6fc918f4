// SPDX-License-Identifier: Apache-2.0
#include "backend/markers/framework_ranges.hpp"

#include "backend/markers/marker_recorder.hpp"

namespace gpufl::backend::framework_ranges {

using marker_recorder::MarkerEvent;
using marker_recorder::MarkerEventKind;
using marker_recorder::MarkerRing;
using marker_recorder::PayloadKind;

uint16_t domain(std::string_view name) {
  return static_cast<uint16_t>(
      marker_recorder::add_domain(marker_recorder::g_domains.intern(name)));
}

uint32_t keep_text(std::string_view text) {
  const uint32_t id = marker_recorder::g_kept_texts.intern(text);
  return id < base::Interner::kFirstFreeId ? 0 : id | marker_recorder::kKeptText;
}

bool push(const Range& range) noexcept {
  return marker_recorder::record(false, [&](MarkerRing& ring, uint32_t session) {
    MarkerEvent event{};
    event.kind = MarkerEventKind::Push;
    event.domain = range.domain;
    event.category = range.category;
    event.range = marker_recorder::stack_for(range.domain);
    event.text =
        range.kept_text != 0 ? range.kept_text : marker_recorder::g_messages.intern(range.text);
    if (range.payload != kNoPayload) {
      event.payload_kind = PayloadKind::Signed;
      event.payload = static_cast<uint64_t>(range.payload);
    }
    ring.push(session, event);
    return true;
  });
}

void pop(uint16_t domain) noexcept {
  marker_recorder::record(false, [&](MarkerRing& ring, uint32_t session) {
    ring.pop(session, domain);
    return true;
  });
}

}  // namespace gpufl::backend::framework_ranges
