// SPDX-License-Identifier: Apache-2.0
#include "report/html/picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "analysis/session/test_tables.hpp"
#include "analysis/warp/pipeline_simulator.hpp"

namespace gpufl::report {
namespace {

using analysis::testing::TestSession;

analysis::RunData run_of(TestSession& session) {
  analysis::RunData run;
  run.sessions.push_back(session.finish());
  run.offset_ns.push_back(0);
  return run;
}

size_t count(const Picture& picture, bool is_weighted) {
  size_t sum = 0;
  for (const auto& track : picture.tracks) {
    for (const auto& row : track.rows) {
      for (const Block& block : row) sum += is_weighted ? block.count : 1;
    }
  }
  return sum;
}

TEST(PictureTest, EverySliceIsABlockWhereThereIsRoom) {
  TestSession session;
  const int64_t outer = session.scope("outer", 0, 1000);
  session.scope("inner", 100, 200, {.parent = outer});
  session.kernel("gemm", 150, 50);
  session.kernel("relu", 300, 10, {.stream = 8});
  const Picture picture = make_picture(run_of(session), 1000);
  ASSERT_EQ(picture.tracks.size(), 3u);
  EXPECT_EQ(picture.slices, 4u);
  EXPECT_EQ(picture.merged_below_ns, 0);
  EXPECT_EQ(picture.end_ns, 1000);
  // A scope inside another stands below it.
  const PictureTrack& thread = picture.tracks[2];
  ASSERT_EQ(thread.rows.size(), 2u);
  EXPECT_EQ(picture.texts[thread.rows[0].at(0).text].label, "outer");
  EXPECT_EQ(picture.texts[thread.rows[1].at(0).text].label, "inner");
  EXPECT_EQ(picture.texts[picture.tracks[0].rows.at(0).at(0).text].label, "gemm");
}

// As the dashboard has them: only what is of one kind nests.
TEST(PictureTest, EachKindHasATrackOfItsOwn) {
  TestSession session;
  const int64_t outer = session.scope("outer", 0, 1000);
  session.wait(3, 100, 200);
  session.scope("inner", 150, 100, {.parent = outer});
  session.kernel("void at::softmax_warp_forward<float>()", 150, 50);
  session.copy(1, 64, 300, 10);
  const Picture picture = make_picture(run_of(session), 1000);
  ASSERT_EQ(picture.tracks.size(), 4u);
  constexpr std::array kKinds = {PictureKind::Kernels, PictureKind::Copies, PictureKind::Scopes,
                                 PictureKind::Waits};
  for (size_t i = 0; i < kKinds.size(); ++i) EXPECT_EQ(picture.tracks[i].kind, kKinds[i]) << i;
  EXPECT_EQ(picture.tracks[0].name, picture.tracks[1].name);
  EXPECT_EQ(picture.tracks[2].rows.size(), 2u) << "a wait between them takes no row";
  EXPECT_EQ(picture.tracks[3].rows.size(), 1u);
  EXPECT_EQ(to_string(PictureKind::Waits), "waits");
  EXPECT_EQ(to_string(PictureKind::Warps), "warps");
}

// As the dashboard has them: modules hold operators, and each has a track of its own.
TEST(PictureTest, MarkersHaveATrackForEachThatSetThem) {
  TestSession session;
  session.marker("block", 0, 900, 1, "torch.module");
  session.marker("linear", 100, 300, 1, "torch.op");
  session.marker("addmm", 150, 100, 1, "torch.op");
  session.marker("own", 500, 50);
  const Picture picture = make_picture(run_of(session), 1000);
  ASSERT_EQ(picture.tracks.size(), 3u);
  const auto track_of = [&](std::string_view domain) -> const PictureTrack& {
    return *std::find_if(picture.tracks.begin(), picture.tracks.end(),
                         [&](const PictureTrack& track) { return track.domain == domain; });
  };
  for (const PictureTrack& track : picture.tracks) EXPECT_EQ(track.kind, PictureKind::Markers);
  EXPECT_EQ(track_of("").rows.size(), 1u) << "what is around it is not of its track";
  EXPECT_EQ(track_of("torch.module").rows.size(), 1u);
  ASSERT_EQ(track_of("torch.op").rows.size(), 2u);
  EXPECT_EQ(picture.texts[track_of("torch.op").rows[1].at(0).text].label, "addmm");
}

// Colours are those of classes of kernels.
TEST(PictureTest, TextsOfKernelsTellTheirClass) {
  TestSession session;
  session.kernel("softmax_warp_forward", 150, 50);
  session.kernel("mystery", 250, 50);
  session.scope("mystery", 0, 1000);
  const Picture picture = make_picture(run_of(session), 1000);
  const auto text_at = [&](size_t track, size_t block) {
    return picture.texts[picture.tracks.at(track).rows.at(0).at(block).text];
  };
  EXPECT_EQ(text_at(0, 0).work, "softmax");
  EXPECT_EQ(text_at(0, 1).work, "other");
  EXPECT_EQ(text_at(1, 0).label, "mystery");
  EXPECT_EQ(text_at(1, 0).work, "") << "a scope of the same name has none";
}

// From its beginning to its end, or to its last sign of life.
TEST(PictureTest, SpansTheWholeSession) {
  TestSession session;
  session.kernel("gemm", 150, 50);
  session.data.summary.duration_ns = 5'000;
  analysis::RunData run = run_of(session);
  const Picture picture = make_picture(run, 1000);
  EXPECT_EQ(picture.start_ns, 0);
  EXPECT_EQ(picture.end_ns, 5'000);
  run.offset_ns = {700};
  EXPECT_EQ(make_picture(run, 1000).end_ns, 5'700);
}

TEST(PictureTest, NoThreadIsCalledZero) {
  TestSession session;
  session.kernel("gemm", 150, 50, {.thread = 0});
  session.wait(3, 300, 10, {.thread = 0});
  const Picture picture = make_picture(run_of(session), 1000);
  ASSERT_EQ(picture.tracks.size(), 2u);
  EXPECT_EQ(picture.tracks[1].name, "unknown thread");
}

TEST(PictureTest, TooManyAreMergedAndNoneIsLost) {
  TestSession session;
  for (int64_t i = 0; i < 5000; ++i) {
    session.kernel(i % 10 == 0 ? "long" : "short", i * 100, i % 10 == 0 ? 50 : 5);
  }
  const analysis::RunData run = run_of(session);
  const Picture picture = make_picture(run, 300);
  EXPECT_LE(count(picture, false), 300u);
  EXPECT_EQ(count(picture, true), 5000u);
  EXPECT_GT(picture.merged_below_ns, 0);
  int64_t busy_ns = 0;
  for (const Block& block : picture.tracks[0].rows[0]) busy_ns += block.busy_ns;
  EXPECT_EQ(busy_ns, 500 * 50 + 4500 * 5);
}

TEST(PictureTest, AMergedBlockIsCalledAfterItsLongest) {
  const BlockRow row = {
      {0, 10, 1, 1, 10}, {12, 40, 2, 1, 28}, {41, 45, 3, 1, 4}, {200, 201, 4, 1, 1}};
  const BlockRow merged = merge_blocks(row, 50);
  ASSERT_EQ(merged.size(), 2u);
  EXPECT_EQ(merged[0].end_ns, 45);
  EXPECT_EQ(merged[0].count, 3u);
  EXPECT_EQ(merged[0].busy_ns, 42);
  EXPECT_EQ(merged[0].text, 2u);
  EXPECT_EQ(merged[1].text, 4u);
}

TEST(PictureTest, NothingIsLostThatBeginsTogetherOrIsAGraph) {
  TestSession session;
  for (int i = 0; i < 199; ++i) session.kernel("empty", 100, 0);
  session.graph_launch(1, 3, 200, 50);
  const Picture picture = make_picture(run_of(session), 1000);
  EXPECT_EQ(picture.slices, 200u);
  EXPECT_EQ(count(picture, true), 200u);
  ASSERT_EQ(picture.tracks.size(), 2u);
  EXPECT_EQ(picture.tracks[0].kind, PictureKind::Graphs);
  EXPECT_EQ(picture.tracks[0].rows.at(0).at(0).end_ns, 250);
}

TEST(PictureTest, StreamsShowOnlyWhatIsAskedFor) {
  TestSession session;
  const int64_t step = session.scope("step", 0, 1000);
  session.kernel("gemm", 100, 50, {.scope = step});
  session.kernel("other", 200, 50);
  session.kernel("elsewhere", 300, 50, {.device = 1, .scope = step});
  const analysis::RunData run = run_of(session);
  analysis::AnalysisOptions options;
  options.device = 0;
  EXPECT_EQ(make_picture(run, 1000, options).slices, 3u);
  options.scope = "step";
  const Picture picture = make_picture(run, 1000, options);
  EXPECT_EQ(picture.slices, 2u);
  EXPECT_EQ(picture.texts[picture.tracks.at(0).rows.at(0).at(0).text].label, "gemm");
}

TEST(PictureTest, WarpsAreBelowTheirStream) {
  TestSession session;
  const int64_t end = analysis::testing::add_pipeline(
      session, {.blocks = 2, .iterations = 8, .load_ns = 400, .mma_ns = 1'000, .correlation = 9});
  session.kernel("gemm", 1'000'000, end - 1'000'000, {.correlation = 9});
  session.scope("step", 0, 2'000'000);
  const Picture picture = make_picture(run_of(session), 1000);
  ASSERT_EQ(picture.tracks.size(), 1 + 4 + 1u);
  EXPECT_FALSE(picture.tracks[0].is_inside());
  EXPECT_FALSE(picture.tracks[5].is_inside());
  const PictureTrack& producer = picture.tracks[1];
  EXPECT_EQ(producer.kernel, picture.texts[picture.tracks[0].rows.at(0).at(0).text].label);
  EXPECT_TRUE(producer.group.ends_with(", inside gemm")) << producer.group;
  EXPECT_EQ(producer.name, "SM 0, block 0, producer");
  bool has_work = false, has_wait = false;
  for (const BlockRow& row : producer.rows) {
    for (const Block& block : row) {
      const PictureText& text = picture.texts[block.text];
      const bool is_wait = text.work == "wait";
      EXPECT_EQ(is_wait, text.label == "wait_empty") << text.label;
      EXPECT_FALSE(text.work.empty()) << text.label;
      (is_wait ? has_wait : has_work) = true;
      EXPECT_GE(block.start_ns, 1'000'000);
      EXPECT_LE(block.end_ns, end);
    }
  }
  EXPECT_TRUE(has_work && has_wait);
}

// A long session with much in it does not take the detail from inside of kernels, nor they its.
TEST(PictureTest, WarpsHaveRoomOfTheirOwn) {
  TestSession session;
  for (int64_t i = 0; i < 5000; ++i) session.kernel("other", i * 1'000'000, 500'000);
  analysis::testing::add_pipeline(session, {.blocks = 1, .iterations = 8});
  const analysis::RunData run = run_of(session);
  const Picture roomy = make_picture(run, 400);
  EXPECT_GT(roomy.merged_below_ns, 0);
  EXPECT_EQ(roomy.inside_merged_below_ns, 0);
  const Picture narrow = make_picture(run, 40);
  EXPECT_GT(narrow.inside_merged_below_ns, 0);
  EXPECT_LT(narrow.inside_merged_below_ns, 100'000);
  EXPECT_EQ(narrow.slices, roomy.slices);
}

// Far more than there is room for while it is made: nothing is lost on the way.
TEST(PictureTest, WhatIsMergedMeanwhileCountsInTheEnd) {
  TestSession session;
  for (int64_t i = 0; i < 20'000; ++i) {
    session.kernel(i % 2 == 0 ? "even" : "odd", i * 1000, 400 + i % 2, {.stream = 7 + i % 3});
  }
  session.kernel("late", 90'000'000, 1'000'000);
  const Picture picture = make_picture(run_of(session), 50);
  EXPECT_EQ(picture.slices, 20'001u);
  uint64_t count = 0, blocks = 0;
  int64_t busy_ns = 0, last_ns = 0;
  for (const PictureTrack& track : picture.tracks) {
    for (const BlockRow& row : track.rows) {
      blocks += row.size();
      for (size_t i = 0; i < row.size(); ++i) {
        count += row[i].count;
        busy_ns += row[i].busy_ns;
        last_ns = std::max(last_ns, row[i].end_ns);
        EXPECT_GE(row[i].start_ns, i == 0 ? 0 : row[i - 1].end_ns);
      }
    }
  }
  EXPECT_LE(blocks, 50u);
  EXPECT_EQ(count, 20'001u);
  EXPECT_EQ(busy_ns, 20'000 * 400 + 10'000 + 1'000'000);
  EXPECT_EQ(last_ns, 91'000'000);
}

TEST(PictureTest, AnEmptySession) {
  TestSession session;
  const Picture picture = make_picture(run_of(session), 100);
  EXPECT_EQ(picture.slices, 0u);
}

}  // namespace
}  // namespace gpufl::report
