// SPDX-License-Identifier: Apache-2.0
// What the program says through NVTX, call by call, and the rows that it becomes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nvtx3/nvtx3.hpp>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/markers/framework_ranges.hpp"
#include "backend/nvidia/nvtx/nvtx_fixture.hpp"

namespace gpufl::backend {
namespace {

TEST_F(NvtxTest, MarksAndRangesWithPlainAndWideMessages) {
  nvtxMarkA("plain");
  nvtxMarkW(L"grün 漢字 \U0001F680");
  nvtxRangePushA("narrow");
  nvtxRangePushW(L"wéit");
  nvtxRangePop();
  nvtxRangePop();
  const nvtxRangeId_t first = nvtxRangeStartA("a");
  const nvtxRangeId_t second = nvtxRangeStartW(L"b");
  EXPECT_NE(first, second);
  nvtxRangeEnd(first);
  nvtxRangeEnd(second);
  drain();
  EXPECT_EQ(descriptions(), (Texts{"mark 'plain'", "mark 'grün 漢字 \U0001F680'", "push 'wéit'",
                                   "push 'narrow'", "start 'a'", "start 'b'"}));
  const std::vector<Marker> rows = markers();
  EXPECT_EQ(rows[0].duration_ns, 0);
  EXPECT_FALSE(rows[2].id);
  EXPECT_FALSE(rows[2].end_thread);
  EXPECT_EQ(rows[4].id, first);
  EXPECT_EQ(rows[5].id, second);
  for (const Marker& row : rows) {
    EXPECT_EQ(row.thread, gettid());
    EXPECT_FALSE(row.payload);
  }
  EXPECT_EQ(account().markers_dropped, 0U);
  EXPECT_EQ(account().markers_unclosed, 0U);
  EXPECT_EQ(account().markers_unmatched, 0U);
}

TEST_F(NvtxTest, RangesOfAFrameworkHaveTheStackThatTheyBeganOn) {
  nvtxDomainHandle_t ops = nvtxDomainCreateA("torch.op");
  nvtxDomainHandle_t others = nvtxDomainCreateA("loader");
  nvtxEventAttributes_t attributes = attributes_of("aten::add");
  nvtxRangePushA("step");
  nvtxDomainRangePushEx(ops, &attributes);
  nvtxDomainRangePushEx(others, &attributes);
  nvtxDomainRangePop(others);
  nvtxDomainRangePop(ops);
  nvtxDomainRangePushEx(ops, &attributes);
  nvtxDomainRangePop(ops);
  nvtxRangePop();
  drain();
  EXPECT_EQ(sink_.column(Kind::Marker, column::kStack), (std::vector<int64_t>{0, 1, 2, 0}));
  EXPECT_EQ(stacks_.count, 2U);
  nvtxRangePushA("no framework");
  nvtxRangePop();
  drain();
  EXPECT_EQ(sink_.column(Kind::Marker, column::kStack).back(), RecordingSink::kAbsent);
}

TEST_F(NvtxTest, WhatAFrameworkTellsTheRecorderItselfIsAsIfNvtxHadToldIt) {
  const uint16_t ops = framework_ranges::domain("torch.op");
  const uint16_t others = framework_ranges::domain("adapter");
  const uint32_t kept = framework_ranges::keep_text("aten::mul");
  EXPECT_EQ(framework_ranges::keep_text("aten::mul"), kept);
  EXPECT_EQ(framework_ranges::domain("torch.op"), ops);
  nvtxDomainHandle_t nvtx_ops = nvtxDomainCreateA("torch.op");
  EXPECT_TRUE(framework_ranges::push(
      {.domain = ops, .category = 3, .kept_text = kept, .text = "", .payload = -7}));
  EXPECT_TRUE(framework_ranges::push(
      {.domain = others, .category = 0, .kept_text = 0, .text = "by its text"}));
  framework_ranges::pop(others);
  nvtxDomainRangePop(nvtx_ops);
  drain();
  EXPECT_EQ(descriptions(), (Texts{"push 'by its text' in 'adapter'",
                                   "push 'aten::mul' in 'torch.op' category 3 payload -7e0"}));
  EXPECT_EQ(sink_.column(Kind::Marker, column::kStack),
            (std::vector<int64_t>{RecordingSink::kAbsent, 1}));
  framework_ranges::pop(ops);  // nothing is open
  finish();
  EXPECT_EQ(account().markers_unmatched, 1);
  // Another recorder may listen where this one does not.
  EXPECT_FALSE(
      framework_ranges::push({.domain = ops, .category = 1, .kept_text = kept, .text = ""}));
}

TEST_F(NvtxTest, TimesNestAsTheCallsDid) {
  const int64_t before_ns = now();
  nvtxRangePushA("outer");
  nvtxRangePushA("inner");
  nvtxRangePop();
  nvtxRangePop();
  const int64_t after_ns = now();
  drain();
  const std::vector<Marker> rows = markers();
  ASSERT_EQ(rows.size(), 2U);
  const Marker &inner = rows[0], &outer = rows[1];
  EXPECT_LE(before_ns, outer.start_ns);
  EXPECT_LE(outer.start_ns, inner.start_ns);
  EXPECT_LE(inner.start_ns + inner.duration_ns, outer.start_ns + outer.duration_ns);
  EXPECT_LE(outer.start_ns + outer.duration_ns, after_ns);
}

TEST_F(NvtxTest, PushAndPopReturnTheLevelInTheirDomain) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("levels");
  const nvtxEventAttributes_t attributes = attributes_of("x");
  EXPECT_EQ(nvtxRangePushA("0"), 0);
  EXPECT_EQ(nvtxRangePushA("1"), 1);
  EXPECT_EQ(nvtxDomainRangePushEx(domain, &attributes), 0);
  EXPECT_EQ(nvtxRangePop(), 1);
  EXPECT_EQ(nvtxDomainRangePushEx(domain, &attributes), 1);
  EXPECT_EQ(nvtxRangePop(), 0);
  EXPECT_EQ(nvtxDomainRangePop(domain), 1);
  EXPECT_EQ(nvtxDomainRangePop(domain), 0);
  drain();
  EXPECT_EQ(descriptions(),
            (Texts{"push '1'", "push '0'", "push 'x' in 'levels'", "push 'x' in 'levels'"}));
  nvtxDomainDestroy(domain);
}

TEST_F(NvtxTest, AttributesDomainsAndRegisteredStrings) {
  nvtxDomainHandle_t domain = nvtxDomainCreateW(L"Domäne");
  EXPECT_EQ(nvtxDomainCreateA("Domäne"), domain) << "one domain for a name";
  nvtxEventAttributes_t attributes = attributes_of("unused");
  attributes.category = 7;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = 0xFF112233;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "registered");
  nvtxDomainMarkEx(domain, &attributes);
  attributes.message.registered = nvtxDomainRegisterStringW(domain, L"wide ✓");
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(domain, &attributes);
  nvtxDomainRangeEnd(domain, id);
  attributes.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  attributes.message.unicode = L"by the way";
  attributes.colorType = NVTX_COLOR_UNKNOWN;
  nvtxRangePushEx(&attributes);
  nvtxRangePop();
  drain();
  EXPECT_EQ(descriptions(), (Texts{"mark 'registered' in 'Domäne' category 7 color 4279312947",
                                   "push 'by the way' category 7",
                                   "start 'wide ✓' in 'Domäne' category 7 color 4279312947"}));
}

