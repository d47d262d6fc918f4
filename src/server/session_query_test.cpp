// SPDX-License-Identifier: Apache-2.0
#include "server/session_query.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

namespace gpufl::server {
namespace {

std::vector<SessionPtr> some_sessions() {
  std::vector<SessionPtr> sessions;
  for (int i = 0; i < 25; ++i) {
    auto one = std::make_shared<SessionEntry>();
    one->id = "s" + std::to_string(i);
    one->run = i % 2 == 0 ? "even" : "odd";
    one->name = one->id;
    one->listed.state = i == 24 ? "live" : "complete";
    one->listed.bytes = static_cast<uint64_t>(i * 7 % 5);
    if (i % 3 != 0) one->listed.duration_ns = i * 1000;
    format::SessionHeader& header = one->listed.found.header;
    header.app_name = i < 5 ? "GPT" : "resnet";
    header.host = i % 5 == 0 ? "node0" : "node1";
    header.engine = "Trace";
    header.start_wall_ns = 1'000'000 + i / 2;  // some begin at once
    sessions.push_back(std::move(one));
  }
  return sessions;
}

std::vector<std::string> ids_of(const std::vector<SessionPtr>& sessions) {
  std::vector<std::string> ids;
  for (const SessionPtr& session : sessions) ids.push_back(session->id);
  return ids;
}

size_t matches(const SessionQuery& query) { return choose(some_sessions(), query)->matches; }

TEST(SessionQuery, FindsByTextAndFilter) {
  EXPECT_EQ(matches({}), 25U);
  EXPECT_EQ(matches({.text = "gpt"}), 5U);
  EXPECT_EQ(matches({.text = "S24"}), 1U);
  EXPECT_EQ(matches({.text = "nothing"}), 0U);
  EXPECT_EQ(matches({.state = "live"}), 1U);
  EXPECT_EQ(matches({.host = "node0"}), 5U);
  EXPECT_EQ(matches({.host = "node0", .app = "GPT"}), 1U);
  EXPECT_EQ(matches({.engine = "Monitor"}), 0U);
  EXPECT_EQ(matches({.run = "odd"}), 12U);
}

TEST(SessionQuery, PagesAreTheWholeInEveryOrder) {
  for (const std::string& sort : session_sorts()) {
    SessionQuery query{.sort = sort, .limit = 1000};
    const auto whole = ids_of(choose(some_sessions(), query)->sessions);
    query.limit = 4;
    std::vector<std::string> pages;
    do {
      const auto page = choose(some_sessions(), query);
      ASSERT_TRUE(page);
      EXPECT_EQ(page->matches, 25U);
      for (const SessionPtr& session : page->sessions) pages.push_back(session->id);
      query.cursor = page->next_cursor;
    } while (!query.cursor.empty());
    EXPECT_EQ(pages, whole) << sort;
  }
}

TEST(SessionQuery, OrderIsWhatIsAskedFor) {
  const auto first = [](const char* sort) {
    return choose(some_sessions(), {.sort = sort, .limit = 1})->sessions.front()->id;
  };
  EXPECT_EQ(first("-start"), "s24");
  EXPECT_EQ(first("start"), "s0");
  EXPECT_EQ(first("-duration"), "s23");
  EXPECT_EQ(first("-bytes"), "s7");  // of those with most, the last by id
}

TEST(SessionQuery, WhatComesOrGoesMeanwhileHidesAndRepeatsNothing) {
  auto sessions = some_sessions();
  SessionQuery query{.limit = 10};
  const auto first = choose(sessions, query);
  query.cursor = first->next_cursor;
  // A newer one appears, and the one at which the page ended goes.
  auto newer = std::make_shared<SessionEntry>(*sessions.front());
  newer->id = "newer";
  newer->listed.found.header.start_wall_ns = 2'000'000;
  std::erase_if(sessions, [&](const SessionPtr& one) { return one == first->sessions.back(); });
  sessions.push_back(newer);
  const auto second = ids_of(choose(sessions, query)->sessions);
  for (const SessionPtr& session : first->sessions) {
    EXPECT_EQ(std::count(second.begin(), second.end(), session->id), 0);
  }
  EXPECT_EQ(second.size(), 10U);
  EXPECT_EQ(std::count(second.begin(), second.end(), "newer"), 0);
}

TEST(SessionQuery, ACursorOfNobodyIsRefused) {
  for (const char* cursor : {"x", "zz", "0", "00", "6g", "616263"}) {
    EXPECT_FALSE(choose(some_sessions(), {.cursor = cursor})) << cursor;
  }
}

}  // namespace
}  // namespace gpufl::server
