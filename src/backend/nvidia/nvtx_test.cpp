// SPDX-License-Identifier: Apache-2.0
// The program's side of NVTX is in this process: its headers, linked to the recorder the way that
// NVTX offers for static injection.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nvtx3/nvtx3.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/nvidia/nvtx_injection.hpp"
#include "backend/nvidia/nvtx_marker_source.hpp"
#include "backend/nvidia/nvtx_recorder.hpp"
#include "backend/recording_sink.hpp"
#include "base/clock.hpp"
#include "base/decimal.hpp"

namespace gpufl::backend {
namespace {

using base::Decimal;
using format::Kind;
using format::MarkerShape;
namespace column = format::marker_column;

struct Marker {
  MarkerShape shape;
  std::string name, domain;
  int64_t start_ns, duration_ns, thread, scope, category, color;
  std::optional<uint64_t> id;
  std::optional<int64_t> end_thread;
  std::optional<Decimal> payload;
};

std::optional<int64_t> if_present(int64_t value) {
  if (value == RecordingSink::kAbsent) return {};
  return value;
}

// The text of a marker with what a test wrote into it: "push 'step' in 'NCCL' category 3".
std::string describe(const Marker& marker) {
  constexpr const char* kShapes[] = {"mark", "push", "start"};
  std::string text = kShapes[static_cast<size_t>(marker.shape)];
  text += " '" + marker.name + "'";
  if (!marker.domain.empty()) text += " in '" + marker.domain + "'";
  if (marker.category != 0) text += " category " + std::to_string(marker.category);
  if (marker.color != 0) text += " color " + std::to_string(marker.color);
  if (marker.payload) {
    text += " payload " + std::to_string(marker.payload->digits) + "e" +
            std::to_string(marker.payload->exponent);
  }
  return text;
}

nvtxEventAttributes_t attributes_of(const char* message) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

class Gate : public CaptureGate {
 public:
  bool is_open(int64_t) const override { return true; }
  void on_profiler_start(int64_t) noexcept override {}
  void on_profiler_stop(int64_t) noexcept override {}
  void on_range(std::string_view name, bool begins, int64_t monotonic_ns) noexcept override {
    edges.push_back((begins ? "+" : "-") + std::string(name));
    times.push_back(monotonic_ns);
  }
  std::vector<std::string> edges;
  std::vector<int64_t> times;
};

class NvtxTest : public testing::Test {
 protected:
  void SetUp() override {
    InitializeInjectionNvtx2_fnptr = start_nvtx_injection;
    nvtxInitialize(nullptr);
    begin();
  }
  void begin() {
    source_.reset();
    sink_ = {};
    source_ = make_nvtx_marker_source(&gate_);
    start_ns_ = base::monotonic_ns();
    const Availability started = source_->start(start_ns_);
    ASSERT_TRUE(started.available) << started.reason;
  }
  int64_t now() const { return base::monotonic_ns() - start_ns_; }
  void drain() { source_->drain(now(), sink_); }
  void finish() {
    source_->stop();
    drain();
  }
  format::Ledger account() {
    format::Ledger ledger;
    source_->account(ledger);
    return ledger;
  }
  std::vector<Marker> markers() {
    std::vector<Marker> out;
    for (const RecordingSink::Row& row : sink_.rows[Kind::Marker]) {
      Marker marker;
      marker.shape = static_cast<MarkerShape>(row[column::kShape]);
      marker.name = sink_.value(format::Dict::Name, row[column::kName]);
      if (row[column::kDomain] != 0) {
        marker.domain = sink_.value(format::Dict::Name, row[column::kDomain]);
      }
      marker.start_ns = row[column::kStart];
      marker.duration_ns = row[column::kDuration];
      marker.thread = row[column::kThread];
      marker.scope = row[column::kScope];
      marker.category = row[column::kCategory];
      marker.color = row[column::kColor];
      if (const auto id = if_present(row[column::kId])) marker.id = static_cast<uint64_t>(*id);
      marker.end_thread = if_present(row[column::kEndThread]);
      if (const auto digits = if_present(row[column::kPayload])) {
        marker.payload = Decimal{*digits, row[column::kPayloadExponent]};
      }
      out.push_back(std::move(marker));
    }
    return out;
  }
  std::vector<std::string> descriptions() {
    std::vector<std::string> out;
    for (const Marker& marker : markers()) out.push_back(describe(marker));
    return out;
  }