TEST_F(NvtxTest, HandlesOutliveTheSession) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("lasting");
  nvtxEventAttributes_t attributes = attributes_of(nullptr);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "kept");
  nvtxMarkA("forgotten");
  finish();
  begin();
  nvtxMarkA("another");
  nvtxDomainMarkEx(domain, &attributes);
  drain();
  EXPECT_EQ(descriptions(), (Texts{"mark 'another'", "mark 'kept' in 'lasting'"}));
}

TEST_F(NvtxTest, PayloadsOfEveryType) {
  nvtxEventAttributes_t attributes = attributes_of("p");
  const auto mark = [&](int32_t type, auto set) {
    attributes.payloadType = type;
    set(attributes.payload);
    nvtxMarkEx(&attributes);
  };
  mark(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, [](auto& p) { p.ullValue = 0; });
  mark(NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, [](auto& p) { p.ullValue = UINT64_MAX; });
  mark(NVTX_PAYLOAD_TYPE_INT64, [](auto& p) { p.llValue = -INT64_MAX; });
  mark(NVTX_PAYLOAD_TYPE_DOUBLE, [](auto& p) { p.dValue = -2.5; });
  mark(NVTX_PAYLOAD_TYPE_UNSIGNED_INT32, [](auto& p) { p.uiValue = UINT32_MAX; });
  mark(NVTX_PAYLOAD_TYPE_INT32, [](auto& p) { p.iValue = -3; });
  mark(NVTX_PAYLOAD_TYPE_FLOAT, [](auto& p) { p.fValue = 0.1F; });
  mark(NVTX_PAYLOAD_TYPE_DOUBLE, [](auto& p) { p.dValue = std::nan(""); });
  mark(NVTX_PAYLOAD_UNKNOWN, [](auto& p) { p.llValue = 5; });
  mark(1234, [](auto& p) { p.llValue = 5; });
  drain();
  EXPECT_EQ(descriptions(), (Texts{"mark 'p'", "mark 'p'", "mark 'p'", "mark 'p' payload 0e0",
                                   "mark 'p' payload 1844674407370955162e1",
                                   "mark 'p' payload -9223372036854775807e0",
                                   "mark 'p' payload -25e-1", "mark 'p' payload 4294967295e0",
                                   "mark 'p' payload -3e0", "mark 'p' payload 1e-1"}));
}

