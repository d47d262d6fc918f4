// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include <warpscope/trace.hpp>

// Which wait was ended by which work, by the flows that a capture's names declare.
namespace ws {

// Indices of Trace::spans: the end of `producer` is what `consumer` waited for.
struct Flow {
  size_t producer = 0;
  size_t consumer = 0;
};

// Both stamps of a flow are late by up to a tick of the timer, and each is taken a little after
// what it tells of: a wait may seem to end before its producer by two ticks.
inline constexpr uint64_t kFlowSlackNs = 64;

// For each consumer span the latest producer span of another group of its block that carries the
// same payload (stage and phase) and ended no later, but for the slack; nor before the group's wait
// before for that payload did, which it would have ended. One producer serves each consumer group
// once.
inline std::vector<Flow> find_flows(const Trace& trace) {
  std::vector<Flow> flows;
  const auto payload_of = [](const Span& span) {
    return span.has_payload() ? span.payload : span.end_payload;
  };
  const auto end_of = [&](size_t i) { return trace.spans[i].begin() + trace.spans[i].duration(); };
  for (const auto& [produced, consumed] : trace.names.flows) {
    // (block, payload, end) leads to producers in the order of their ends.
    std::map<std::tuple<uint32_t, uint32_t, uint64_t, size_t>, std::set<uint32_t>> producers;
    std::vector<size_t> consumers;
    for (size_t i = 0; i < trace.spans.size(); ++i) {
      const Span& span = trace.spans[i];
      if (!span.has_payload() && !span.has_end_payload()) continue;
      if (span.event_id == produced) {
        producers[{span.block, payload_of(span), end_of(i), i}];
      }
      if (span.event_id == consumed) consumers.push_back(i);
    }
    std::stable_sort(consumers.begin(), consumers.end(),
                     [&](size_t a, size_t b) { return end_of(a) < end_of(b); });
    // (block, group, payload) leads to the end of the newest wait.
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> waited;
    for (const size_t i : consumers) {
      const Span& span = trace.spans[i];
      uint64_t& waited_until = waited[{span.block, span.group, payload_of(span)}];
      const uint64_t earliest = std::exchange(waited_until, end_of(i));
      auto at = producers.upper_bound(
          {span.block, payload_of(span), end_of(i) + kFlowSlackNs, trace.spans.size()});
      while (at != producers.begin()) {
        --at;
        const auto& [block, payload, ended, producer] = at->first;
        if (block != span.block || payload != payload_of(span) || ended < earliest) break;
        if (trace.spans[producer].group == span.group) continue;
        if (at->second.insert(span.group).second) flows.push_back({producer, i});
        break;
      }
    }
  }
  return flows;
}

}  // namespace ws