  Gate gate_;
  RecordingSink sink_;
  std::unique_ptr<MarkerSource> source_;
  int64_t start_ns_ = 0;
};

using Texts = std::vector<std::string>;

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
  nvtxEventAttributes_t attributes = attributes_of("elsewhere");
  nvtxDomainMarkEx(reinterpret_cast<nvtxDomainHandle_t>(uintptr_t{0x7fff12345678}), &attributes);
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = reinterpret_cast<nvtxStringHandle_t>(uintptr_t{0xdeadbeef});
  nvtxMarkEx(&attributes);
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
  const auto second = make_nvtx_marker_source(nullptr);
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

struct MyDomain {
  static constexpr char const* name{"cpp"};
};
struct MyMessage {
  static constexpr char const* message{"registered once"};
};

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

TEST_F(NvtxTest, AForkedChildRecordsNothing) {
  nvtxRangePushA("parent");
  const pid_t child = fork();
  if (child == 0) {
    const bool dormant = nvtxRangePushA("child") == NVTX_NO_PUSH_POP_TRACKING;
    nvtxDomainCreateA("made in the child");
    const auto own = make_nvtx_marker_source(nullptr);
    const bool started = own->start(base::monotonic_ns()).available;
    const bool records = nvtxRangePushA("child's own") == 0 && nvtxRangePop() == 0;
    _exit(dormant && started && records ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  nvtxRangePop();
  drain();
  EXPECT_EQ(descriptions(), (Texts{"push 'parent'"}));
}

TEST_F(NvtxTest, TooDeepIsDroppedWithWhatIsInsideAndNothingIsMixedUp) {
  constexpr uint64_t kDepth = 100'000;
  for (uint64_t i = 0; i < kDepth; ++i) ASSERT_EQ(nvtxRangePushA("deep"), static_cast<int>(i));
  for (uint64_t i = kDepth; i-- > 0;) ASSERT_EQ(nvtxRangePop(), static_cast<int>(i));
  nvtxRangePushA("shallow");
  nvtxRangePop();
  drain();
  const std::vector<Marker> rows = markers();
  const uint64_t dropped = account().markers_dropped.value();
  EXPECT_GT(dropped, 0U);
  EXPECT_EQ(rows.size() + dropped, kDepth + 1);
  // Each lies inside the next, as they were pushed.
  for (size_t i = 1; i < rows.size() && rows[i].name == "deep"; ++i) {
    ASSERT_LE(rows[i].start_ns, rows[i - 1].start_ns);
    ASSERT_GE(rows[i].start_ns + rows[i].duration_ns,
              rows[i - 1].start_ns + rows[i - 1].duration_ns);
  }
  EXPECT_EQ(account().markers_unclosed, 0U);
  EXPECT_EQ(account().markers_unmatched, 0U);
}

// A collector that never rests, so that little is dropped; what is, is counted.
class Draining {
 public:
  Draining(MarkerSource& source, RecordingSink& sink)
      : thread_([this, &source, &sink] {
          while (!stop_) source.drain(0, sink);
        }) {}
  ~Draining() {
    stop_ = true;
    thread_.join();
  }

 private:
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

TEST_F(NvtxTest, AMillionMarksAreRecordedOrCounted) {
  constexpr uint64_t kMarks = 1'000'000;
  {
    const Draining draining(*source_, sink_);
    for (uint64_t i = 0; i < kMarks; ++i) nvtxMarkA("m");
  }
  finish();
  EXPECT_EQ(sink_.rows[Kind::Marker].size() + account().markers_dropped.value(), kMarks);
  EXPECT_GT(sink_.rows[Kind::Marker].size(), kMarks / 100);
}

TEST_F(NvtxTest, ManyThreadsEachWithItsOwnRanges) {
  constexpr int kThreads = 8, kRounds = 400, kDepth = 8;
  {
    const Draining draining(*source_, sink_);
    std::vector<std::thread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([t] {
        const std::string name = "thread " + std::to_string(t);
        nvtxDomainHandle_t domain = nvtxDomainCreateA(name.c_str());
        const nvtxEventAttributes_t attributes = attributes_of(name.c_str());
        for (int i = 0; i < kRounds; ++i) {
          for (int d = 0; d < kDepth; ++d) EXPECT_EQ(nvtxDomainRangePushEx(domain, &attributes), d);
          for (int d = kDepth; d-- > 0;) EXPECT_EQ(nvtxDomainRangePop(domain), d);
          nvtxRangeEnd(nvtxRangeStartA(name.c_str()));
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
  finish();
  EXPECT_EQ(account().markers_dropped, 0U);
  EXPECT_EQ(account().markers_unclosed, 0U);
  EXPECT_EQ(account().markers_unmatched, 0U);
  std::map<std::string, int> pushed, started;
  std::set<uint64_t> ids;
  for (const Marker& marker : markers()) {
    if (marker.shape == MarkerShape::PushPop) {
      EXPECT_EQ(marker.domain, marker.name);
      ++pushed[marker.name];
    } else {
      EXPECT_TRUE(ids.insert(marker.id.value()).second) << "an id twice";
      ++started[marker.name];
    }
  }
  ASSERT_EQ(pushed.size(), size_t{kThreads});
  for (const auto& [name, count] : pushed) EXPECT_EQ(count, kRounds * kDepth) << name;
  for (const auto& [name, count] : started) EXPECT_EQ(count, kRounds) << name;
}

TEST_F(NvtxTest, RangesThatOthersEndWhileTheyAreRead) {
  constexpr int kRanges = 4000;
  std::atomic<nvtxRangeId_t> handed{0};
  {
    const Draining draining(*source_, sink_);
    std::thread ender([&] {
      for (int i = 0; i < kRanges; ++i) {
        nvtxRangeId_t id = 0;
        while ((id = handed.exchange(0)) == 0) std::this_thread::yield();
        nvtxRangeEnd(id);
      }
    });
    for (int i = 0; i < kRanges; ++i) {
      const nvtxRangeId_t id = nvtxRangeStartA("handed on");
      while (handed.load() != 0) std::this_thread::yield();
      handed = id;
    }
    ender.join();
  }
  finish();
  EXPECT_EQ(markers().size(), size_t{kRanges});
  EXPECT_EQ(account().markers_dropped, 0U);
  EXPECT_EQ(account().markers_unclosed, 0U);
  EXPECT_EQ(account().markers_unmatched, 0U);
}

TEST_F(NvtxTest, SessionsComeAndGoWhileThreadsAnnotate) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; ++t) {
    threads.emplace_back([&stop, t] {
      for (int i = 0; !stop; ++i) {
        nvtxRangePushA(("name " + std::to_string(t) + "." + std::to_string(i % 50)).c_str());
        nvtxRangePop();
        std::this_thread::yield();
      }
    });
  }
  for (int session = 0; session < 10; ++session) {
    begin();
    while (sink_.rows[Kind::Marker].size() < 100) drain();
    finish();
    for (const Marker& marker : markers()) ASSERT_EQ(marker.name.substr(0, 5), "name ");
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

TEST_F(NvtxTest, NamesBeyondTheBoundAreCounted) {
  for (int i = 0; i < 70'000; ++i) {
    nvtxMarkA(("mark " + std::to_string(i)).c_str());
    if (i % 1000 == 0) drain();
  }
  drain();
  EXPECT_EQ(markers().size(), 70'000U);
  EXPECT_EQ(account().names_overflowed, 70'000U - 65'536 + base::Interner::kFirstFreeId);
  EXPECT_EQ(descriptions().back(), "mark '<overflow>'");
}

// In a process of their own, in which NVTX has not been called yet.
using NvtxInjectionDeathTest = testing::Test;

void exit_with_reason_of_start() {
  const Availability started = make_nvtx_marker_source(nullptr)->start(base::monotonic_ns());
  std::fputs((started.reason + ": " + started.detail).c_str(), stderr);
  std::exit(0);
}

TEST(NvtxInjectionDeathTest, CodeInTheProgramItselfIsOutOfReach) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        unsetenv("NVTX_INJECTION64_PATH");
        exit_with_reason_of_start();
      },
      testing::ExitedWithCode(0), "nvtx_not_reachable: ");
}

TEST(NvtxInjectionDeathTest, AnotherToolIsNamed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("NVTX_INJECTION64_PATH", "/opt/tool/libtool.so", 1);
        exit_with_reason_of_start();
      },
      testing::ExitedWithCode(0), "nvtx_taken: .*/opt/tool/libtool.so");
}

TEST(NvtxInjection, TablesThatAreNotUnderstoodAreRefused) {
  EXPECT_EQ(start_nvtx_injection(nullptr), 0);
  EXPECT_EQ(start_nvtx_injection([](uint32_t) -> const void* { return nullptr; }), 0);
  EXPECT_EQ(start_nvtx_injection([](uint32_t) -> const void* {
              static const size_t too_small = 1;
              return &too_small;
            }),
            0);
}

}  // namespace
}  // namespace gpufl::backend
