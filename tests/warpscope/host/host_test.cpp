// SPDX-License-Identifier: Apache-2.0
// What the host headers offer beyond decoding, and that programs written for wire format v1's
// published package compile against them.
#include <gtest/gtest.h>
#include <warpscope/measured.hpp>
#include <warpscope_host.hpp>

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace {

using gpufl::base::Json;

uint64_t record(uint32_t type, uint32_t lane, uint32_t event, uint32_t time) {
  return (uint64_t{time} << 32) | (lane << 12) | (event << 2) | type;
}

// Two blocks of two groups; in group 1 of block 0 two spans overlap without nesting.
std::vector<uint64_t> sample() {
  const uint64_t header = 2 | (uint64_t{2} << 32);
  return {header,
          record(0, 0, 0, 1000),
          record(0, 1, 1, 1100),
          record(0, 2, 0, 1050),
          0,
          record(1, 0, 0, 1500),
          record(0, 1, 2, 1200),
          record(1, 2, 0, 1150),
          0,
          record(3, 0, 0, 1600),
          record(1, 1, 1, 1300),
          record(2, 2, 4, 1160),
          0,
          0,
          record(1, 1, 2, 1400),
          record(0, 2, 3, 1170),
          0,
          0,
          record(3, 1, 0, 1500),
          record(3, 2, 0, 1180),
          0};
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Json read_chrome(const ws::Trace& trace, const std::vector<std::string>& events,
                 const std::vector<std::string>& groups) {
  const std::string path = testing::TempDir() + "warpscope_chrome.json";
  EXPECT_TRUE(ws::write_chrome_trace(trace, events, groups, path));
  const auto json = Json::parse(read_text(path));
  std::remove(path.c_str());
  EXPECT_TRUE(json.is_ok());
  return json ? (*json)["traceEvents"] : Json::array();
}

const Json* event_named(const Json& events, const std::string& name) {
  for (const Json& event : events.items()) {
    if (event["name"].as_string() == name) return &event;
  }
  return nullptr;
}

TEST(PublishedNames, CompileAndWork) {
  const ws::Span span{1, 2, 3, 4, 5};
  const ws::Instant instant{1, 2, 3, 4};
  ws::Trace trace{2, 3, {span}, {instant}};
  const uint32_t fields[] = {span.block, span.group, span.event_id, span.begin_ns, span.dur_ns};
  EXPECT_EQ(fields[4], 5U);
  EXPECT_EQ(trace.instants[0].ts_ns, 4U);

  const std::vector<uint64_t> h = sample();
  EXPECT_EQ(ws::decode(h).spans.size(), 4U);
  EXPECT_EQ(ws::decode(h.data(), h.size()).num_groups, 2U);
  const std::string path = testing::TempDir() + "warpscope_published.json";
  ws::write_chrome_trace(h.data(), h.size(), {"wait", "work"}, {"tma", "umma"}, path);
  ws::write_chrome_trace(trace, {"wait", "work"}, {"tma", "umma"}, path);
  EXPECT_TRUE(Json::parse(read_text(path)).is_ok());
  std::remove(path.c_str());
}

// A program may fill or move the 32-bit members alone.
TEST(PublishedNames, WritersHeedTheOldMembers) {
  ws::Trace trace = ws::decode(sample());
  for (ws::Span& span : trace.spans) span.begin_ns += 7000;
  trace.spans[0].dur_ns = 1;
  EXPECT_EQ(trace.spans[0].begin(), 7000U);
  EXPECT_EQ(trace.spans[0].duration(), 1U);
  EXPECT_EQ(trace.spans[1].duration(), 200U);
}

TEST(Statistics, OfDurations) {
  ws::Trace trace;
  for (uint32_t i = 1; i <= 10; ++i) trace.spans.push_back({0, 1, 2, 0, i * 10, 0, 0, i * 10});
  trace.spans.push_back({1, 1, 2, 0, 1000, 0, 0, 1000});
  trace.unmatched.push_back({0, 1, 2, 0, 5000, 0, 0, 5000});
  const auto by_block = ws::durations_by_block(trace);
  ASSERT_EQ(by_block.size(), 2U);
  EXPECT_EQ(by_block[0].count, 10U);
  EXPECT_EQ(by_block[0].total_ns, 550U);
  EXPECT_DOUBLE_EQ(by_block[0].mean_ns, 55);
  EXPECT_DOUBLE_EQ(by_block[0].median_ns, 55);
  EXPECT_DOUBLE_EQ(by_block[0].p90_ns, 91);
  EXPECT_DOUBLE_EQ(by_block[0].p99_ns, 99.1);
  EXPECT_EQ(by_block[0].min_ns, 10U);
  EXPECT_EQ(by_block[0].max_ns, 100U);
  EXPECT_EQ(by_block[1].block, 1U);
  const auto by_group = ws::durations_by_group(trace);
  ASSERT_EQ(by_group.size(), 1U);
  EXPECT_EQ(by_group[0].count, 11U);
  EXPECT_EQ(by_group[0].event_id, 2U);
  EXPECT_DOUBLE_EQ(by_group[0].median_ns, 60);
}

TEST(Statistics, PrintedWithNamesAndProblems) {
  testing::internal::CaptureStdout();
  ws::print_durations(ws::decode(sample()), {"wait", "work"});
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("wait"), std::string::npos);
  EXPECT_NE(text.find("event_2"), std::string::npos);
  EXPECT_NE(text.find("1 begins have no end (first in lane 2)"), std::string::npos);
}

TEST(Statistics, NamesDoNothingToATerminal) {
  testing::internal::CaptureStdout();
  ws::print_durations(ws::decode(sample()),
                      {"a\x1b[31mred\n", "gr\xc3\xb6\xc3\x9f\xc2\x9b \xe2\x80\xae \xff"});
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_NE(text.find("a\\x1b[31mred\\x0a"), std::string::npos) << text;
  EXPECT_NE(text.find("gr\xc3\xb6\xc3\x9f\\x9b \\u202e \xef\xbf\xbd"), std::string::npos) << text;
}

TEST(ChromeTrace, ShowsEverySpan) {
  const Json events = read_chrome(ws::decode(sample()), {"wait", "work \"1\"\n"}, {"tma", "math"});
  const Json* const wait = event_named(events, "wait");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ((*wait)["ph"].as_string(), "X");
  EXPECT_DOUBLE_EQ((*wait)["ts"].as_number(), 0);
  EXPECT_DOUBLE_EQ((*wait)["dur"].as_number(), 0.5);
  const Json* const first = event_named(events, "work \"1\"\n");
  const Json* const second = event_named(events, "event_2");
  ASSERT_TRUE(first != nullptr && second != nullptr);
  EXPECT_EQ((*first)["pid"].as_integer(), 0);
  EXPECT_EQ((*first)["tid"].as_integer(), 1);
  // 1200 to 1400 crosses 1100 to 1300: another thread, of the same name.
  EXPECT_EQ((*second)["pid"].as_integer(), 0);
  EXPECT_EQ((*second)["tid"].as_integer(), 3);
  EXPECT_DOUBLE_EQ((*second)["ts"].as_number(), 0.2);
  int named_math = 0;
  for (const Json& event : events.items()) {
    if (event["name"].as_string() != "thread_name") continue;
    named_math += event["args"]["name"].as_string() == "math" && event["pid"].as_integer() == 0;
  }
  EXPECT_EQ(named_math, 2);
  const Json* const instant = event_named(events, "event_4");
  ASSERT_NE(instant, nullptr);
  EXPECT_EQ((*instant)["ph"].as_string(), "i");
  EXPECT_EQ((*instant)["pid"].as_integer(), 1);
  const Json* const open = event_named(events, "event_3");
  ASSERT_NE(open, nullptr);
  EXPECT_EQ((*open)["args"]["ending"].as_string(), "no_end");
  EXPECT_DOUBLE_EQ((*open)["dur"].as_number(), 0.01);
}

TEST(ChromeTrace, SaysWhenItCannotWrite) {
  EXPECT_FALSE(ws::write_chrome_trace(ws::Trace(), "/nowhere/trace.json"));
  EXPECT_FALSE(ws::write_perfetto_trace(ws::Trace(), "/nowhere/trace.pftrace"));
  EXPECT_FALSE(ws::write_chrome_trace(ws::decode(sample()), "/dev/full"));
}

TEST(Names, SurviveJson) {
  ws::Names names;
  names.kernel = "gemm<\"a\\b\">\n\xcf\x80";
  names.events = {{0, "wait"}, {1023, ""}};
  names.groups = {{3, "epilogue"}};
  names.waits = {0, 7};
  names.flows = {{1, 0}, {2, 3}};
  ws::Names back;
  ASSERT_TRUE(ws::names_from_json(ws::names_to_json(names), back));
  EXPECT_EQ(back.kernel, names.kernel);
  EXPECT_EQ(back.events, names.events);
  EXPECT_EQ(back.groups, names.groups);
  EXPECT_EQ(back.waits, names.waits);
  EXPECT_EQ(back.flows, names.flows);
  EXPECT_EQ(back.event(5), "event_5");
  EXPECT_EQ(back.group(3), "epilogue");
}

TEST(Names, TakeWhatOthersWrite) {
  ws::Names names;
  EXPECT_TRUE(ws::names_from_json(
      R"( { "later" : {"x":[1,-2.5e3,null,{"y":"]"}]}, "events": {"2": "\u00e9\ud83d\ude00\/\t"} } )",
      names));
  EXPECT_EQ(names.event(2), "\xc3\xa9\xf0\x9f\x98\x80/\t");
  const std::string deep(100, '[');
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{"), std::string(R"({"events":{"x":"y"}})"),
        std::string(R"({"events":{"0":1}})"), std::string(R"({"waits":[4294967296]})"),
        std::string(R"({"kernel":"\ud800"})"), std::string(R"({} {})"), "{\"later\":" + deep}) {
    EXPECT_FALSE(ws::names_from_json(bad, names)) << bad;
  }
}

