// SPDX-License-Identifier: Apache-2.0
#include "net/reply_parser.hpp"

#include <gtest/gtest.h>

namespace gpufl::net {
namespace {

using State = ReplyParser::State;

// Fed whole, byte by byte, and with the end of the connection where that is needed: all must agree.
ReplyParser parsed(std::string_view text, bool closes = false, bool has_body = true) {
  ReplyParser whole(1024, 100, has_body), bytewise(1024, 100, has_body);
  whole.feed(text);
  for (const char c : text) bytewise.feed({&c, 1});
  if (closes) {
    whole.end();
    bytewise.end();
  }
  EXPECT_EQ(whole.state(), bytewise.state()) << text;
  EXPECT_EQ(whole.reason(), bytewise.reason()) << text;
  return whole;
}

TEST(ReplyParser, ReadsStatusFieldsAndBody) {
  ReplyParser parser =
      parsed("HTTP/1.1 429 Too Many\r\nRetry-After: 7\r\nContent-Length: 3\r\n\r\nabc");
  ASSERT_EQ(parser.state(), State::Complete) << parser.reason();
  EXPECT_TRUE(parser.keeps_alive());
  const ClientReply reply = parser.take();
  EXPECT_EQ(reply.status, 429);
  EXPECT_EQ(reply.header("retry-after"), "7");
  EXPECT_EQ(reply.body, "abc");
}

TEST(ReplyParser, ReadsChunks) {
  ReplyParser parser = parsed(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n");
  ASSERT_EQ(parser.state(), State::Complete) << parser.reason();
  EXPECT_EQ(parser.take().body, "abcde");
}

TEST(ReplyParser, ABodyMayEndWithTheConnection) {
  EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\n\r\nabc").state(), State::More);
  ReplyParser parser = parsed("HTTP/1.1 200 OK\r\n\r\nabc", true);
  ASSERT_EQ(parser.state(), State::Complete);
  EXPECT_FALSE(parser.keeps_alive());
  EXPECT_EQ(parser.take().body, "abc");
}

TEST(ReplyParser, PassesOverInterimReplies) {
  ReplyParser parser = parsed("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
  ASSERT_EQ(parser.state(), State::Complete) << parser.reason();
  EXPECT_EQ(parser.take().status, 204);
  ReplyParser waiting(1024, 100, true);
  waiting.feed("HTTP/1.1 100 Continue\r\n\r\n");
  EXPECT_TRUE(waiting.is_before_head());
  waiting.feed("HTTP/1.1 4");
  EXPECT_FALSE(waiting.is_before_head());
  std::string many;
  for (int i = 0; i < 100; ++i) many += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(parsed(many).state(), State::Refused) << "they are bounded, too";
}

TEST(ReplyParser, HeadHasNoBody) {
  EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n", false, false).state(),
            State::Complete);
}

TEST(ReplyParser, MoreThanTheReplyEndsTheConnection) {
  ReplyParser parser = parsed("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\naHTTP/1.1 200 OK");
  ASSERT_EQ(parser.state(), State::Complete);
  EXPECT_FALSE(parser.keeps_alive());
  EXPECT_FALSE(
      parsed("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n").keeps_alive());
  EXPECT_FALSE(parsed("HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n").keeps_alive());
}

TEST(ReplyParser, RefusesWhatIsAmbiguousOrTooLong) {
  const std::string fields(1100, 'a');
  for (const std::string& text : {
           std::string("SSH-2.0-OpenSSH\r\n"),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\na"),
           std::string(
               "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nContent-Length: 101\r\n\r\n"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n65\r\n"),
           std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"),
           "HTTP/1.1 200 OK\r\nX: " + fields,
           "HTTP/1.1 200 OK\r\n\r\n" + fields,
           std::string("HTTP/1.1 101 Switching Protocols\r\n\r\n"),
       }) {
    EXPECT_EQ(parsed(text).state(), State::Refused) << text.substr(0, 80);
  }
}

TEST(ReplyParser, AnEndInTheMiddleIsNoReply) {
  EXPECT_EQ(parsed("", true).reason(), "the connection was closed without an answer");
  EXPECT_EQ(parsed("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab", true).reason(),
            "the connection was closed in the middle of the answer");
}

}  // namespace
}  // namespace gpufl::net
