// SPDX-License-Identifier: Apache-2.0
#include "net/fields.hpp"

#include <gtest/gtest.h>

#include "net/test_client.hpp"

namespace gpufl::net {
namespace {

using Members = std::vector<std::string_view>;

TEST(Fields, SplitsLists) {
  EXPECT_EQ(split_list(" a,b ,, c;q=1\t"), (Members{"a", "b", "c;q=1"}));
  EXPECT_EQ(split_list(R"("a,b", W/"c\",d" ,e)"), (Members{R"("a,b")", R"(W/"c\",d")", "e"}));
  EXPECT_EQ(split_list(R"("open, end)"), (Members{R"("open, end)"}));
  EXPECT_EQ(split_list(R"("a\)"), (Members{R"("a\)"}));
  EXPECT_TRUE(split_list(" ,\t, ").empty());
  EXPECT_TRUE(split_list("").empty());
}

TEST(Fields, ReadsCookies) {
  EXPECT_EQ(parse_cookies("a=1; b = 2 ;c=\"x=y\"; d=;novalue; =5; e=a=b"),
            (NamedTexts{{"a", "1"}, {"b", "2"}, {"c", "x=y"}, {"d", ""}, {"e", "a=b"}}));
  EXPECT_TRUE(parse_cookies("").empty());
  EXPECT_EQ(parse_cookies("a=\""), (NamedTexts{{"a", "\""}}));

  HttpRequest request;
  request.headers = {{"cookie", "a=1"}, {"Cookie", "b=2; a=3"}};
  EXPECT_EQ(cookies_of(request, "a"), (std::vector<std::string>{"1", "3"}));
  EXPECT_EQ(cookies_of(request, "b"), (std::vector<std::string>{"2"}));
  EXPECT_TRUE(cookies_of(request, "A").empty());
}

TEST(Fields, MakesCookies) {
  EXPECT_EQ(set_cookie("session", "abc", "/", 3600, true),
            "session=abc; Path=/; Max-Age=3600; HttpOnly; SameSite=Strict; Secure");
  EXPECT_EQ(set_cookie("session", "", "/", 0, false),
            "session=; Path=/; Max-Age=0; HttpOnly; SameSite=Strict");
  EXPECT_EQ(set_cookie("a", "b", "/c", -1, false), "a=b; Path=/c; HttpOnly; SameSite=Strict");
  EXPECT_EQ(set_cookie("a", "b", "/c", -1, false, SameSite::Lax),
            "a=b; Path=/c; HttpOnly; SameSite=Lax");
}

TEST(Fields, ChoosesTheEncodingThatIsAskedFor) {
  const auto chosen = [](std::string_view value) { return choose_encoding(value); };
  EXPECT_TRUE(accepts_gzip("gzip, deflate, br, zstd"));
  EXPECT_TRUE(accepts_gzip("zstd, x-gzip;q=0.1"));
  EXPECT_TRUE(accepts_gzip("*"));
  EXPECT_FALSE(accepts_gzip(""));
  EXPECT_FALSE(accepts_gzip("zstd"));
  EXPECT_FALSE(accepts_gzip("*, gzip;q=0"));
  EXPECT_EQ(chosen("gzip, deflate, br, zstd"), Encoding::Zstd);
  EXPECT_EQ(chosen("gzip, deflate, br"), Encoding::Gzip);
  EXPECT_EQ(chosen("GZIP"), Encoding::Gzip);
  EXPECT_EQ(chosen("zstd;q=0.5, gzip;q=0.501"), Encoding::Gzip);
  EXPECT_EQ(chosen("zstd ; q=0.5 , gzip ; q=0.5"), Encoding::Zstd);
  EXPECT_EQ(chosen("gzip;q=0.5, identity"), Encoding::Identity);
  EXPECT_EQ(chosen("gzip;q=0.5, identity;q=0.1"), Encoding::Gzip);
  EXPECT_EQ(chosen("zstd;q=0, *"), Encoding::Gzip);
  EXPECT_EQ(chosen("*"), Encoding::Zstd);
  EXPECT_EQ(chosen("*;q=0"), Encoding::Identity);
  EXPECT_EQ(chosen("gzip;q=0"), Encoding::Identity);
  EXPECT_EQ(chosen("gzip;q=0.000"), Encoding::Identity);
  EXPECT_EQ(chosen("gzip;q=1.000"), Encoding::Gzip);
  EXPECT_EQ(chosen("br"), Encoding::Identity);
  EXPECT_EQ(chosen(""), Encoding::Identity);
  for (const char* bad : {"gzip;q=", "gzip;q=2", "gzip;q=-1", "gzip;q=1.1", "gzip;q=0.0001",
                          "gzip;q=x", "gzip;q=1x", "gzip;q=.5", "gzipped", ";q=1"}) {
    EXPECT_EQ(chosen(bad), Encoding::Identity) << bad;
  }
}

TEST(Fields, ComparesEntityTags) {
  const std::string tag = etag_of("content");
  EXPECT_EQ(tag.size(), 18u);
  EXPECT_EQ(tag, etag_of("content"));
  EXPECT_NE(tag, etag_of("Content"));
  EXPECT_TRUE(matches_etag(tag, tag));
  EXPECT_TRUE(matches_etag("\"other\", W/" + tag, tag));
  EXPECT_TRUE(matches_etag(tag, "W/" + tag));
  EXPECT_TRUE(matches_etag("*", tag));
  EXPECT_FALSE(matches_etag("", tag));
  EXPECT_FALSE(matches_etag("\"other\"", tag));
  EXPECT_FALSE(matches_etag(tag.substr(1), tag));
  EXPECT_TRUE(matches_etag(R"("a,b")", R"("a,b")"));
}

TEST(Fields, AnswersWithoutABodyWhatTheClientHas) {
  HttpRequest request;
  HttpReply fresh = with_etag(request, reply_with("text/plain", "body"), "\"1\"");
  EXPECT_EQ(fresh.status, 200);
  EXPECT_EQ(*find_header(fresh.headers, "etag"), "\"1\"");
  EXPECT_EQ(*find_header(fresh.headers, "cache-control"), "no-cache");
  EXPECT_EQ(fresh.body, "body");

  request.headers = {{"If-None-Match", "\"1\""}};
  HttpReply reply = reply_with("text/plain", "body");
  reply.headers = {{"Cache-Control", "max-age=9"}};
  const HttpReply known = with_etag(request, std::move(reply), "\"1\"");
  EXPECT_EQ(known.status, 304);
  EXPECT_EQ(known.headers, (NamedTexts{{"Cache-Control", "max-age=9"}, {"ETag", "\"1\""}}));
  EXPECT_EQ(known.body, "");
  EXPECT_EQ(with_etag(request, problem(404), "\"1\"").status, 404);
}

TEST(Fields, ReusesWhatAClientHas) {
  const std::string page(5000, 'x');
  const auto server = serve([&](const HttpRequest& request) {
    return with_etag(request, text_reply(page), etag_of(page));
  });
  Client client(*server);
  const Response plain = client.ask(get("/"));
  EXPECT_TRUE(plain.has("ETag: " + etag_of(page)));
  // Compressed it is not the same bytes, so the tag says that it is equivalent only.
  const Response packed = client.ask(get("/", "Accept-Encoding: gzip\r\n"));
  EXPECT_TRUE(packed.has("ETag: W/" + etag_of(page)));
  const Response reused =
      client.ask(get("/", "Accept-Encoding: gzip\r\nIf-None-Match: W/" + etag_of(page) + "\r\n"));
  EXPECT_EQ(reused.status, 304);
  EXPECT_EQ(reused.head.find("Content-Length"), std::string::npos);
  EXPECT_TRUE(reused.has("Vary: Accept-Encoding"));
  EXPECT_EQ(client.ask(get("/")).body, page) << "the connection is still in order";
}

}  // namespace
}  // namespace gpufl::net
