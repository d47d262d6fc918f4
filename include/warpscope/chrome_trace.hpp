// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <warpscope/decode.hpp>
#include <warpscope/drawing.hpp>
#include <warpscope/names.hpp>
#include <warpscope/output_file.hpp>
#include <warpscope/trace.hpp>

// A trace as Chrome's JSON, for chrome://tracing and ui.perfetto.dev: a process for each block, a
// thread for each group. Spans of a group that overlap without nesting, of which such viewers would
// hide one, get further threads of the same name.
namespace ws {
namespace detail {

class ChromeWriter {
 public:
  ChromeWriter(const Trace& trace, const std::vector<std::string>& event_names,
               const std::vector<std::string>& group_names, const std::string& path)
      : trace_(trace), event_names_(event_names), group_names_(group_names), file_(path) {}

  bool write() {
    if (!file_.is_open()) return false;
    const Drawing drawing = draw(trace_);
    file_.write("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    for (const DrawnLane& lane : drawing.lanes)
      groups_ = std::max(groups_, lane.group + uint64_t{1});
    for (const DrawnLane& lane : drawing.lanes) name_lane(lane);
    for (const DrawnSpan& drawn : drawing.spans) write_span(drawn);
    for (const Instant& instant : trace_.instants) write_instant(instant);
    file_.write("\n]}\n");
    return file_.close();
  }

 private:
  // A row above the first one is a thread whose number no group has.
  uint64_t thread(uint32_t group, uint32_t row) const { return group + row * groups_; }

  void begin(const char* phase, uint32_t block, uint64_t thread_id) {
    line_.assign(is_first_ ? "\n" : ",\n");
    is_first_ = false;
    line_ += "{\"ph\":\"";
    line_ += phase;
    line_ += "\",\"pid\":" + std::to_string(block) + ",\"tid\":" + std::to_string(thread_id);
  }
  void name(const std::string& text) {
    line_ += ",\"name\":";
    append_json_string(line_, text);
  }
  // Microseconds, exact to the nanosecond.
  void time(const char* key, uint64_t ns) {
    const std::string rest = std::to_string(1000 + ns % 1000);
    line_ += key + std::to_string(ns / 1000) + '.' + rest.substr(1);
  }
  void argument(const char* key, const std::string& json) {
    line_ += has_arguments_ ? "," : ",\"args\":{";
    has_arguments_ = true;
    append_json_string(line_, key);
    line_ += ':' + json;
  }
  void finish() {
    line_ += has_arguments_ ? "}}" : "}";
    has_arguments_ = false;
    file_.write(line_);
  }

  void metadata(const char* kind, uint32_t block, uint64_t thread_id, const char* key,
                const std::string& json) {
    begin("M", block, thread_id);
    name(kind);
    argument(key, json);
    finish();
  }

  void name_lane(const DrawnLane& lane) {
    std::string block = "block " + std::to_string(lane.block);
    if (lane.sm != kUnknownSm) block += " (SM " + std::to_string(lane.sm) + ')';
    if (lane.block != named_block_)
      metadata("process_name", lane.block, lane.group, "name", quoted(block));
    named_block_ = lane.block;
    const std::string group = name_of(group_names_, lane.group, trace_.names.group(lane.group));
    for (uint32_t row = 0; row < lane.rows; ++row) {
      const uint64_t id = thread(lane.group, row);
      metadata("thread_name", lane.block, id, "name", quoted(group));
      const uint64_t rank = (uint64_t{lane.group} << 20) + row;
      metadata("thread_sort_index", lane.block, id, "sort_index", std::to_string(rank));
    }
  }

  void write_span(const DrawnSpan& drawn) {
    const Span& span = *drawn.span;
    begin("X", span.block, thread(span.group, drawn.row));
    name(name_of(event_names_, span.event_id, trace_.names.event(span.event_id)));
    time(",\"ts\":", drawn.begin());
    time(",\"dur\":", span.duration());
    if (span.has_payload()) argument("payload", std::to_string(span.payload));
    if (span.has_end_payload()) argument("end_payload", std::to_string(span.end_payload));
    if (span.has_token()) argument("token", std::to_string(span.token));
    if (span.cycles != 0) argument("cycles", std::to_string(span.cycles));
    if (span.ending != Ending::Complete) argument("ending", quoted(ending_name(span.ending)));
    finish();
  }

  void write_instant(const Instant& instant) {
    begin("i", instant.block, instant.group);
    name(name_of(event_names_, instant.event_id, trace_.names.event(instant.event_id)));
    time(",\"ts\":", instant.time());
    line_ += ",\"s\":\"t\"";
    if (instant.has_payload()) argument("payload", std::to_string(instant.payload));
    if (instant.has_token()) argument("token", std::to_string(instant.token));
    finish();
  }

  static std::string quoted(const std::string& text) {
    std::string json;
    append_json_string(json, text);
    return json;
  }

  const Trace& trace_;
  const std::vector<std::string>& event_names_;
  const std::vector<std::string>& group_names_;
  OutputFile file_;
  std::string line_;
  bool is_first_ = true, has_arguments_ = false;
  uint64_t named_block_ = ~uint64_t{0};
  uint64_t groups_ = 1;
};

}  // namespace detail

// Names are indexed by id; where one is missing, the side block's is used. False: the file could
// not be written.
inline bool write_chrome_trace(const Trace& trace, const std::vector<std::string>& event_names,
                               const std::vector<std::string>& group_names,
                               const std::string& path) {
  return detail::ChromeWriter(trace, event_names, group_names, path).write();
}
inline bool write_chrome_trace(const uint64_t* words, size_t n,
                               const std::vector<std::string>& event_names,
                               const std::vector<std::string>& group_names,
                               const std::string& path) {
  return write_chrome_trace(decode(words, n), event_names, group_names, path);
}
inline bool write_chrome_trace(const Trace& trace, const std::string& path) {
  return write_chrome_trace(trace, {}, {}, path);
}

}  // namespace ws
