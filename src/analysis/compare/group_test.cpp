// SPDX-License-Identifier: Apache-2.0
#include "analysis/compare/group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "analysis/compare/change.hpp"
#include "analysis/compare/comparison.hpp"
#include "analysis/session/test_tables.hpp"
#include "format/test_session.hpp"

namespace gpufl::analysis::compare {
namespace {

namespace fs = std::filesystem;
using analysis::testing::TestSession;
using format::testing::TempDir;

// A session of one scope, in `folder`.
void write_session(const fs::path& folder, const std::string& id, const std::string& run_id,
                   int64_t start_wall_ns, std::optional<int64_t> pass = std::nullopt) {
  format::SessionHeader header = format::testing::test_header();
  if (pass) {
    header.pass = pass;
    header.passes = {"PcSampling", "Trace"};
    header.engine = header.passes[static_cast<size_t>(*pass - 1)];
  }
  header.session_id = id;
  header.run_id = run_id;
  header.start_wall_ns = start_wall_ns;
  auto writer = format::LogWriter::create(format::testing::test_options(folder / id), header);
  ASSERT_TRUE(writer.is_ok()) << writer.status().text();
  (*writer)->write(format::testing::scope_rows(**writer, 1, 3, 1000));
  EXPECT_TRUE((*writer)->close(2'000, {}).is_ok());
}

TEST(LoadGroupTest, EverySessionOfAFolderIsARepeat) {
  TempDir dir;
  write_session(dir.path(), "s2", "r2", 2'000'000);
  write_session(dir.path(), "s1", "r1", 1'000'000);
  const fs::path paths[] = {dir.path(), dir.path() / "s1"};  // one of them twice
  const Group group = *load_group("A", paths);
  ASSERT_EQ(group.repeats.size(), 2u);
  EXPECT_EQ(group.repeats[0].name, "s1");
  EXPECT_EQ(group.repeats[1].name, "s2");
  EXPECT_TRUE(group.problems.empty());
  EXPECT_EQ((*group.repeats[0].find({Subject::Scope, "scope_1", "", ""}))[Metric::Count], 3);
}

TEST(LoadGroupTest, CopiesOfASessionAreOneRepeat) {
  TempDir dir;
  write_session(dir.path() / "run", "s1", "run", 1'000'000);
  fs::copy(dir.path() / "run" / "s1", dir.path() / "run" / "s1-copy", fs::copy_options::recursive);
  fs::copy(dir.path() / "run", dir.path() / "other", fs::copy_options::recursive);
  const fs::path paths[] = {dir.path()};
  const Group group = *load_group("A", paths);
  ASSERT_EQ(group.repeats.size(), 1u);
  EXPECT_EQ(group.repeats[0].sessions, 1u);
  EXPECT_EQ((*group.repeats[0].find({Subject::Scope, "scope_1", "", ""}))[Metric::Count], 3);
  ASSERT_EQ(group.copies.size(), 3u);
  EXPECT_NE(group.copies[0].find("are copies of one session"), std::string::npos);
}

TEST(LoadGroupTest, SessionsOfALaunchAreOneRepeat) {
  TempDir dir;
  // In the run's folder, whenever they ran.
  write_session(dir.path() / "run-a", "a0", "run-a", 1'000'000);
  write_session(dir.path() / "run-a", "a1", "run-a", 9'000'000);
  // Of the same run at the same time, and of the same job one after the other.
  write_session(dir.path() / "b", "b0", "job", 20'000'000);
  write_session(dir.path() / "b", "b1", "job", 20'000'500);
  write_session(dir.path() / "b", "b2", "job", 30'000'000);
  const fs::path paths[] = {dir.path()};
  const Group group = *load_group("A", paths);
  ASSERT_EQ(group.repeats.size(), 3u);
  EXPECT_EQ(group.repeats[0].sessions, 2u);
  EXPECT_EQ(group.repeats[1].sessions, 2u);
  EXPECT_EQ(group.repeats[2].sessions, 1u);
}

TEST(LoadGroupTest, PassesOfARunAreNoRepeats) {
  TempDir dir;
  write_session(dir.path() / "run", "sampled", "run", 1'000'000, 1);
  write_session(dir.path() / "run", "traced", "run", 9'000'000, 2);
  const fs::path paths[] = {dir.path()};
  const Group group = *load_group("A", paths);
  ASSERT_EQ(group.repeats.size(), 1u);
  EXPECT_EQ(group.repeats[0].sessions, 1u);
  EXPECT_EQ(group.repeats[0].engine, "Trace");
  ASSERT_EQ(group.cut.size(), 1u);
  EXPECT_EQ(group.cut[0], "run ran in 2 passes: pass 2, Trace, is compared");
  const fs::path named[] = {dir.path() / "run" / "sampled"};
  EXPECT_EQ(load_group("A", named)->repeats.at(0).engine, "PcSampling") << "it was named itself";
}

TEST(LoadGroupTest, SaysWhatItCannotRead) {
  TempDir dir;
  write_session(dir.path(), "good", "r1", 1'000'000);
  const fs::path paths[] = {dir.path(), dir.path() / "nothing"};
  const Group group = *load_group("A", paths);
  EXPECT_EQ(group.repeats.size(), 1u);
  ASSERT_EQ(group.problems.size(), 1u);
  EXPECT_NE(group.problems[0].find("there is no session in it"), std::string::npos);
}

// From step `slow` on its kernel takes twice as long.
SessionData session_of_steps(int64_t steps, int64_t slow = INT64_MAX) {
  TestSession session;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t step = session.scope("step", i * 1000, 900);
    session.kernel("gemm", i * 1000 + 100, i < slow ? 100 : 200, {.scope = step});
    session.kernel("relu", i * 1000 + 400, 100, {.scope = step});
  }
  return session.finish();
}

TEST(HalvesTest, AreCutBetweenIterations) {
  const auto halves = halves_of(session_of_steps(43));
  ASSERT_TRUE(halves.is_ok());
  EXPECT_TRUE(halves->first.is_of_one_session);
  for (const Group* half : {&halves->first, &halves->second}) {
    ASSERT_EQ(half->repeats.size(), 7u);
    for (const Repeat& part : half->repeats) {
      EXPECT_EQ((*part.find(Key{}))[Metric::Count], 6);  // of three iterations
    }
  }
  EXPECT_EQ(halves->first.parts,
            "Cut between iterations (scopes: step), 3 to a part; the first is left out.");
}

// What does not fill parts is never a whole half.
TEST(HalvesTest, HoldNearlyAllIterations) {
  for (int64_t steps = 10; steps < 130; ++steps) {
    const auto halves = halves_of(session_of_steps(steps));
    ASSERT_TRUE(halves.is_ok());
    double kernels = 0;
    for (const Group* half : {&halves->first, &halves->second}) {
      EXPECT_GE(half->repeats.size(), kMinRepeats) << steps;
      EXPECT_LE(half->repeats.size(), kPartsOfHalf) << steps;
      for (const Repeat& part : half->repeats) kernels += *(*part.find(Key{}))[Metric::Count];
    }
    const double left_out = static_cast<double>(steps) - kernels / 2;
    EXPECT_LE(left_out, std::min(9.0, 0.14 * static_cast<double>(steps))) << steps;
  }
}

TEST(HalvesTest, OfStepsThatBecomeSlowerDiffer) {
  const auto halves = halves_of(session_of_steps(39, 19));
  ASSERT_TRUE(halves.is_ok());
  EXPECT_TRUE(compare(halves->first, halves->second).has_difference());
}

TEST(HalvesTest, OfFewIterationsHaveFewerParts) {
  const auto halves = halves_of(session_of_steps(13));
  ASSERT_TRUE(halves.is_ok());
  for (const Group* half : {&halves->first, &halves->second}) {
    ASSERT_EQ(half->repeats.size(), 6u);
    for (const Repeat& part : half->repeats) EXPECT_EQ((*part.find(Key{}))[Metric::Count], 2);
  }
  EXPECT_EQ(halves->first.parts,
            "Cut between iterations (scopes: step), 1 to a part; the first is left out.");
}

// Equal times would hold different parts of an iteration, and differ for that.
TEST(HalvesTest, OfVeryFewIterationsAreStillCutBetweenThem) {
  const auto halves = halves_of(session_of_steps(5));
  ASSERT_TRUE(halves.is_ok());
  for (const Group* half : {&halves->first, &halves->second}) {
    ASSERT_EQ(half->repeats.size(), 2u);
    for (const Repeat& part : half->repeats) EXPECT_EQ((*part.find(Key{}))[Metric::Count], 2);
  }
}

TEST(HalvesTest, AreOfEqualTimeWhereNothingRepeats) {
  TestSession session;
  for (int64_t i = 0; i < 10; ++i) {
    for (int64_t k = 0; k <= i; ++k) {
      session.kernel("k" + std::to_string(i * 10 + k), i * 10'000 + k * 100, 50);
    }
  }
  const auto halves = halves_of(session.finish());
  ASSERT_TRUE(halves.is_ok());
  EXPECT_EQ(halves->first.repeats.size(), kPartsOfHalf);
  EXPECT_EQ(halves->second.repeats.size(), kPartsOfHalf);
  EXPECT_NE(halves->first.parts.find("equal times"), std::string::npos) << halves->first.parts;
}

std::string why_not_cut(TestSession& session) {
  return halves_of(session.finish()).status().message();
}

TEST(HalvesTest, SayWhyTheyCannotBeCut) {
  TestSession few;
  few.kernel("gemm", 0, 100);
  EXPECT_EQ(why_not_cut(few),
            "it cannot be cut into halves: no iterations were found, and fewer than 20 kernels are "
            "too few to be cut by time");
  TestSession monitor;
  monitor.data.summary.header.engine = "Monitor";
  EXPECT_EQ(why_not_cut(monitor),
            "it cannot be cut into halves: no iterations were found, and the engine Monitor "
            "records no GPU work");
}

}  // namespace
}  // namespace gpufl::analysis::compare