TEST_F(NvtxTest, WhatMakesNoSenseIsHarmless) {
  nvtxMarkA(nullptr);
  nvtxMarkW(nullptr);
  nvtxMarkEx(nullptr);
  EXPECT_EQ(nvtxDomainCreateA(nullptr), nullptr);
  EXPECT_EQ(nvtxDomainRegisterStringA(nullptr, nullptr), nullptr);
  // NOLINTBEGIN(performance-no-int-to-ptr): no handles of ours
  nvtxEventAttributes_t attributes = attributes_of("elsewhere");
  nvtxDomainMarkEx(reinterpret_cast<nvtxDomainHandle_t>(uintptr_t{0x7fff12345678}), &attributes);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = reinterpret_cast<nvtxStringHandle_t>(uintptr_t{0xdeadbeef});
  nvtxMarkEx(&attributes);
  // NOLINTEND(performance-no-int-to-ptr)
  attributes.messageType = 99;
  nvtxMarkEx(&attributes);
  nvtxResourceAttributes_t resource = {};
  EXPECT_EQ(nvtxDomainResourceCreate(nullptr, &resource), nullptr);
  nvtxDomainResourceDestroy(nullptr);
  nvtxRangeEnd(0);
  nvtxRangeEnd(~nvtxRangeId_t{0});
  drain();
  EXPECT_EQ(descriptions(),
            (Texts{"mark ''", "mark ''", "mark ''", "mark 'elsewhere'", "mark ''", "mark ''"}));
}

TEST_F(NvtxTest, EndsWithoutBeginningAreCounted) {
  EXPECT_LT(nvtxRangePop(), 0);
  const nvtxRangeId_t id = nvtxRangeStartA("twice");
  nvtxRangeEnd(id);
  nvtxRangeEnd(id);
  nvtxRangePushA("fine");
  nvtxRangePop();
  EXPECT_LT(nvtxRangePop(), 0);
  for (int i = 0; i < 3; ++i) drain();
  EXPECT_EQ(descriptions(), (Texts{"push 'fine'", "start 'twice'"}));
  EXPECT_EQ(account().markers_unmatched, 3U);
}

