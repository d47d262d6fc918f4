// SPDX-License-Identifier: Apache-2.0
#include "analysis/session/passes.hpp"

#include <gtest/gtest.h>

namespace gpufl::analysis {
namespace {

using format::SessionHeader;
using Places = std::vector<size_t>;

const std::vector<std::string> kEngines = {"PcSampling", "Trace", "RangeProfiler"};

// Of the pass of that number, from 1, with the engine that was asked for in it.
SessionHeader session(int64_t pass, std::string command, int64_t start_ns) {
  SessionHeader header;
  header.session_id = std::to_string(start_ns);
  header.start_wall_ns = start_ns;
  header.process = "train";
  header.command = std::move(command);
  header.pass = pass;
  header.passes = kEngines;
  header.engine = kEngines[static_cast<size_t>(pass - 1)];
  return header;
}

TEST(Passes, AreThoseOfTheList) {
  EXPECT_TRUE(is_pass(session(3, "", 0)));
  EXPECT_FALSE(is_pass(SessionHeader()));
  SessionHeader beyond = session(3, "", 0);
  beyond.pass = 4;
  EXPECT_FALSE(is_pass(beyond));
}

TEST(Passes, ProcessesAreMatchedByCommandAndOrder) {
  const std::vector<SessionHeader> headers = {session(1, "a", 1),  session(1, "b", 2),
                                              session(1, "a", 3),  session(2, "b", 10),
                                              session(2, "a", 11), session(2, "a", 12)};
  const auto processes = match_processes(headers);
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[0], (ProcessSessions{0, 4, std::nullopt}));
  EXPECT_EQ(processes[1], (ProcessSessions{1, 3, std::nullopt}));
  EXPECT_EQ(processes[2], (ProcessSessions{2, 5, std::nullopt}));
}

TEST(Passes, ThoseWithOtherArgumentsAreMatchedByOrder) {
  const std::vector<SessionHeader> headers = {
      session(1, "train pipe=5", 1), session(1, "train", 2), session(2, "train", 10),
      session(2, "train pipe=7", 11), session(2, "train pipe=8", 12)};
  const auto processes = match_processes(headers);
  ASSERT_EQ(processes.size(), 3u);
  EXPECT_EQ(processes[0], (ProcessSessions{0, 3, std::nullopt}));
  EXPECT_EQ(processes[1], (ProcessSessions{1, 2, std::nullopt}));
  EXPECT_EQ(processes[2], (ProcessSessions{std::nullopt, 4, std::nullopt}));
}

TEST(Passes, RanksAreNeverMixed) {
  std::vector<SessionHeader> headers = {session(1, "a", 1), session(1, "a", 2), session(2, "a", 10),
                                        session(2, "a", 11)};
  headers[0].rank = headers[3].rank = 1;
  headers[1].rank = headers[2].rank = 0;
  const auto processes = match_processes(headers);
  ASSERT_EQ(processes.size(), 2u);
  EXPECT_EQ(processes[0], (ProcessSessions{1, 2, std::nullopt}));
  EXPECT_EQ(processes[1], (ProcessSessions{0, 3, std::nullopt}));
}

TEST(Passes, WhatStandsInForSessionsIsNoProcess) {
  std::vector<SessionHeader> headers = {session(1, "train", 1), session(2, "sh -c train", 10)};
  headers[1].process = "sh";
  headers[1].engine = "Monitor";
  headers[1].backend = "none";
  const auto processes = match_processes(headers);
  ASSERT_EQ(processes.size(), 1u);
  EXPECT_EQ(processes[0], (ProcessSessions{0, 1, std::nullopt}));
  EXPECT_EQ(match_processes(std::vector{headers[1]}).size(), 1u) << "there is nothing else";
}

TEST(Passes, TheCheapestThatRecordedComesFirst) {
  std::vector<SessionHeader> headers = {session(1, "", 1), session(2, "", 2), session(3, "", 3)};
  headers[2].engine = "Trace";  // fell back
  EXPECT_EQ(passes_by_cost(headers), (Places{1, 2, 0}));
  headers[1].engine = "Monitor";  // records no GPU work
  EXPECT_EQ(passes_by_cost(headers), (Places{2, 0, 1}));
  EXPECT_TRUE(passes_by_cost(std::vector<SessionHeader>(1)).empty());
}

}  // namespace
}  // namespace gpufl::analysis
