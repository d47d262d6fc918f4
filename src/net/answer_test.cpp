// SPDX-License-Identifier: Apache-2.0
#include "net/answer.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/json.hpp"

namespace gpufl::net {
namespace {

bool has(const Answer& answer, std::string_view line) {
  return answer.head.find("\r\n" + std::string(line) + "\r\n") != std::string::npos;
}

TEST(Answer, HandlersDecideAboutCachesAndNotAboutFraming) {
  HttpReply reply = reply_with("text/plain", "body");
  reply.headers = {
      {"cache-control", "max-age=1"}, {"Content-Length", "999"}, {"transfer-encoding", "chunked"},
      {"Connection", "upgrade"},      {"Set-Cookie", "a=1"},     {"Set-Cookie", "b=2"}};
  const Answer answer = make_answer(std::move(reply), HttpRequest{}, true);
  EXPECT_TRUE(has(answer, "cache-control: max-age=1"));
  EXPECT_EQ(answer.head.find("no-store"), std::string::npos);
  EXPECT_TRUE(has(answer, "Content-Length: 4"));
  EXPECT_EQ(answer.head.find("999"), std::string::npos);
  EXPECT_EQ(answer.head.find("chunked"), std::string::npos);
  EXPECT_EQ(answer.head.find("Connection"), std::string::npos);
  EXPECT_TRUE(has(answer, "Set-Cookie: a=1") && has(answer, "Set-Cookie: b=2"));
}

TEST(Answer, EveryStatusHasAName) {
  std::vector<int> all = {100, 101};
  const auto add = [&](int first, int last) {
    for (int status = first; status <= last; ++status) all.push_back(status);
  };
  add(200, 206);
  add(300, 305);
  add(307, 308);
  add(400, 417);
  add(421, 422);
  add(426, 426);
  add(500, 505);
  for (const int status : all) EXPECT_NE(reason_of(status), "Unknown") << status;
  EXPECT_TRUE(make_answer(problem(421), HttpRequest{}, true)
                  .head.starts_with("HTTP/1.1 421 Misdirected Request\r\n"));
}

TEST(Answer, NoHandlerWritesAnotherAnswer) {
  const auto status = [](std::string name, std::string value, std::string type = "text/plain") {
    HttpReply reply = reply_with(std::move(type), "body");
    reply.headers = {{std::move(name), std::move(value)}};
    return make_answer(std::move(reply), HttpRequest{}, true).status;
  };
  EXPECT_EQ(status("X-Fine", "caf\xc3\xa9\t!"), 200);
  EXPECT_EQ(status("X", "a\r\nSet-Cookie: b"), 500);
  EXPECT_EQ(status("X", "a\nb"), 500);
  EXPECT_EQ(status("X: a\r\nY", "b"), 500);
  EXPECT_EQ(status("", "b"), 500);
  EXPECT_EQ(status("X", "a", "text/plain\r\nX: b"), 500);
  for (const int wrong : {0, 100, 199, 600, -1}) {
    EXPECT_EQ(make_answer(reply_with("text/plain", "", wrong), HttpRequest{}, true).status, 500);
  }
  HttpReply events;
  events.headers = {{"X", "\n"}};
  events.events = std::make_shared<EventChannel>();
  const auto channel = events.events;
  EXPECT_EQ(make_answer(std::move(events), HttpRequest{}, true).status, 500);
  EXPECT_TRUE(channel->is_closed());
}

TEST(Answer, SomeHaveNoBody) {
  for (const int status : {204, 304}) {
    const Answer answer = make_answer(reply_with("", "body", status), HttpRequest{}, true);
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.head.find("Content-Length"), std::string::npos);
  }
}

TEST(Answer, ProblemsSayWhat) {
  const HttpReply reply = problem(404, "No such \"session\"", "There is no session 'a\x01'.");
  EXPECT_EQ(reply.content_type, "application/problem+json");
  const auto document = base::Json::parse(reply.body);
  ASSERT_TRUE(document);
  EXPECT_EQ((*document)["title"].as_string(), "No such \"session\"");
  EXPECT_EQ((*document)["status"].as_integer(), 404);
  EXPECT_EQ((*document)["detail"].as_string(), "There is no session 'a\x01'.");
  EXPECT_EQ(problem(404).body, "{\"title\":\"Not Found\",\"status\":404}\n");
  EXPECT_EQ(reason_of(299), "Unknown");
}

TEST(Answer, WritesDates) {
  EXPECT_EQ(http_date(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(http_date(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(http_date(4102444799), "Thu, 31 Dec 2099 23:59:59 GMT");
}

}  // namespace
}  // namespace gpufl::net
