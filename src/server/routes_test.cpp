// SPDX-License-Identifier: Apache-2.0
#include "server/routes.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gpufl::server {
namespace {

using base::Json;

Routes small_table() {
  Routes routes;
  routes.add({.pattern = "/api/v1/things/{thing}",
              .id = "show_thing",
              .summary = "A thing",
              .parameters = {integer("limit", 1, 10, 5, "How many."),
                             choice("sort", {"up", "down"}, "up", "The order."),
                             text_parameter("q", "A part of it."),
                             required_text("must", "Has to be there.")},
              .answers = {{.description = "It.", .schema = R"({"type":"object"})"}},
              .handler = [](const Call& call) {
                return net::reply_with("text/plain", call.path("thing") + " " +
                                                         call.text("q", "-") + " " +
                                                         std::to_string(call.integer("limit", 5)));
              }});
  routes.add({.method = "PUT",
              .pattern = "/api/v1/things/{thing}",
              .id = "put_thing",
              .summary = "Replaces it",
              .answers = {{.description = "It."}},
              .body_schema = R"({"type":"object"})",
              .handler = [](const Call&) { return net::reply_with("text/plain", "put"); }});
  routes.add({.pattern = "/healthz",
              .id = "health",
              .summary = "Health",
              .is_open = true,
              .handler = [](const Call&) { return net::reply_with("text/plain", "ok"); }});
  return routes;
}

net::HttpReply ask(const Routes& routes, net::NamedTexts query, std::string method = "GET") {
  net::HttpRequest request;
  request.method = std::move(method);
  request.path = "/api/v1/things/x";
  request.query = std::move(query);
  return routes.answer(request);
}

TEST(Routes, HandlersGetWhatTheTableAllows) {
  const Routes routes = small_table();
  EXPECT_EQ(ask(routes, {{"must", "1"}}).body, "x - 5");
  EXPECT_EQ(ask(routes, {{"must", "1"}, {"q", "a b"}, {"limit", "10"}}).body, "x a b 10");
  EXPECT_EQ(ask(routes, {}, "PUT").body, "put");
  EXPECT_EQ(ask(routes, {}, "DELETE").status, 405);
}

TEST(Routes, EverythingElseIsRefusedWithAReason) {
  const Routes routes = small_table();
  const auto refused = [&](net::NamedTexts query, std::string_view says) {
    const net::HttpReply reply = ask(routes, std::move(query));
    EXPECT_EQ(reply.status, 400) << reply.body;
    EXPECT_EQ(reply.content_type, "application/problem+json");
    EXPECT_NE(reply.body.find(says), std::string::npos) << reply.body;
  };
  refused({}, "must is required");
  refused({{"must", "1"}, {"limt", "3"}}, "there is no parameter 'limt'");
  for (const char* wrong : {"0", "11", "-1", "", "3x", " 3", "1e1", "99999999999999999999"}) {
    refused({{"must", "1"}, {"limit", wrong}}, "limit is a whole number from 1 to 10");
  }
  refused({{"must", "1"}, {"sort", "sideways"}}, "sort is one of up, down");
  refused({{"must", "1"}, {"q", "1"}, {"q", "2"}}, "q is given more than once");
  refused({{"must", "1"}, {"q", std::string("a\0b", 3)}}, "NUL");
  refused({{"must", std::string(kLongestParameter + 1, 'x')}}, "longer than");
}

TEST(Routes, OpenPathsAreThoseOfTheTable) {
  const Routes routes = small_table();
  EXPECT_TRUE(routes.is_open("/healthz"));
  EXPECT_FALSE(routes.is_open("/healthz/"));
  EXPECT_FALSE(routes.is_open("/api/v1/things/x"));
}

TEST(Routes, OpenApiSaysWhatTheTableSays) {
  const Json document = small_table().openapi();
  EXPECT_EQ(document["openapi"].as_string(), "3.1.0");
  EXPECT_EQ(document["security"].items().size(), 2U);
  ASSERT_EQ(document["paths"].members().size(), 1U);
  const Json& path = document["paths"]["/api/v1/things/{thing}"];
  const Json& get = path["get"];
  EXPECT_EQ(get["operationId"].as_string(), "show_thing");
  EXPECT_EQ(path["put"]["operationId"].as_string(), "put_thing");
  EXPECT_EQ(path["put"]["requestBody"]["required"].as_bool(), true);
  std::set<std::string> names;
  for (const Json& parameter : get["parameters"].items()) {
    names.insert(parameter["in"].as_string() + " " + parameter["name"].as_string());
    const bool is_required = parameter["required"].as_bool();
    EXPECT_EQ(is_required,
              parameter["name"].as_string() == "must" || parameter["in"].as_string() == "path");
  }
  EXPECT_EQ(names, (std::set<std::string>{"path thing", "query limit", "query must", "query q",
                                          "query sort"}));
  const Json& schema = get["parameters"].items()[1]["schema"];
  EXPECT_EQ(schema.dump(), R"({"type":"integer","minimum":1,"maximum":10,"default":5})");
  EXPECT_EQ(get["responses"]["200"]["content"]["application/json"]["schema"]["type"].as_string(),
            "object");
  EXPECT_TRUE(get["responses"]["default"].is_object());
}

void collect_references(const Json& json, std::set<std::string>& names) {
  constexpr std::string_view kPlace = "#/components/schemas/";
  for (const auto& [key, value] : json.members()) {
    if (key == "$ref") {
      ASSERT_TRUE(value.as_string().starts_with(kPlace)) << value.dump();
      names.insert(value.as_string().substr(kPlace.size()));
    }
    collect_references(value, names);
  }
  for (const Json& item : json.items()) collect_references(item, names);
}

TEST(NamedSchemasTest, EveryReferenceNamesOne) {
  const Json schemas = named_schemas();
  EXPECT_GT(schemas.members().size(), 100U);
  std::set<std::string> names;
  collect_references(schemas, names);
  EXPECT_GT(names.size(), 80U);
  for (const std::string& name : names) EXPECT_NE(schemas.find(name), nullptr) << name;
}

}  // namespace
}  // namespace gpufl::server
