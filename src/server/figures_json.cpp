// SPDX-License-Identifier: Apache-2.0
#include "server/figures_json.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "analysis/math/rate.hpp"
#include "analysis/math/stats_json.hpp"
#include "format/limits.hpp"
#include "format/work_words.hpp"
#include "server/index_answer.hpp"
#include "server/timeline_json.hpp"
#include "workbench/session_facts.hpp"

namespace gpufl::server {
namespace {

using base::Json;
using index::DurationStats;
using index::IndexedSession;
using index::Names;
using index::TrackKind;

double share_of(int64_t part, int64_t all) {
  return all == 0 ? 0.0 : static_cast<double>(part) / static_cast<double>(all);
}

struct Group {
  uint32_t name = 0;
  DurationStats time;
};

// Most time first.
struct Groups {
  std::vector<Group> list;
  uint64_t count = 0;
  int64_t total_ns = 0;

  void add(uint32_t name, const DurationStats& time) {
    if (time.stats.count == 0) return;
    count += time.stats.count;
    total_ns += time.stats.total;
    list.push_back({name, time});
  }
  void sort() {
    std::sort(list.begin(), list.end(), [](const Group& a, const Group& b) {
      return std::pair(b.time.stats.total, a.name) < std::pair(a.time.stats.total, b.name);
    });
  }
};

// Those whose names are their own.
Groups groups_of(const IndexedSession& session, TrackKind kind) {
  Groups groups;
  for (const uint32_t name : session.durations().names(kind)) {
    groups.add(name, session.durations().of(kind, std::span(&name, 1)));
  }
  groups.sort();
  return groups;
}

Json time_json(const DurationStats& time, Json json, std::string_view member = "duration_ns") {
  json.set(member, analysis::to_json(time.stats));
  return json.set("relative_error", time.relative_error);
}

std::string lists_json(const IndexedSession& session, const Groups& groups, const Json& by_name) {
  std::string out = begin_answer(session);
  append_member(out, "count", groups.count);
  append_member(out, "total_ns", groups.total_ns);
  append_member(out, "names", static_cast<uint64_t>(groups.list.size()));
  append_member(out, "by_name", by_name);
  return out;
}

Json open_scopes_json(const IndexedSession& session, const Names& names, size_t most) {
  const index::WindowSource* last = nullptr;
  for (const auto& window : session.windows) {
    if (window->file().channel == format::Channel::Scope) last = window.get();
  }
  Json open = Json::array();
  if (last == nullptr) return open;
  for (const auto& [id, scope] : last->index().after.open_scopes) {
    if (open.items().size() == most) break;
    Json json = Json::object();
    json.set("label", names.text(format::Dict::Name, scope.name));
    json.set("start_ns", scope.start).set("thread", scope.thread);
    open.push(json.set("depth", uint64_t{scope.depth}));
  }
  return open;
}

// What the sizes of copies or fills add up to.
Json sized_json(const index::SizeSum& sizes, uint64_t count, Json json) {
  const bool is_known = sizes.count > 0 || count == 0;
  Json bytes = Json::object();
  bytes.set("count", sizes.count).set("total", sizes.bytes);
  json.set("bytes", is_known ? std::move(bytes) : Json());
  const double rate =
      analysis::per_second(static_cast<double>(sizes.bytes), static_cast<double>(sizes.busy_ns));
  return json.set("bytes_per_second", is_known ? Json(rate) : Json());
}

using SizesByName = std::map<std::pair<TrackKind, uint32_t>, index::SizeSum>;

SizesByName all_sizes(const IndexedSession& session) {
  SizesByName all;
  for (const auto& window : session.windows) {
    for (const auto& [of, sum] : window->index().sizes) all[of].add(sum);
  }
  return all;
}

// All of a kind together, as the report's `all` and `fills`.
Json transfers_json(const IndexedSession& session, TrackKind kind, const SizesByName& sizes) {
  const std::vector<uint32_t> all = session.durations().names(kind);
  index::SizeSum sum;
  for (const auto& [of, part] : sizes) {
    if (of.first == kind) sum.add(part);
  }
  const DurationStats time = session.durations().of(kind, all);
  return sized_json(sum, time.stats.count, time_json(time, Json::object()));
}

struct Reading {
  uint64_t count = 0;
  double min = std::numeric_limits<double>::infinity(), max = -min, last = 0, sum = 0;
};

// Whole, as metrics are.
Json whole(double value) {
  constexpr double kMost = 9'223'372'036'854'774'784;  // that an int64_t has, too
  return static_cast<int64_t>(std::clamp(value, -kMost, kMost));
}

// What the few lines that say so have of a session as a whole.
base::Result<Json> facts_of(const IndexedSession& session) {
  workbench::FactsReader reader;
  workbench::SessionFacts facts{session.header, session.dir,   session.is_live, 0, {},
                                session.files,  session.faults};
  for (const auto& window : session.windows) {
    const index::WindowIndex& index = window->index();
    facts.last_ns = std::max(facts.last_ns, index.last_row_ns);
    for (const auto& [kind, rows] : index.rows) facts.rows[kind] += rows;
    for (const std::string& text : index.objects.texts) reader.add_object(text);
    std::vector<size_t> batches;
    for (size_t i = 0; i < index.batches.size(); ++i) {
      if (index.batches[i].kind == format::Kind::Coverage) batches.push_back(i);
    }
    if (batches.empty()) continue;
    format::Dictionaries dictionaries;
    base::Status status = window->read_dictionaries([&](std::string_view text) {
      const auto line = Json::parse(text, format::kMaxObjectLineBytes);
      if (line) (void)dictionaries.define(*line);
      return true;
    });
    if (!status) return status;
    status = window->read(batches, [&](const index::IndexedBatch&, const format::Batch& batch) {
      reader.add_coverage(batch, dictionaries);
      return true;
    });
    if (!status) return status;
  }
  return reader.finish(facts);
}

uint64_t objects_left_out(const IndexedSession& session) {
  uint64_t left_out = 0;
  for (const auto& window : session.windows) left_out += window->index().objects.left_out;
  return left_out;
}

}  // namespace

std::string kernels_json(const IndexedSession& session, const Names& names, size_t most) {
  Groups kernels;
  for (const auto& [name, configs] :
       names.by_kernel(session.durations().names(TrackKind::Kernels))) {
    kernels.add(name, session.durations().of(TrackKind::Kernels, configs));
  }
  kernels.sort();
  Json list = Json::array();
  for (size_t i = 0; i < std::min(most, kernels.list.size()); ++i) {
    const Group& kernel = kernels.list[i];
    const index::NameEntry label = names.label(TrackKind::Kernels, kernel.name);
    Json json = Json::object();
    json.set("label", label.short_text).set("full_name", label.text);
    json.set("class", analysis::to_string(label.kernel_class));
    json.set("share", share_of(kernel.time.stats.total, kernels.total_ns));
    list.push(time_json(kernel.time, std::move(json)));
  }
  return end_answer(lists_json(session, kernels, list));
}

std::string scopes_json(const IndexedSession& session, const Names& names, size_t most) {
  const Groups scopes = groups_of(session, TrackKind::Scopes);
  Json list = Json::array();
  for (size_t i = 0; i < std::min(most, scopes.list.size()); ++i) {
    Json json = Json::object();
    json.set("label", names.label(TrackKind::Scopes, scopes.list[i].name).text);
    list.push(time_json(scopes.list[i].time, std::move(json)));
  }
  std::string out = lists_json(session, scopes, list);
  append_member(out, "open", open_scopes_json(session, names, most));
  return end_answer(std::move(out));
}

std::string waits_json(const IndexedSession& session) {
  std::map<std::string_view, std::vector<uint32_t>> kinds_by_call;
  for (const uint32_t kind : session.durations().names(TrackKind::Waits)) {
    if (format::holds_host(kind)) kinds_by_call[format::wait_call_name(kind)].push_back(kind);
  }
  Groups waits;
  for (const auto& [call, kinds] : kinds_by_call) {
    waits.add(kinds.front(), session.durations().of(TrackKind::Waits, kinds));
  }
  waits.sort();
  Json list = Json::array();
  for (const Group& wait : waits.list) {
    Json json = Json::object();
    json.set("call", format::wait_call_name(wait.name));
    list.push(time_json(wait.time, std::move(json), "blocked_ns"));
  }
  std::string out = begin_answer(session);
  append_member(out, "count", waits.count);
  append_member(out, "total_ns", waits.total_ns);
  append_member(out, "by_call", list);
  return end_answer(std::move(out));
}

std::string copies_json(const IndexedSession& session, const Names& names) {
  const SizesByName sizes = all_sizes(session);
  std::map<std::string, std::vector<uint32_t>> routes_by_label;
  for (const uint32_t route : session.durations().names(TrackKind::Copies)) {
    routes_by_label[names.label(TrackKind::Copies, route).text].push_back(route);
  }
  Groups copies;
  for (const auto& [label, routes] : routes_by_label) {
    copies.add(routes.front(), session.durations().of(TrackKind::Copies, routes));
  }
  copies.sort();
  Json list = Json::array();
  for (const Group& copy : copies.list) {
    const std::string label = names.label(TrackKind::Copies, copy.name).text;
    index::SizeSum sum;
    for (const uint32_t route : routes_by_label[label]) {
      const auto found = sizes.find({TrackKind::Copies, route});
      if (found != sizes.end()) sum.add(found->second);
    }
    Json json = Json::object();
    json.set("label", label);
    json.set("share", share_of(copy.time.stats.total, copies.total_ns));
    list.push(sized_json(sum, copy.time.stats.count, time_json(copy.time, std::move(json))));
  }
  Json all = Json::object();
  all.set("all", transfers_json(session, TrackKind::Copies, sizes));
  all.set("by_direction", std::move(list));
  std::string out = begin_answer(session);
  append_member(out, "copies", all);
  append_member(out, "fills", transfers_json(session, TrackKind::Fills, sizes));
  return end_answer(std::move(out));
}

base::Result<std::string> health_json(const IndexedSession& session, const Names& names) {
  std::map<index::SeriesKey, Reading> readings;
  for (const auto& window : session.windows) {
    for (const auto& [key, series] : window->index().series.all()) {
      if (key.kind == format::Kind::PmSample) continue;  // figures of the whole session have them
      Reading& reading = readings[key];
      for (const index::ValueBucket& bucket : series.buckets) {
        reading.count += bucket.count;
        reading.min = std::min(reading.min, bucket.min);
        reading.max = std::max(reading.max, bucket.max);
        reading.sum += bucket.sum;
        reading.last = bucket.last;
      }
    }
  }
  Json metrics = Json::array();
  for (const auto& [key, reading] : readings) {
    if (reading.count == 0) continue;
    Json values = Json::object();
    values.set("count", reading.count);
    values.set("min", whole(reading.min)).set("max", whole(reading.max));
    values.set("mean", reading.sum / static_cast<double>(reading.count));
    Json json = Json::object();
    json.set("id", series_id(key)).set("kind", format::spec(key.kind).name);
    json.set("device", key.device < 0 ? Json() : Json(key.device));
    json.set("metric", metric_name(key, names)).set("index", key.index);
    metrics.push(json.set("values", std::move(values)).set("last", whole(reading.last)));
  }
  const auto facts = facts_of(session);
  if (!facts) return facts.status();
  std::string out = begin_answer(session);
  for (const char* member : {"devices", "events", "event_counts"}) {
    append_member(out, member, (*facts)[member]);
  }
  append_member(out, "events_left_out", objects_left_out(session));
  append_member(out, "metrics", metrics);
  return end_answer(std::move(out));
}

base::Result<std::string> ledger_json(const IndexedSession& session) {
  const auto facts = facts_of(session);
  if (!facts) return facts.status();
  std::string out = begin_answer(session);
  for (const char* member : {"session", "capabilities", "ledger"}) {
    append_member(out, member, (*facts)[member]);
  }
  return end_answer(std::move(out));
}

}  // namespace gpufl::server
