// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "net/http_message.hpp"
#include "net/router.hpp"
#include "server/viewer.hpp"

// The table of everything that is served. Routing, the checks of parameters and the OpenAPI
// document are all made from it, so that none of them can say something else. Filled on one thread,
// then read on any; handlers run on several at once.
namespace gpufl::server {

// In characters, unless a parameter says otherwise.
inline constexpr size_t kLongestParameter = 512;

struct Parameter {
  enum class Type : uint8_t { Text, Integer };
  std::string name;
  std::string description;
  Type type = Type::Text;
  bool is_required = false;
  int64_t least = 0, most = 0;            // of integers, both among what is allowed
  std::vector<std::string> choices = {};  // of texts; empty: any
  size_t longest = kLongestParameter;     // of texts, in characters
  std::string fallback = {};              // what it is where it is left out, for readers
};
// As JSON Schema counts them: code points, of text in UTF-8.
size_t count_characters(std::string_view text);

Parameter text_parameter(std::string name, std::string description);
Parameter required_text(std::string name, std::string description);
Parameter choice(std::string name, std::vector<std::string> choices, std::string fallback,
                 std::string description);
Parameter integer(std::string name, int64_t least, int64_t most, int64_t fallback,
                  std::string description);
// Nanoseconds since the session began, within what sums of two cannot overflow.
Parameter moment(std::string name, std::string description);
// `from` and `to`, and others behind them.
std::vector<Parameter> range_parameters(std::vector<Parameter> more = {});

// What a route answers, apart from the problems that all of them can answer.
struct Answer {
  int status = 200;
  std::string content_type = "application/json";
  std::string description;
  std::string schema = {};  // JSON Schema as text, mostly a schema_ref(); empty: any
};

// A reference to one of the schemas in schemas/*.json, which are the document's components.
std::string schema_ref(std::string_view name);
// All of them by name.
base::Json named_schemas();

// A request that passed the checks of its route.
class Call {
 public:
  Call(const net::HttpRequest& request, const net::PathParameters& path, const Viewer& viewer = {})
      : request_(request), path_(path), viewer_(viewer) {}

  const net::HttpRequest& request() const { return request_; }
  // Who looks at the answer.
  const Viewer& viewer() const { return viewer_; }
  // What a "{name}" of the pattern stood for.
  const std::string& path(std::string_view name) const { return path_[name]; }
  std::optional<std::string> text(std::string_view name) const;
  std::string text(std::string_view name, std::string_view fallback) const;
  std::optional<int64_t> integer(std::string_view name) const;
  int64_t integer(std::string_view name, int64_t fallback) const;

 private:
  const net::HttpRequest& request_;
  const net::PathParameters& path_;
  const Viewer viewer_;
};

// What guests of one session may ask of a route (server/viewer.hpp).
enum class Guests : uint8_t {
  Refused,    // nothing: for them it is not there
  OfSession,  // about their session, which the path names as {session}
  OfFiles,    // likewise, if they were given the files of its log
  Filtered,   // its handler leaves out what they may not see
};

struct Route {
  std::string method = "GET";
  std::string pattern;  // as net::Router takes it
  std::string id;       // "list_sessions": OpenAPI's operationId
  std::string summary;
  std::vector<Parameter> parameters = {};  // of the query; those of the path are the pattern's
  std::vector<Answer> answers = {};
  std::string body_schema = {};  // of a JSON body; empty: the request has none
  bool is_open = false;          // is answered without a token
  Guests guests = Guests::Refused;
  std::function<net::HttpReply(const Call&)> handler = {};
};

class Routes {
 public:
  void add(Route route);
  const std::vector<Route>& all() const { return routes_; }

  // 400 where the query is not what the route's table says; 404 and 405 as net::Router.
  // What a guest may not see is answered as what is not there.
  net::HttpReply answer(const net::HttpRequest& request, const Viewer& viewer = {}) const;
  // Whether a path may be asked for without a token.
  bool is_open(std::string_view path) const;
  // OpenAPI 3.1 of all routes under /api/.
  base::Json openapi() const;

 private:
  std::vector<Route> routes_;
  net::Router router_;
};

// What a query has that the table does not allow; empty: nothing.
std::string mistake_in_query(const net::NamedTexts& query, const std::vector<Parameter>& table);

}  // namespace gpufl::server
