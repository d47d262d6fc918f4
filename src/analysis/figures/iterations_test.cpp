// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/iterations.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "analysis/session/test_tables.hpp"

namespace gpufl::analysis {
namespace {

using testing::TestSession;

std::vector<uint32_t> repeated(const std::vector<uint32_t>& part, size_t times) {
  std::vector<uint32_t> out;
  for (size_t i = 0; i < times; ++i) out.insert(out.end(), part.begin(), part.end());
  return out;
}

TEST(Repeats, NothingAndTooLittle) {
  EXPECT_TRUE(find_repeats({}).empty());
  EXPECT_TRUE(find_repeats({1}).empty());
  EXPECT_TRUE(find_repeats({1, 2, 3, 4, 5, 6}).empty());
  EXPECT_TRUE(find_repeats({1, 2, 1, 2}).empty());
}

TEST(Repeats, AnEvenSequence) {
  const auto repeats = find_repeats(repeated({1, 2, 3}, 5));
  ASSERT_EQ(repeats.size(), 5u);
  EXPECT_EQ(repeats[0], (Repeat{0, 3}));
  EXPECT_EQ(repeats[4], (Repeat{12, 15}));
}

TEST(Repeats, OneKernelOverAndOver) { EXPECT_EQ(find_repeats(repeated({4}, 10)).size(), 10u); }

TEST(Repeats, LayersInsideOfAStepAreNotSteps) {
  // Embedding, six layers forward, loss, six layers backward, optimizer.
  std::vector<uint32_t> step{1};
  for (int i = 0; i < 6; ++i) step.insert(step.end(), {2, 3, 4, 2});
  step.push_back(5);
  for (int i = 0; i < 6; ++i) step.insert(step.end(), {6, 3, 3});
  step.insert(step.end(), {7, 7, 7});
  const auto repeats = find_repeats(repeated(step, 20));
  ASSERT_EQ(repeats.size(), 20u);
  EXPECT_EQ(repeats[1].end - repeats[1].begin, step.size());
}

TEST(Repeats, AWarmUpAndAnOddStepDoNotHideTheRest) {
  std::vector<uint32_t> sequence{9, 9, 8, 9, 7, 1, 9};
  const std::vector<uint32_t> step{1, 2, 2, 3, 4, 2, 2, 5};
  for (int i = 0; i < 30; ++i) {
    sequence.insert(sequence.end(), step.begin(), step.end());
    if (i % 10 == 9) sequence.insert(sequence.end(), {6, 6});  // every tenth logs
  }
  const auto repeats = find_repeats(sequence);
  EXPECT_GE(repeats.size(), 29u);
  EXPECT_LE(repeats.size(), 31u);
}

// Steps of four kernels, of which the first takes longer and does more.
TestSession steps_after_a_slow_one(size_t extra_kernels, int64_t first_ns) {
  TestSession session;
  int64_t now = 1'000;
  for (int step = 0; step < 8; ++step) {
    std::vector<const char*> names = {"embed", "gemm", "gemm"};
    if (step == 0) names.insert(names.end(), extra_kernels, "zeros");
    names.push_back("adam");
    for (const char* name : names) {
      session.kernel(name, now, 100);
      now += 110;
    }
    now += step == 0 ? first_ns : 1'000;  // the host's work for the next
  }
  return session;
}

TEST(Iterations, TheFirstStepIsOneEvenWhereItDoesMore) {
  for (const size_t extra_kernels : {0, 1, 3}) {
    const auto found = find_iterations(steps_after_a_slow_one(extra_kernels, 1'000).finish(), {});
    ASSERT_TRUE(found) << found.unknown().reason;
    EXPECT_EQ(found->list.size(), 8u) << extra_kernels;
    EXPECT_EQ(found->list.front().span.start, 1'000);
    EXPECT_EQ(found->list.front().kernels, 4 + extra_kernels);
    EXPECT_EQ(found->warmups, 0u);
  }
}

TEST(Iterations, WarmUpIsOutsideTheFigures) {
  const auto found = find_iterations(steps_after_a_slow_one(1, 50'000).finish(), {});
  ASSERT_TRUE(found) << found.unknown().reason;
  ASSERT_EQ(found->list.size(), 8u);
  EXPECT_EQ(found->warmups, 1u);
  EXPECT_TRUE(found->list[0].is_warmup);
  EXPECT_FALSE(found->list[1].is_warmup);
  EXPECT_EQ(found->duration_ns.count, 6u);  // nor is the last one in them
  EXPECT_LT(found->duration_ns.max, 2'000);
}

TEST(Repeats, StepsInWhichNoKernelIsAlone) {
  // Every symbol comes twice in a step, so only runs of them tell where one begins.
  const std::vector<uint32_t> step{1, 2, 3, 4, 5, 6, 6, 5, 4, 3, 2, 1};
  const auto repeats = find_repeats(repeated(step, 12));
  ASSERT_GE(repeats.size(), 11u);
  EXPECT_EQ(repeats[0].end - repeats[0].begin, step.size());
}

TEST(Repeats, RandomSequencesDoNotRepeat) {
  std::vector<uint32_t> sequence;
  uint64_t state = 1;
  for (int i = 0; i < 5000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    sequence.push_back(static_cast<uint32_t>(state >> 60));
  }
  EXPECT_TRUE(find_repeats(sequence).empty());
}

TEST(Iterations, FromScopesWhateverTheirTags) {
  TestSession session;
  session.data.summary.duration_ns = 1000;
  const int64_t train = session.scope("train", 0, 1000);
  for (int i = 0; i < 4; ++i) {
    const std::string tag = std::to_string(i);
    const int64_t step = session.scope("step", i * 200, 150, {.parent = train, .tag = tag});
    session.scope("forward", i * 200, 100, {.parent = step});
    // Asked for in this step; runs in the next.
    session.kernel("gemm", i * 200 + 180, 50, {.scope = step, .api_start = i * 200 + 10});
  }
  const auto iterations = find_iterations(session.finish(), {});
  ASSERT_TRUE(iterations);
  EXPECT_EQ(iterations->source, IterationSource::Scopes);
  EXPECT_EQ(iterations->label, "train > step");
  ASSERT_EQ(iterations->list.size(), 4u);
  EXPECT_EQ(iterations->duration_ns.median, 150);
  EXPECT_EQ(iterations->list[0].kernels, 1u);
  EXPECT_EQ(iterations->list[0].kernel_ns, 50);
  EXPECT_DOUBLE_EQ(iterations->coverage, 0.6);
}

TEST(Iterations, FromMarkersWhereNoScopeRepeats) {
  TestSession session;
  session.scope("main", 0, 1000);
  for (int i = 0; i < 3; ++i) {
    session.marker("batch", i * 300, 250);
    session.marker("layer", i * 300 + 10, 200);
  }
  const auto iterations = find_iterations(session.finish(), {});
  ASSERT_TRUE(iterations);
  EXPECT_EQ(iterations->source, IterationSource::Markers);
  EXPECT_EQ(iterations->label, "batch");
}

TEST(Iterations, FromKernelsBeginWhereTheGpuWaits) {
  TestSession session;
  int64_t now = 0;
  for (int i = 0; i < 10; ++i) {
    now += 1000;  // the host prepares a step
    for (const char* name : {"first", "second", "third"}) {
      session.kernel(name, now, 100);
      now += 110;
    }
  }
  session.kernel("noise", 5, 3, {.stream = 99});
  const auto iterations = find_iterations(session.finish(), {});
  ASSERT_TRUE(iterations);
  EXPECT_EQ(iterations->source, IterationSource::KernelSequence);
  EXPECT_EQ(iterations->label, "first");
  ASSERT_GE(iterations->list.size(), 9u);
  EXPECT_EQ(iterations->list[0].span, (Interval{1000, 2330}));
  EXPECT_EQ(iterations->list[0].kernels, 3u);
  EXPECT_EQ(iterations->duration_ns.median, 1330);
}

// Steps of so many launches of one kernel, a wait or copy after each step.
TestSession steps_of_one_kernel(size_t launches,
                                const std::function<void(TestSession&, int64_t)>& end_step) {
  TestSession session;
  int64_t now = 1'000;
  for (int step = 0; step < 20; ++step) {
    for (size_t i = 0; i < launches; ++i) {
      session.kernel("work", now + 500, 100, {.api_start = now, .api_duration = 5});
      now += 100;
    }
    now += 600;
    end_step(session, now);
    now += 200;
  }
  return session;
}

TEST(Iterations, OneKernelIsCutWhereItsLoopWaits) {
  const auto wait = [](TestSession& session, int64_t now) { session.wait(4, now - 550, 540); };
  for (const size_t launches : {4, 40}) {
    TestSession session = steps_of_one_kernel(launches, wait);
    session.wait(4, 1'000'000, 10, {.stack = 9});  // the program's last, from elsewhere
    const auto found = find_iterations(session.finish(), {});
    ASSERT_TRUE(found) << found.unknown().reason;
    EXPECT_EQ(found->list.size(), 20u) << launches;
    EXPECT_EQ(found->list.front().span.start, 1'500);
    EXPECT_EQ(found->list.front().kernels, launches);
    EXPECT_EQ(found->list[7].kernels, launches);
  }
  // Without times of calls, too.
  TestSession session = steps_of_one_kernel(4, wait);
  session.data.tables.kernels.api_start.clear();
  const auto found = find_iterations(session.finish(), {});
  ASSERT_TRUE(found) << found.unknown().reason;
  EXPECT_EQ(found->list.size(), 20u);
}

TEST(Iterations, OneKernelIsCutWhereItsLoopCopies) {
  const auto copy = [](TestSession& session, int64_t now) { session.copy(2, 1 << 20, now, 50); };
  const auto found = find_iterations(steps_of_one_kernel(3, copy).finish(), {});
  ASSERT_TRUE(found) << found.unknown().reason;
  EXPECT_EQ(found->list.size(), 20u);
  // That of another stream says nothing of this one.
  const auto elsewhere = [](TestSession& session, int64_t now) {
    session.copy(2, 1 << 20, now, 50, {.stream = 9});
  };
  EXPECT_EQ(find_iterations(steps_of_one_kernel(3, elsewhere).finish(), {})->list.size(), 60u);
}

TEST(Iterations, WaitsOfOtherThreadsCutNothing) {
  const auto wait = [](TestSession& session, int64_t now) {
    session.wait(4, now - 550, 540, {.thread = 2});
    session.wait(2, now - 550, 1);  // a stream waits, and the host does not
  };
  const auto found = find_iterations(steps_of_one_kernel(4, wait).finish(), {});
  ASSERT_TRUE(found) << found.unknown().reason;
  EXPECT_EQ(found->list.size(), 80u);
}

TEST(Iterations, StepsOfSeveralKernelsStayWhereEveryTenthWaits) {
  TestSession session;
  int64_t now = 1'000;
  for (int step = 0; step < 60; ++step) {
    for (const char* name : {"forward", "backward", "adam"}) {
      session.kernel(name, now, 100);
      now += 110;
    }
    if (step % 10 == 9) session.wait(4, now, 50);
    now += 500;
  }
  const auto found = find_iterations(session.finish(), {});
  ASSERT_TRUE(found) << found.unknown().reason;
  EXPECT_EQ(found->list.size(), 60u);
}

TEST(Iterations, TheLastOfASequenceHasNoLength) {
  TestSession session;
  for (int i = 0; i < 6; ++i) {
    session.kernel("first", i * 1000, 50);
    session.kernel("second", i * 1000 + 60, 40);
  }
  const auto found = find_iterations(session.finish(), {});
  ASSERT_TRUE(found);
  ASSERT_EQ(found->list.size(), 6u);
  EXPECT_TRUE(found->list.back().is_cut);
  EXPECT_FALSE(found->list[4].is_cut);
  EXPECT_EQ(found->duration_ns.count, 5u);
  EXPECT_EQ(found->duration_ns.min, 1000);
  // Its kernels are all there.
  ASSERT_TRUE(found->kernel_ns);
  EXPECT_EQ(found->kernel_ns->count, 6u);
  EXPECT_EQ(found->kernel_ns->min, 90);
}

TEST(Iterations, ASequenceWithLittleOfTheWorkIsNone) {
  TestSession session;
  for (int i = 0; i < 6; ++i) session.kernel("tick", i * 1000, 50);
  session.kernel("all of it", 10'000, 90'000, {.stream = 3});
  EXPECT_FALSE(find_iterations(session.finish(), {}));
}

TEST(Iterations, KernelTimeIsUnknownWhereNoKernelIsRecorded) {
  TestSession session;
  session.data.summary.header.engine = "Monitor";
  session.data.summary.duration_ns = 1000;
  for (int i = 0; i < 5; ++i) session.scope("step", i * 200, 200);
  const auto found = find_iterations(session.finish(), {});
  ASSERT_TRUE(found);
  EXPECT_EQ(found->duration_ns.median, 200);
  EXPECT_FALSE(found->kernel_ns);
}

// Ten steps of an embedding, twelve layers and an optimizer; `mark` is told of each part.
template <typename Mark>
Figure<Iterations> of_training(Mark mark) {
  TestSession session;
  int64_t now = 0;
  const auto launch = [&](const char* name, int64_t duration) {
    session.kernel(name, now + 10, duration, {.api_start = now, .api_duration = 5});
    mark(session, name, now, duration + 20);
    now += duration + 20;
  };
  for (int step = 0; step < 10; ++step) {
    launch("embedding", 10);
    for (int layer = 0; layer < 12; ++layer) {
      launch("linear", 50);
      launch("gelu", 10);
    }
    launch("adam", 60);
    now += 300;
  }
  return find_iterations(session.finish(), {});
}

TEST(Iterations, OperatorsAreNone) {
  const auto found =
      of_training([](TestSession& session, const char* name, int64_t start, int64_t duration) {
        session.marker(name, start, duration, 1, "torch.cpu_op");
      });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, IterationSource::KernelSequence);
  EXPECT_GE(found->list.size(), 9u);
  EXPECT_LE(found->list.size(), 10u);
}

TEST(Iterations, AShortPartOfEachStepIsNone) {
  const auto found =
      of_training([](TestSession& session, std::string_view name, int64_t start, int64_t duration) {
        if (name == "adam") session.scope("Optimizer.step", start, duration);
      });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, IterationSource::KernelSequence);
}

TEST(Iterations, WhatComesManyTimesInAStepIsNone) {
  const auto found =
      of_training([](TestSession& session, std::string_view name, int64_t start, int64_t duration) {
        if (name == "linear") session.scope("layer", start, duration + 30);
      });
  ASSERT_TRUE(found);
  EXPECT_EQ(found->source, IterationSource::KernelSequence);
  EXPECT_LE(found->list.size(), 10u);
}

TEST(Iterations, NothingRepeats) {
  TestSession session;
  session.kernel("a", 0, 1);
  EXPECT_FALSE(find_iterations(session.finish(), {}));
  EXPECT_FALSE(find_iterations(TestSession().finish(), {}));
}

}  // namespace
}  // namespace gpufl::analysis
