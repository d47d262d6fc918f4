// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "hosting/access.hpp"
#include "hosting/audit_trail.hpp"
#include "hosting/oidc_provider.hpp"
#include "hosting/places.hpp"
#include "hosting/rate_limiter.hpp"
#include "net/router.hpp"
#include "server/routes.hpp"
#include "store/people.hpp"
#include "store/session_store.hpp"

// The table of what a hosted server answers besides the pages of its workspaces. Every row says who
// may ask, and no handler sees a request of anybody else. Filled on one thread, then read on any.
namespace gpufl::hosting {

// A request whose caller may ask.
struct HostedCall {
  server::Call call;
  const Caller& caller;
  int64_t workspace;  // of the path or of the key; 0: the endpoint is of none
  const std::string& workspace_name;
};

class HostedRoutes {
 public:
  HostedRoutes(const Access& access, const store::People& people)
      : access_(access), people_(people) {}
  HostedRoutes(const HostedRoutes&) = delete;
  HostedRoutes& operator=(const HostedRoutes&) = delete;

  using Handler = std::function<net::HttpReply(const HostedCall& call)>;
  // Whose query is its caller's own: parameters that the route does not have are passed over.
  enum class Query : uint8_t { Checked, Foreign };
  // Of the route, method, pattern and parameters count. "{workspace}" in a pattern is a workspace's
  // name.
  void add(Need need, server::Route route, Handler handler, Query query = Query::Checked);

  bool is_open(std::string_view path) const { return open_.contains(path); }
  // Whether the path is one of the table, whatever the method.
  bool has(const net::HttpRequest& request) const;
  net::HttpReply answer(const net::HttpRequest& request) const { return router_.answer(request); }

  struct Row {
    Need need;
    std::string method, pattern;
  };
  const std::vector<Row>& rows() const { return rows_; }

 private:
  const Access& access_;
  const store::People& people_;
  net::Router router_;
  std::set<std::string, std::less<>> open_;
  std::vector<Row> rows_;
};

// What handlers work with.
struct HostedServices {
  using Complain = std::function<void(const std::string& line)>;
  HostedServices(store::SessionStore& sessions, store::People& persons, Access& guard, Complain say,
                 const Rate& rate, const Rate& key_rate, const Rate& try_rate)
      : store(sessions),
        people(persons),
        access(guard),
        complain(std::move(say)),
        audit(persons, complain),
        pieces(rate),
        key_pieces(key_rate),
        tries(try_rate) {}

  store::SessionStore& store;
  store::People& people;
  Access& access;
  const Complain complain;  // of what is not the client's to know
  AuditTrail audit;
  RateLimiter pieces;      // of each key and host
  RateLimiter key_pieces;  // of each key: a host is what the sender says it is
  RateLimiter tries;       // to log in, of each name from each network
  RateLimiter tries_of_networks{Rate{5, 120}};
  RateLimiter guests{Rate{50, 500}};  // requests, of each link
  // A hash of a password takes 32 MiB and a core for a while.
  Places hashes{2, 8, std::chrono::milliseconds(5000)};
  OidcProvider* oidc = nullptr;  // null: nobody logs in by way of one
  std::string address;           // of this server, as people see it, with a slash at its end
};

void add_ingest_routes(HostedRoutes& routes, HostedServices& services);
void add_account_routes(HostedRoutes& routes, HostedServices& services);
void add_oidc_routes(HostedRoutes& routes, HostedServices& services);
void add_workspace_routes(HostedRoutes& routes, HostedServices& services);
void add_share_routes(HostedRoutes& routes, HostedServices& services);

// Where the body of such a request goes; nothing: into memory.
net::HeadVerdict verdict_on_body(const net::HttpRequest& head, const Caller& caller,
                                 HostedServices& services);

// A problem with members of its own.
net::HttpReply problem_with(int status, std::string_view detail, const base::Json& members);
net::HttpReply json(const base::Json& document, int status = 200);
// What became of a change: 204, what is wrong with it, or 503 where it is our fault.
net::HttpReply outcome_reply(const base::Status& status, HostedServices& services);
// As text; 0: null.
base::Json time_json(int64_t time_ms);
// A JSON object; nothing: `reply` says why not.
std::optional<base::Json> object_in(const net::HttpRequest& request, net::HttpReply& reply);

}  // namespace gpufl::hosting
