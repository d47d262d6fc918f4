// SPDX-License-Identifier: Apache-2.0
#include "net/request_parser.hpp"

#include <gtest/gtest.h>

namespace gpufl::net {
namespace {

using namespace std::string_view_literals;
using State = RequestParser::State;

HttpLimits small_limits() {
  HttpLimits limits;
  limits.target_bytes = 100;
  limits.header_bytes = 400;
  limits.body_bytes = 50;
  return limits;
}

struct Outcome {
  State state;
  int refusal;
  std::string method, path, body;
  std::string left;  // of the input

  bool operator==(const Outcome&) const = default;
};

// In pieces of `step` bytes, as they might arrive.
Outcome parse(std::string_view bytes, size_t step) {
  const HttpLimits limits = small_limits();
  RequestParser parser(limits);
  std::string in;
  while (true) {
    in.erase(0, parser.feed(in));
    const bool is_over = parser.state() == State::Complete || parser.state() == State::Refused;
    if (is_over || bytes.empty()) break;
    in += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
  }
  const HttpRequest& request = parser.request();
  return {parser.state(), parser.refusal(), request.method,
          request.path,   request.body,     in + std::string(bytes)};
}

Outcome parse(std::string_view bytes) {
  const Outcome whole = parse(bytes, bytes.size() + 1);
  for (const size_t step : {1, 2, 3, 7, 50}) {
    const Outcome pieces = parse(bytes, step);
    EXPECT_EQ(pieces.state, whole.state) << "in steps of " << step << ": " << bytes;
    EXPECT_EQ(pieces.body.size(), whole.body.size()) << "in steps of " << step << ": " << bytes;
    EXPECT_EQ(pieces.refusal, whole.refusal) << "in steps of " << step << ": " << bytes;
    EXPECT_TRUE(whole.state != State::Complete || pieces == whole) << "in steps of " << step;
  }
  return whole;
}

int refusal(std::string_view bytes) {
  const Outcome outcome = parse(bytes);
  return outcome.state == State::Refused ? outcome.refusal : 0;
}

std::string post(std::string_view fields, std::string_view body = {}) {
  return "POST /a HTTP/1.1\r\nHost: a\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

TEST(RequestParser, ReadsARequestAndNoFurther) {
  EXPECT_EQ(parse("GET /a?b=1 HTTP/1.1\r\nHost: a\r\n\r\nGET /next"),
            (Outcome{State::Complete, 0, "GET", "/a", "", "GET /next"}));
  EXPECT_EQ(parse(post("Content-Length: 5\r\n", "helloGET ")),
            (Outcome{State::Complete, 0, "POST", "/a", "hello", "GET "}));
  EXPECT_EQ(parse(post("Transfer-Encoding: Chunked\r\n",
                       "3\r\nabc\r\nA;x=\"y\"\r\n0123456789\r\n0\r\n\r\nGET ")),
            (Outcome{State::Complete, 0, "POST", "/a", "abc0123456789", "GET "}));
  EXPECT_EQ(parse("\r\n\r\nGET / HTTP/1.0\r\n\r\n").state, State::Complete);
}

TEST(RequestParser, WaitsForTheRest) {
  EXPECT_EQ(parse("").state, State::Head);
  EXPECT_EQ(parse("GET / HTTP/1.1\r\nHost: a\r\n").state, State::Head);
  EXPECT_EQ(parse(post("Content-Length: 5\r\n", "hell")).state, State::Body);
  EXPECT_EQ(parse(post("Transfer-Encoding: chunked\r\n", "3\r\nabc\r\n")).state, State::Body);
}

TEST(RequestParser, RefusesALengthThatCanBeReadTwoWays) {
  EXPECT_EQ(refusal(post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(refusal(post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n")), 400);
  EXPECT_EQ(refusal(post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc")), 400);
  EXPECT_EQ(refusal(post("Content-Length: 3\r\nContent-Length: 4\r\n", "abcd")), 400);
  EXPECT_EQ(refusal(post("Content-Length: 0\r\nContent-Length: 0\r\n")), 400);
  EXPECT_EQ(refusal(post("Content-Length: 99999\r\nContent-Length: 99999\r\n")), 400);
  for (const char* bad :
       {"3, 3", "3,4", "+3", "-3", "0x3", "3 3", "", "3;", "three", "99999999999999999999999999"}) {
    EXPECT_EQ(refusal(post("Content-Length: " + std::string(bad) + "\r\n", "abc")), 400) << bad;
  }
  EXPECT_EQ(refusal(post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")), 400);
  EXPECT_EQ(refusal("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"), 400);
  for (const char* unknown : {"gzip", "gzip, chunked", "chunked, gzip", "identity", "xchunked"}) {
    EXPECT_EQ(refusal(post("Transfer-Encoding: " + std::string(unknown) + "\r\n")), 501) << unknown;
  }
}

TEST(RequestParser, RefusesMalformedHeads) {
  for (const std::string bad : {"GET / HTTP/1.1\r\nHost: a\r\nX: 1\r\n 2\r\n\r\n",  // continued
                                "GET / HTTP/1.1\r\nHost: a\r\n\tX: 1\r\n\r\n",      // continued
                                "GET / HTTP/1.1\r\nHost : a\r\n\r\n",  // space before the colon
                                "GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n",   //
                                "GET / HTTP/1.1\r\nHost: a\r\n: no name\r\n\r\n",  //
                                "GET / HTTP/1.1\r\nHost: a\r\nX: \x01\r\n\r\n",    //
                                "GET / HTTP/1.1\r\nHost: a\r\nX: a\rb\r\n\r\n",    //
                                "GET / HTTP/1.1\r\nHost: a\nX: b\r\n\r\n",       // a bare line feed
                                "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",  //
                                "GET / HTTP/1.1\r\n\r\n",                        // no host
                                "GET  / HTTP/1.1\r\nHost: a\r\n\r\n",            //
                                "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n",          //
                                "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n",          //
                                "GET /../a HTTP/1.1\r\nHost: a\r\n\r\n",         //
                                "GET /a?%1 HTTP/1.1\r\nHost: a\r\n\r\n",         //
                                "GET /a\x01 HTTP/1.1\r\nHost: a\r\n\r\n",        //
                                "CONNECT a:80 HTTP/1.1\r\nHost: a\r\n\r\n",      //
                                "G(T / HTTP/1.1\r\nHost: a\r\n\r\n",             //
                                "GET /\r\n\r\n",                                 //
                                "nonsense\r\n\r\n",
                                "\x16\x03\x01\x02",
                                "\n\n",
                                " GET / HTTP/1.1\r\n\r\n"}) {
    EXPECT_EQ(refusal(bad), 400) << bad;
  }
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nX: a\0b\r\n\r\n"sv), 400);
  EXPECT_EQ(refusal("PRI * HTTP/2.0\r\n\r\n"), 505);
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\nHost: a\r\nExpect: coffee\r\n\r\n"), 417);
}

TEST(RequestParser, RefusesWhatIsTooLong) {
  const std::string path = "/" + std::string(99, 'a');
  EXPECT_EQ(refusal("GET " + path + " HTTP/1.1\r\nHost: a\r\n\r\n"), 0);
  EXPECT_EQ(refusal("GET " + path + "a HTTP/1.1\r\nHost: a\r\n\r\n"), 414);
  EXPECT_EQ(refusal("GET /" + std::string(300, 'a')), 414) << "before its end is known";
  EXPECT_EQ(refusal(post("X: " + std::string(400, 'a') + "\r\n")), 431);
  EXPECT_EQ(refusal("GET / HTTP/1.1\r\nX: " + std::string(400, 'a')), 431);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "X:1\r\n";
  EXPECT_EQ(refusal(post(many)), 431);
  std::string blank;
  for (int i = 0; i < 300; ++i) blank += "\r\n";
  EXPECT_EQ(refusal(blank), 431);
  EXPECT_EQ(refusal(std::string(40, 'A') + " / HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(RequestParser, RefusesBodiesThatAreTooLong) {
  EXPECT_EQ(refusal(post("Content-Length: 50\r\n", std::string(50, 'b'))), 0);
  EXPECT_EQ(refusal(post("Content-Length: 51\r\n")), 413) << "before it is sent";
  EXPECT_EQ(refusal(post("Transfer-Encoding: chunked\r\n", "33\r\n" + std::string(51, 'b'))), 413);
  std::string chunks;
  for (int i = 0; i < 51; ++i) chunks += "1\r\nb\r\n";
  EXPECT_EQ(refusal(post("Transfer-Encoding: chunked\r\n", chunks)), 413);
  EXPECT_EQ(refusal(post("Transfer-Encoding: chunked\r\n", "1;" + std::string(500, 'e'))), 400);
  EXPECT_EQ(
      refusal(post("Transfer-Encoding: chunked\r\n", "0\r\nX: " + std::string(500, 'e') + "\r\n")),
      400);
}

TEST(RequestParser, RefusesMalformedChunks) {
  for (const char* bad :
       {"x\r\nabc\r\n", "3abc\r\n", "-1\r\n\r\n", "3\r\nabcd\r\n0\r\n\r\n", "fffffffffffffffff\r\n",
        " 3\r\nabc\r\n", "\r\n", "3 \r\nabc\r\n", "0x3\r\nabc\r\n", "+3\r\nabc\r\n",
        "3;a\rb\r\nabc\r\n", "3\r\nabc\n0\r\n\r\n", "0\r\nX: 1\n\r\n"}) {
    const int status = refusal(post("Transfer-Encoding: chunked\r\n", bad));
    EXPECT_TRUE(status == 400 || status == 413) << bad << ": " << status;
  }
}

TEST(RequestParser, ABareLineFeedEndsNothing) {
  EXPECT_EQ(refusal(post("Transfer-Encoding: chunked\r\n", "3\nabc\n0\n\n")), 400);
  EXPECT_EQ(parse("GET / HTTP/1.1\nHost: a\n\n").state, State::Head);
}

TEST(RequestParser, FieldsBehindABodyAreIgnored) {
  const HttpLimits limits = small_limits();
  RequestParser parser(limits);
  const std::string text =
      post("Transfer-Encoding: chunked\r\n", "0\r\nAuthorization: late\r\n\r\n");
  EXPECT_EQ(parser.feed(text), text.size());
  EXPECT_EQ(parser.state(), State::Complete);
  EXPECT_FALSE(parser.request().has_header("Authorization"));
}

// Else a check of Host could be passed with the one, and the request be meant for the other.
TEST(RequestParser, TheHostOfAWholeAddressIsTheOneThatCounts) {
  const HttpLimits limits = small_limits();
  const auto host = [&](std::string_view text) {
    RequestParser parser(limits);
    parser.feed(text);
    EXPECT_EQ(parser.state(), State::Complete) << text;
    return parser.request().header("Host");
  };
  EXPECT_EQ(host("GET http://evil.example/a HTTP/1.1\r\nhost: a\r\nX: 1\r\n\r\n"), "evil.example");
  EXPECT_EQ(host("GET http://b:80 HTTP/1.0\r\n\r\n"), "b:80");
  EXPECT_EQ(host("GET / HTTP/1.1\r\nHost: a\r\n\r\n"), "a");
  EXPECT_EQ(refusal("GET http://a@b/ HTTP/1.1\r\nHost: a\r\n\r\n"), 400);
}

TEST(RequestParser, KnowsWhetherTheConnectionStays) {
  const HttpLimits limits = small_limits();
  const auto keeps = [&](std::string_view text) {
    RequestParser parser(limits);
    parser.feed(text);
    EXPECT_EQ(parser.state(), State::Complete) << text;
    return parser.keeps_alive();
  };
  EXPECT_TRUE(keeps("GET / HTTP/1.1\r\nHost: a\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.1\r\nHost: a\r\nConnection: x, Close\r\n\r\n"));
  EXPECT_FALSE(keeps("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n"));
}

}  // namespace
}  // namespace gpufl::net
