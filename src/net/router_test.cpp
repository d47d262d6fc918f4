// SPDX-License-Identifier: Apache-2.0
#include "net/router.hpp"

#include <gtest/gtest.h>

#include "net/test_client.hpp"

namespace gpufl::net {
namespace {

Router::Handler named(const std::string& name) {
  return [name](const HttpRequest&, const PathParameters& path) {
    return text_reply(name + ":" + path["id"] + ":" + path["rest"]);
  };
}

Router routes() {
  Router router;
  router.get("/", named("root"))
      .get("/sessions", named("list"))
      .get("/sessions/{id}", named("one"))
      .get("/sessions/newest", named("newest"))
      .post("/sessions/{name}", named("rename"))
      .add("DELETE", "/sessions/{id}/tracks/{track}", named("track"))
      .get("/files/{rest*}", named("files"))
      .post("/files/upload", named("upload"));
  return router;
}

HttpReply ask_router(std::string_view method, std::string_view path) {
  HttpRequest request;
  request.method = method;
  request.path = path;
  return routes().answer(request);
}

TEST(Router, FindsTheHandler) {
  EXPECT_EQ(ask_router("GET", "/").body, "root::");
  EXPECT_EQ(ask_router("GET", "/sessions").body, "list::");
  EXPECT_EQ(ask_router("GET", "/sessions/7").body, "one:7:");
  EXPECT_EQ(ask_router("POST", "/sessions/7").body, "rename::");
  EXPECT_EQ(ask_router("DELETE", "/sessions/a b/tracks/c").body, "track:a b:");
  EXPECT_EQ(ask_router("GET", "/files/a/b.js").body, "files::a/b.js");
  EXPECT_EQ(ask_router("GET", "/files/").body, "files::");
  EXPECT_EQ(ask_router("GET", "/files").body, "files::");
}

TEST(Router, PrefersTheMoreSpecialPattern) {
  EXPECT_EQ(ask_router("GET", "/sessions/newest").body, "newest::");
  EXPECT_EQ(ask_router("POST", "/files/upload").body, "upload::");
  EXPECT_EQ(ask_router("GET", "/files/upload").status, 405) << "it is not a file";
}

TEST(Router, SaysWhatItDoesNotServe) {
  for (const char* path :
       {"/other", "/sessions/", "/sessions/1/", "/sessions/1/tracks", "/Sessions"}) {
    const HttpReply reply = ask_router("GET", path);
    EXPECT_EQ(reply.status, 404) << path;
    EXPECT_EQ(reply.content_type, "application/problem+json");
  }
  const HttpReply reply = ask_router("PUT", "/sessions/7");
  EXPECT_EQ(reply.status, 405);
  EXPECT_EQ(*find_header(reply.headers, "Allow"), "OPTIONS, GET, HEAD, POST");
}

TEST(Router, ServesHeadAndOptions) {
  EXPECT_EQ(ask_router("HEAD", "/sessions/7").body, "one:7:") << "the server leaves the body out";
  EXPECT_EQ(ask_router("HEAD", "/sessions/7/tracks/1").status, 405);
  const HttpReply options = ask_router("OPTIONS", "/sessions/7");
  EXPECT_EQ(options.status, 204);
  EXPECT_EQ(options.headers, (NamedTexts{{"Allow", "OPTIONS, GET, HEAD, POST"}}));
  EXPECT_EQ(ask_router("OPTIONS", "*").status, 204);
  EXPECT_EQ(ask_router("OPTIONS", "/other").status, 404);
}

TEST(Router, IsAServersHandler) {
  const auto server =
      serve([router = routes()](const HttpRequest& request) { return router.answer(request); });
  Client client(*server);
  EXPECT_EQ(client.ask(get("/sessions/a%2Eb")).body, "one:a.b:");
  EXPECT_EQ(client.ask("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n").status, 204);
  const Response options = client.ask("OPTIONS / HTTP/1.1\r\nHost: a\r\nOrigin: http://b\r\n\r\n");
  EXPECT_TRUE(options.has("Allow: OPTIONS, GET, HEAD"));
  EXPECT_EQ(options.head.find("Access-Control"), std::string::npos);
  EXPECT_EQ(client.ask("HEAD /sessions HTTP/1.1\r\nHost: a\r\n\r\n").status, 200);
  EXPECT_EQ(client.ask(get("/sessions")).body, "list::");
}

}  // namespace
}  // namespace gpufl::net
