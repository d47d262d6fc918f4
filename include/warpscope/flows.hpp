// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <iterator>
#include <map>
#include <set>
#include <tuple>

#include <warpscope/trace.hpp>

// Which wait was ended by which work, by the flows that a capture's names declare.
namespace ws {

// Indices of Trace::spans: the end of `producer` is what `consumer` waited for.
struct Flow {
  size_t producer = 0;
  size_t consumer = 0;
};

// For each consumer span the latest producer span of another group of its block that carries the
// same payload (stage and phase) and ended no later; one producer serves each consumer group once.
inline std::vector<Flow> find_flows(const Trace& trace) {
  std::vector<Flow> flows;
  const auto payload_of = [](const Span& span) {
    return span.has_payload() ? span.payload : span.end_payload;
  };
  for (const auto& [produced, consumed] : trace.names.flows) {
    // (block, payload, end) leads to producers in the order of their ends.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t, size_t>, std::set<uint32_t>> producers;
    std::vector<size_t> consumers;
    for (size_t i = 0; i < trace.spans.size(); ++i) {
      const Span& span = trace.spans[i];
      if (!span.has_payload() && !span.has_end_payload()) continue;
      if (span.event_id == produced) {
        producers[{span.block, payload_of(span), span.begin() + span.duration(), i}];
      }
      if (span.event_id == consumed) consumers.push_back(i);
    }
    for (const size_t i : consumers) {
      const Span& span = trace.spans[i];
      const uint64_t end = span.begin() + span.duration();
      auto at = producers.upper_bound({span.block, payload_of(span), end, trace.spans.size()});
      while (at != producers.begin()) {
        --at;
        const auto& [block, payload, ended, producer] = at->first;
        if (block != span.block || payload != payload_of(span)) break;
        if (trace.spans[producer].group == span.group) continue;
        if (at->second.insert(span.group).second) flows.push_back({producer, i});
        break;
      }
    }
  }
  return flows;
}

}  // namespace ws
