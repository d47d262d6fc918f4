// SPDX-License-Identifier: Apache-2.0
// Many threads, more than there is room for, sessions that come and go, and what stands in the way.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backend/nvidia/nvtx/nvtx_fixture.hpp"
#include "base/interner.hpp"

namespace gpufl::backend {
namespace {

TEST_F(NvtxTest, AForkedChildRecordsNothing) {
  nvtxRangePushA("parent");
  const pid_t child = fork();
  if (child == 0) {
    const bool dormant = nvtxRangePushA("child") == NVTX_NO_PUSH_POP_TRACKING;
    nvtxDomainCreateA("made in the child");
    const auto own = make_marker_source(nullptr);
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

// What PyTorch's operators make of 50 ms, on one thread.
TEST_F(NvtxTest, AStormOfRangesBetweenTwoRoundsHasRoom) {
  constexpr uint64_t kRanges = 30'000;
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < kRanges; ++i) {
      nvtxRangePushA("op");
      nvtxRangePop();
    }
    drain();
  }
  EXPECT_EQ(account().markers_dropped.value(), 0U);
  EXPECT_EQ(markers().size(), 3 * kRanges);
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
  // As much as a ring holds from the first: nothing is dropped, however slowly it is read.
  constexpr int kThreads = 8, kRounds = 50, kDepth = 8;
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
  constexpr int kRanges = 1000;  // what a ring holds from the first
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
void exit_with_reason_of_offer() {
  const Availability offered = offer_nvtx_injection();
  std::fputs((offered.reason + ": " + offered.detail).c_str(), stderr);
  std::exit(0);
}

TEST(NvtxInjectionDeathTest, CodeInTheProgramItselfIsOutOfReach) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        unsetenv("NVTX_INJECTION64_PATH");
        exit_with_reason_of_offer();
      },
      testing::ExitedWithCode(0), "nvtx_not_reachable: ");
}

TEST(NvtxInjectionDeathTest, AnotherToolIsNamed) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        setenv("NVTX_INJECTION64_PATH", "/opt/tool/libtool.so", 1);
        exit_with_reason_of_offer();
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