TEST_F(NvtxTest, ARangeMayEndOnAnotherThread) {
  const nvtxRangeId_t id = nvtxRangeStartA("wanders");
  const int64_t begun_by = gettid();
  int64_t ended_by = 0;
  std::thread([&] {
    ended_by = gettid();
    nvtxRangeEnd(id);
  }).join();
  drain();
  const std::vector<Marker> rows = markers();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].thread, begun_by);
  EXPECT_EQ(rows[0].end_thread, ended_by);
  EXPECT_EQ(rows[0].id, id);
}

TEST_F(NvtxTest, WhatIsOpenAtTheEndIsWrittenAndCounted) {
  nvtxRangePushA("outer");
  nvtxRangePushA("inner");
  const nvtxRangeId_t id = nvtxRangeStartA("process");
  drain();
  EXPECT_TRUE(markers().empty());
  finish();
  EXPECT_EQ(descriptions(), (Texts{"push 'inner'", "push 'outer'", "start 'process'"}));
  for (const Marker& row : markers()) EXPECT_LE(row.start_ns + row.duration_ns, now());
  EXPECT_EQ(account().markers_unclosed, 3U);
  drain();  // once more changes nothing
  EXPECT_EQ(markers().size(), 3U);

  begin();  // its ranges are not the next session's
  nvtxRangeEnd(id);
  EXPECT_EQ(nvtxRangePushA("new"), 0);
  nvtxRangePop();
  finish();
  EXPECT_EQ(descriptions(), (Texts{"push 'new'"}));
  EXPECT_EQ(account().markers_unmatched, 0U);
}

TEST_F(NvtxTest, AThreadsEndEndsWhatItPushed) {
  nvtxRangeId_t id = 0;
  std::thread([&] {
    nvtxRangePushA("left open");
    id = nvtxRangeStartA("process");
  }).join();
  const int64_t joined_ns = now();
  drain();
  EXPECT_EQ(descriptions(), (Texts{"push 'left open'"}));
  EXPECT_LE(markers()[0].start_ns + markers()[0].duration_ns, joined_ns);
  nvtxRangeEnd(id);
  drain();
  EXPECT_EQ(descriptions(), (Texts{"push 'left open'", "start 'process'"}));
  EXPECT_EQ(account().markers_unclosed, 1U);
}

TEST_F(NvtxTest, NothingIsTrackedWithoutASession) {
  finish();
  source_.reset();
  EXPECT_EQ(nvtxRangePushA("x"), NVTX_NO_PUSH_POP_TRACKING);
  EXPECT_EQ(nvtxRangePop(), NVTX_NO_PUSH_POP_TRACKING);
  const nvtxRangeId_t before = nvtxRangeStartA("before");
  EXPECT_EQ(before, 0U);
  nvtxMarkA("x");
  begin();
  nvtxRangeEnd(before);
  finish();
  EXPECT_TRUE(markers().empty());
  EXPECT_EQ(account().markers_unmatched, 0U);
}

TEST_F(NvtxTest, OneSessionAtATime) {
  const auto second = make_marker_source(nullptr);
  EXPECT_EQ(second->start(base::monotonic_ns()).reason, "taken");
  second->drain(0, sink_);
  second->stop();
  nvtxMarkA("still the first's");
  drain();
  EXPECT_EQ(markers().size(), 1U);
}

TEST_F(NvtxTest, ScopesOfTheThreadButNotInheritedOnes) {
  sink_.scopes = [&](int64_t thread, int64_t time_ns) {
    EXPECT_EQ(thread, gettid());
    EXPECT_LE(time_ns, now());
    return ScopeRef{11, false};
  };
  nvtxMarkA("mine");
  drain();
  sink_.scopes = [](int64_t, int64_t) { return ScopeRef{12, true}; };
  nvtxMarkA("another thread's");
  drain();
  EXPECT_EQ(markers()[0].scope, 11);
  EXPECT_EQ(markers()[1].scope, 0);
}