TEST(Capture, IsWhatTheDecoderReads) {
  ws::CaptureLayout layout;
  layout.num_blocks = 3;
  layout.num_groups = 2;
  layout.max_records = 8;
  layout.placement = ws::CaptureLayout::Placement::Lanes;
  layout.policy = ws::CaptureLayout::Policy::Both;
  layout.extension = true;
  layout.launch_id = 77;
  layout.first_block = 1;
  layout.every_tile = 4;
  layout.event_cost_ps = 17'700;
  ws::Names names;
  names.events[0] = "wait";
  const std::vector<uint64_t> words = ws::make_capture(layout, names);
  EXPECT_EQ(layout.num_slots(), 2U + 6 * 8);
  // Side block: header 16, six lanes of 8, 23 bytes of names, a word so that what follows is
  // aligned.
  EXPECT_EQ(words.size(), 2 * layout.num_slots() + 16 + 48 + 3 + 1);
  const ws::Trace trace = ws::decode_capture(words);
  EXPECT_TRUE(trace.problems.empty());
  EXPECT_TRUE(trace.has_side_block);
  EXPECT_EQ(trace.num_blocks, 3U);
  EXPECT_EQ(trace.layout.placement, layout.placement);
  EXPECT_EQ(trace.layout.policy, layout.policy);
  EXPECT_TRUE(trace.layout.extension);
  EXPECT_EQ(trace.layout.launch_id, 77U);
  EXPECT_EQ(trace.layout.first_block, 1U);
  EXPECT_EQ(trace.layout.every_tile, 4U);
  EXPECT_EQ(trace.layout.event_cost_ps, 17'700U);
  EXPECT_EQ(trace.names.event(0), "wait");
}

TEST(Capture, RefusesImpossibleLayouts) {
  ws::CaptureLayout layout;
  EXPECT_TRUE(ws::make_capture(layout).empty());
  layout.num_blocks = 1 << 20;
  layout.num_groups = 2;
  layout.max_records = 4;
  EXPECT_TRUE(ws::make_capture(layout).empty());
}

TEST(Measured, IsTheMiddleAndWhatItLiesBetween) {
  const ws::Measured none = ws::summarize({});
  EXPECT_EQ(none.median, 0);
  // Few measurements tell no more than all of them.
  const ws::Measured few = ws::summarize({3, 1, 2, 4});
  EXPECT_EQ(few.median, 2.5);
  EXPECT_EQ(few.low, 1);
  EXPECT_EQ(few.high, 4);
  // Of 25 the 8th to the 18th: wild ones at both ends move nothing.
  std::vector<double> many;
  for (int i = 0; i < 21; ++i) many.push_back(100 + i);
  many.insert(many.end(), {-1e9, 0, 1e9, 2e9});
  const ws::Measured one = ws::summarize(many);
  EXPECT_EQ(one.median, 110);
  EXPECT_EQ(one.low, 105);
  EXPECT_EQ(one.high, 115);
}

TEST(Convert, MakesV1OfADialect) {
  // SM 5, block 1, event 1, begin; one group: the block is the lane.
  const uint64_t header = 2 | (uint64_t{1} << 32);
  const std::vector<uint64_t> words = {header, 0, 0x0000006405001004};
  EXPECT_EQ(ws::convert(words, ws::Dialect::Flashinfer202507),
            (std::vector<uint64_t>{header, 0, record(0, 1, 1, 100)}));
  EXPECT_EQ(ws::convert(words, ws::Dialect::V1), words);
  EXPECT_TRUE(ws::convert({}, ws::Dialect::MiragePersistent).empty());
  for (const char* name : {"v1", "flashinfer-2025-03", "flashinfer-2025-07", "mirage-transpiler",
                           "mirage-persistent"}) {
    ASSERT_TRUE(ws::dialect_named(name));
    EXPECT_STREQ(ws::dialect_name(*ws::dialect_named(name)), name);
  }
  EXPECT_FALSE(ws::dialect_named("v2"));
}

ws::Span span(uint32_t group, uint32_t event, uint64_t begin, uint64_t end, uint32_t payload) {
  ws::Span made{0, group, event, static_cast<uint32_t>(begin), static_cast<uint32_t>(end - begin)};
  made.start_ns = begin;
  made.duration_ns = end - begin;
  made.payload = payload;
  made.flags = ws::kHasPayload;
  return made;
}

// Producers and consumers of the flow from event 1 to event 0, by their indices.
std::vector<std::pair<size_t, size_t>> flows_of(const std::vector<ws::Span>& spans) {
  ws::Trace trace;
  trace.names.flows = {{1, 0}};
  trace.spans = spans;
  std::vector<std::pair<size_t, size_t>> found;
  for (const ws::Flow& flow : ws::find_flows(trace)) {
    found.emplace_back(flow.producer, flow.consumer);
  }
  return found;
}

// Stage 0 is produced twice with the same phase bit; the group that waits is released by the
// newest.
TEST(Flows, LeadFromTheProducerThatEndedTheWait) {
  const auto found =
      flows_of({span(0, 1, 100, 200, 0), span(0, 1, 200, 300, 1), span(0, 1, 500, 600, 0),
                span(1, 0, 50, 210, 0), span(1, 0, 210, 310, 1), span(1, 0, 550, 610, 0),
                span(2, 0, 50, 620, 0), span(1, 0, 700, 710, 0), span(0, 0, 700, 800, 0)});
  // Span 7 waits for a production that group 1 already had, span 8 would wait for its own group.
  EXPECT_EQ(found, (std::vector<std::pair<size_t, size_t>>{{0, 3}, {1, 4}, {2, 5}, {2, 6}}));
}

// The same stage and phase come again after 2 rounds of 1,000. Spans are in no order.
TEST(Flows, LeadToAWaitThatSeemsToEndTwoTicksEarlier) {
  using Found = std::vector<std::pair<size_t, size_t>>;
  for (const uint64_t early : {0, 32, 64}) {
    EXPECT_EQ(flows_of({span(0, 1, 2'500, 3'000, 7), span(1, 0, 2'100, 3'000 - early, 7),
                        span(1, 0, 100, 1'000 - early, 7), span(0, 1, 500, 1'000, 7)}),
              (Found{{3, 2}, {0, 1}}))
        << early;
  }
}

// What ended before the wait before did is that one's, whichever of two producers ended it.
TEST(Flows, DoNotLeadFromAnEarlierRound) {
  using Found = std::vector<std::pair<size_t, size_t>>;
  EXPECT_EQ(flows_of({span(0, 1, 500, 1'000, 7), span(1, 0, 100, 1'010, 7),
                      span(1, 0, 2'100, 2'900, 7), span(0, 1, 2'500, 3'000, 7)}),
            (Found{{0, 1}}));
  EXPECT_EQ(flows_of({span(0, 1, 500, 990, 7), span(2, 1, 500, 1'000, 7), span(1, 0, 100, 1'010, 7),
                      span(1, 0, 2'100, 2'200, 7)}),
            (Found{{1, 2}}));
  // A wait for something else in between changes nothing.
  EXPECT_EQ(flows_of({span(0, 1, 500, 1'000, 7), span(1, 0, 1'000, 1'500, 8),
                      span(1, 0, 1'500, 1'600, 7)}),
            (Found{{0, 2}}));
}

TEST(Dump, SaysWhatIsWrongWithTheFile) {
  const ws::Trace missing = ws::decode_file("/nowhere/dump.bin");
  ASSERT_NE(missing.problem(ws::ProblemKind::Unreadable), nullptr);
  const std::string path = testing::TempDir() + "warpscope_odd.bin";
  const std::vector<uint64_t> words = sample();
  ASSERT_TRUE(ws::write_dump(words.data(), words.size(), path));
  std::ofstream(path, std::ios::app | std::ios::binary) << "abc";
  const ws::Trace odd = ws::decode_file(path);
  std::remove(path.c_str());
  ASSERT_NE(odd.problem(ws::ProblemKind::WrongSize), nullptr);
  EXPECT_NE(odd.problem(ws::ProblemKind::WrongSize)->text.find("last 3 bytes"), std::string::npos);
  EXPECT_EQ(odd.spans.size(), 4U);
}

}  // namespace
