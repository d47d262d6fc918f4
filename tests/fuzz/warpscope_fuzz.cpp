// SPDX-License-Identifier: Apache-2.0
// Bytes that nobody meant to be a capture, given to everything of warpscope's host headers that
// reads one. The first byte: bits 2..0 the dialect, bit 3 a v1 region alone, bit 4 also writes the
// traces, bit 5 a cap on the records of a lane, bits 7..6 the number of groups. The rest are the
// words. What comes out has to agree with itself, and a dialect with its conversion.
#include <warpscope_host.hpp>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <vector>

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void check(const ws::Trace& trace) {
  for (const auto* spans : {&trace.spans, &trace.unmatched}) {
    for (const ws::Span& span : *spans) {
      require(span.block < trace.num_blocks && span.group < trace.num_groups);
      require(span.begin() == span.start_ns && span.duration() == span.duration_ns);
      require((span.ending == ws::Ending::Complete) == (spans == &trace.spans));
      const ws::Lane* const lane = trace.lane(span.block, span.group);
      require(lane != nullptr && lane->sm == span.sm);
    }
  }
  uint64_t records = 0, kept = 2 * trace.spans.size() + trace.unmatched.size();
  for (const ws::Lane& lane : trace.lanes) records += lane.records;
  require(records == kept + trace.instants.size());
  std::set<ws::ProblemKind> kinds;
  for (const ws::Problem& problem : trace.problems) {
    require(problem.count != 0 && !problem.text.empty() && kinds.insert(problem.kind).second);
  }
  uint64_t counted = 0;
  for (const ws::DurationStatistics& one : ws::durations_by_block(trace)) counted += one.count;
  require(counted == trace.spans.size());
  for (const ws::Flow& flow : ws::find_flows(trace)) {
    require(trace.spans[flow.producer].group != trace.spans[flow.consumer].group);
  }
  ws::Names back;
  require(ws::names_from_json(ws::names_to_json(trace.names), back));
}

void write(const ws::Trace& trace) {
  const std::string file = "/dev/null";
  require(ws::write_chrome_trace(trace, {"first"}, {}, file));
  require(ws::write_perfetto_trace(trace, {}, {"first"}, file));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  ws::DecodeOptions options;
  options.dialect = static_cast<ws::Dialect>((data[0] & 7) % 5);
  options.max_records = (data[0] & 32) != 0 ? 3 : 0;
  options.num_groups = data[0] >> 6;
  std::vector<uint64_t> words((size - 1) / 8);
  if (!words.empty()) std::memcpy(words.data(), data + 1, words.size() * 8);
  const bool is_region = (data[0] & 8) != 0;
  const ws::Trace trace =
      is_region ? ws::decode(words, options) : ws::decode_capture(words, options);
  check(trace);
  if ((data[0] & 16) != 0) write(trace);
  if (options.dialect != ws::Dialect::V1) {
    const ws::Trace converted = ws::decode(ws::convert(words, options.dialect));
    uint64_t records = 0, records_of_v1 = 0;
    for (const ws::Lane& lane : trace.lanes) records += lane.records;
    for (const ws::Lane& lane : converted.lanes) records_of_v1 += lane.records;
    require(records == records_of_v1);
  }
  return 0;
}
