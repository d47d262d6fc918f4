// SPDX-License-Identifier: Apache-2.0
#include "net/byte_range.hpp"

#include <gtest/gtest.h>

#include <string>

namespace gpufl::net {
namespace {

using Kind = ByteRange::Kind;

HttpRequest asking(std::string range) {
  HttpRequest request;
  request.headers = {{"Range", std::move(range)}};
  return request;
}

// "first+bytes", "whole" or "impossible".
std::string of(std::string range, uint64_t size = 1000) {
  const ByteRange asked = asked_range(asking(std::move(range)), size, "");
  if (asked.kind == Kind::Impossible) return "impossible";
  if (asked.kind == Kind::Part)
    return std::to_string(asked.first) + "+" + std::to_string(asked.bytes);
  EXPECT_EQ(asked.first, 0U);
  EXPECT_EQ(asked.bytes, size);
  return "whole";
}

TEST(ByteRange, IsTheFirstTheLastOrSomeBetween) {
  EXPECT_EQ(of("bytes=0-99"), "0+100");
  EXPECT_EQ(of("Bytes=999-999"), "999+1");
  EXPECT_EQ(of("bytes=500-"), "500+500");
  EXPECT_EQ(of("bytes=500-5000"), "500+500");
  EXPECT_EQ(of("bytes=-1"), "999+1");
  EXPECT_EQ(of("bytes=-5000"), "0+1000");
  EXPECT_EQ(of("bytes=1-99999999999999999999999"), "1+999");
}

TEST(ByteRange, BeyondTheEndThereIsNothing) {
  for (const char* range :
       {"bytes=1000-", "bytes=1000-1001", "bytes=99999999999999999999-", "bytes=-0"}) {
    EXPECT_EQ(of(range), "impossible") << range;
  }
  EXPECT_EQ(of("bytes=0-", 0), "impossible");
  EXPECT_EQ(of("bytes=-1", 0), "impossible");
}

TEST(ByteRange, WhatIsNotUnderstoodIsTheWhole) {
  for (const char* range :
       {"", "bytes", "bytes=", "bytes=-", "bytes=5", "bytes=9-5", "bytes=a-b", "bytes=1-2,4-5",
        "bytes=1-2, 4-5", "bytes=--1", "bytes=+1-2", "bytes= 1-2", "rows=1-2"}) {
    EXPECT_EQ(of(range), "whole") << range;
  }
  HttpRequest head = asking("bytes=0-1");
  head.method = "HEAD";
  EXPECT_EQ(asked_range(head, 10, "").kind, Kind::Whole);
}

TEST(ByteRange, IfRangeWantsTheSameBytes) {
  const auto kind = [](const char* if_range, const char* etag) {
    HttpRequest request = asking("bytes=0-1");
    request.headers.emplace_back("If-Range", if_range);
    return asked_range(request, 10, etag).kind;
  };
  EXPECT_EQ(kind("\"a\"", "\"a\""), Kind::Part);
  EXPECT_EQ(kind("\"b\"", "\"a\""), Kind::Whole);
  EXPECT_EQ(kind("W/\"a\"", "\"a\""), Kind::Whole);
  EXPECT_EQ(kind("Sun, 06 Nov 1994 08:49:37 GMT", "\"a\""), Kind::Whole);
  EXPECT_EQ(kind("", ""), Kind::Whole);
}

TEST(ByteRange, RepliesSayWhatTheyHave) {
  const auto field = [](const HttpReply& reply, const char* name) {
    const std::string* value = find_header(reply.headers, name);
    return value == nullptr ? std::string() : *value;
  };
  const HttpReply part = with_range(reply_with("t", "23"), {Kind::Part, 2, 2}, 10);
  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "23");
  EXPECT_EQ(field(part, "Content-Range"), "bytes 2-3/10");
  const HttpReply whole = with_range(reply_with("t", "0123456789"), {Kind::Whole, 0, 10}, 10);
  EXPECT_EQ(whole.status, 200);
  EXPECT_EQ(field(whole, "Accept-Ranges"), "bytes");
  EXPECT_EQ(field(whole, "Content-Range"), "");
  const HttpReply impossible = with_range(reply_with("t", ""), {Kind::Impossible}, 10);
  EXPECT_EQ(impossible.status, 416);
  EXPECT_EQ(impossible.content_type, "application/problem+json");
  EXPECT_EQ(field(impossible, "Content-Range"), "bytes */10");
  EXPECT_EQ(with_range(reply_with("t", "", 304), {Kind::Part, 2, 2}, 10).status, 304);
}

}  // namespace
}  // namespace gpufl::net