TEST_F(NvtxTest, LongOpenRangesAreAnnouncedOnce) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("loader");
  const nvtxEventAttributes_t attributes = attributes_of("epoch");
  nvtxDomainRangePushEx(domain, &attributes);
  const nvtxRangeId_t id = nvtxRangeStartA("request");
  drain();
  EXPECT_TRUE(sink_.lines[Kind::Event].empty());
  for (int i = 0; i < 2; ++i) source_->drain(now() + 1'500'000'000, sink_);
  const std::vector<base::Json>& events = sink_.lines[Kind::Event];
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(events[0]["name"].as_string(), "marker_open");
  EXPECT_EQ(events[0]["text"].as_string(), "epoch");
  EXPECT_EQ(events[0]["domain"].as_string(), "loader");
  EXPECT_EQ(events[0]["thread"].as_integer(), gettid());
  EXPECT_EQ(events[1]["text"].as_string(), "request");
  nvtxDomainRangePop(domain);
  nvtxRangeEnd(id);
  drain();
  EXPECT_EQ(markers()[0].start_ns, events[0]["start"].as_integer());
}

TEST_F(NvtxTest, NamesOfCategoriesAndThreads) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("named");
  nvtxNameCategoryA(3, "io");
  nvtxNameCategoryA(3, "io");
  nvtxDomainNameCategoryW(domain, 3, L"größe");
  nvtxNameOsThreadA(4242, "worker");
  for (int session = 0; session < 2; ++session) {
    drain();
    drain();
    std::set<std::string> told;
    for (const base::Json& line : sink_.lines[Kind::Event]) {
      told.insert(line["name"].as_string() + " " + line["domain"].as_string() + " " +
                  std::to_string(line["category"].as_integer()) + " " +
                  std::to_string(line["thread"].as_integer()) + " " + line["text"].as_string());
    }
    EXPECT_EQ(told.size(), sink_.lines[Kind::Event].size()) << "told twice";
    EXPECT_TRUE(told.count("marker_category  3 0 io"));
    EXPECT_TRUE(told.count("marker_category named 3 0 größe"));
    EXPECT_TRUE(told.count("thread_name  0 4242 worker"));
    finish();
    begin();
  }
}

TEST_F(NvtxTest, TheGateHearsOfRangesInTheOrderOfTime) {
  nvtxRangePushA("a");
  std::thread([] {
    nvtxRangePushA("b");
    nvtxRangePop();
  }).join();
  const nvtxRangeId_t id = nvtxRangeStartA("c");
  nvtxMarkA("no range");
  nvtxRangePop();
  nvtxRangeEnd(id);
  drain();
  EXPECT_EQ(gate_.edges, (Texts{"+a", "+b", "-b", "+c", "-a", "-c"}));
  EXPECT_TRUE(std::is_sorted(gate_.times.begin(), gate_.times.end()));
}

// NOLINTBEGIN(readability-identifier-naming): the wrapper looks for these names
struct MyDomain {
  static constexpr char const* name{"cpp"};
};
struct MyMessage {
  static constexpr char const* message{"registered once"};
};

// NOLINTEND(readability-identifier-naming)

TEST_F(NvtxTest, TheCppWrapper) {
  {
    const nvtx3::scoped_range range{"scoped", nvtx3::payload{1.5}, nvtx3::rgb{1, 2, 3}};
    const nvtx3::scoped_range_in<MyDomain> inner{
        nvtx3::registered_string_in<MyDomain>::get<MyMessage>()};
    nvtx3::mark_in<MyDomain>("marked");
    nvtx3::unique_range unique{"unique"};
  }
  drain();
  const Texts texts = descriptions();
  EXPECT_EQ(
      std::set<std::string>(texts.begin(), texts.end()),
      (std::set<std::string>{"mark 'marked' in 'cpp'", "push 'registered once' in 'cpp'",
                             "push 'scoped' color 4278256131 payload 15e-1", "start 'unique'"}));
}

}  // namespace
}  // namespace gpufl::backend
