// SPDX-License-Identifier: Apache-2.0
#include "format/ledger.hpp"

namespace gpufl::format {
namespace {

using base::Json;

Json counts_to_json(const std::map<std::string, uint64_t>& counts) {
  Json object = Json::object();
  for (const auto& [name, count] : counts) object.set(name, count);
  return object;
}

std::map<std::string, uint64_t> counts_from_json(const Json& object) {
  std::map<std::string, uint64_t> counts;
  for (const auto& [name, count] : object.members()) {
    if (count.is_integer() && count.as_integer() >= 0) {
      counts[name] = static_cast<uint64_t>(count.as_integer());
    }
  }
  return counts;
}

std::optional<uint64_t> known(const Json& value) {
  if (!value.is_integer() || value.as_integer() < 0) return {};
  return static_cast<uint64_t>(value.as_integer());
}

// Fields of one name in the struct and in the line, listed once for both directions.
template <typename L, typename Visit>
void for_each_optional(L& ledger, Visit visit) {
  visit("launches_seen", ledger.launches_seen);
  visit("kernel_records", ledger.kernel_records);
  visit("graph_launches", ledger.graph_launches);
  visit("graph_kernel_records", ledger.graph_kernel_records);
  visit("vendor_dropped", ledger.vendor_dropped);
  visit("impossible_times", ledger.impossible_times);
  visit("markers_dropped", ledger.markers_dropped);
  visit("markers_unclosed", ledger.markers_unclosed);
  visit("markers_unmatched", ledger.markers_unmatched);
}

template <typename L, typename Visit>
void for_each_count(L& ledger, Visit visit) {
  visit("scopes_dropped", ledger.scopes_dropped);
  visit("scopes_unclosed", ledger.scopes_unclosed);
  visit("names_overflowed", ledger.names_overflowed);
  visit("samples_taken", ledger.samples_taken);
  visit("samples_missed", ledger.samples_missed);
  visit("samplers_stuck", ledger.samplers_stuck);
  visit("rounds_lost", ledger.rounds_lost);
  visit("events_dropped", ledger.events_dropped);
  visit("counters_overflowed", ledger.counters_overflowed);
  visit("raw_bytes", ledger.writer.raw_bytes);
  visit("sealed_bytes", ledger.writer.sealed_bytes);
  visit("windows_sealed", ledger.writer.windows_sealed);
  visit("windows_deleted", ledger.writer.windows_deleted);
  visit("rows_deleted", ledger.writer.rows_deleted);
  visit("dictionary_overflows", ledger.writer.dictionary_overflows);
}

}  // namespace

bool Ledger::is_complete() const {
  // A missed sampler tick is a reading that was never taken: told, but nothing recorded was lost.
  uint64_t losses = scopes_dropped + names_overflowed + counters_overflowed + samplers_stuck +
                    rounds_lost + events_dropped + writer.windows_deleted +
                    writer.dictionary_overflows + vendor_dropped.value_or(0) +
                    impossible_times.value_or(0) + markers_dropped.value_or(0);
  for (const auto& [reason, rows] : writer.dropped) losses += rows;
  const uint64_t of_graphs = graph_kernel_records.value_or(0);
  if (launches_seen && kernel_records && *launches_seen + of_graphs > *kernel_records) ++losses;
  return losses == 0;
}

Json Ledger::to_json() const {
  Json line = Json::object();
  for_each_optional(*this, [&](std::string_view name, const std::optional<uint64_t>& value) {
    if (value) line.set(name, *value);
  });
  for_each_count(*this, [&](std::string_view name, uint64_t value) { line.set(name, value); });
  line.set("collector_cpu_ns", collector_cpu_ns);
  line.set("rows", counts_to_json(writer.rows));
  line.set("dropped", counts_to_json(writer.dropped));
  return line;
}

Ledger Ledger::from_json(const Json& line) {
  Ledger ledger;
  for_each_optional(ledger, [&](std::string_view name, std::optional<uint64_t>& value) {
    value = known(line[name]);
  });
  for_each_count(ledger, [&](std::string_view name, uint64_t& value) {
    const std::optional<uint64_t> count = known(line[name]);
    if (count) {
      value = *count;
    } else {
      ledger.unknown.emplace(name);
    }
  });
  ledger.collector_cpu_ns = line["collector_cpu_ns"].as_integer();
  ledger.writer.rows = counts_from_json(line["rows"]);
  ledger.writer.dropped = counts_from_json(line["dropped"]);
  return ledger;
}

}  // namespace gpufl::format
