// SPDX-License-Identifier: Apache-2.0
#include "server/server.hpp"

#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "net/http_server.hpp"
#include "server/access_log.hpp"
#include "server/cache_folder.hpp"
#include "server/catalogue.hpp"
#include "server/event_hub.hpp"
#include "server/services.hpp"
#include "server/session_json.hpp"
#include "text/display.hpp"

namespace gpufl::embedded {
extern const std::string_view kIndexHtml;
}

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Json;
using base::Status;

// Handlers wait for files and children, so there are more of them than cores.
constexpr size_t kWorkers = 8;

Json analysis_event(const AnalysisRequest& request, const Status& status) {
  Json json = Json::object();
  json.set("session", request.session).set("kind", request.kind);
  json.set("state", status.is_ok() ? "ready" : "failed");
  if (!status.is_ok()) json.set("problem", status.message());
  return json;
}

void add_page(Routes& routes) {
  routes.add({.pattern = "/",
              .id = "page",
              .summary = "What there is",
              .answers = {{.content_type = "text/html", .description = "A page."}},
              .is_open = true,
              .handler = [](const Call&) {
                return net::reply_with("text/html; charset=utf-8",
                                       std::string(embedded::kIndexHtml));
              }});
}

void set_unless_there(net::HttpReply& reply, std::string_view name, std::string_view value) {
  if (net::find_header(reply.headers, name) != nullptr) return;
  reply.headers.emplace_back(name, value);
}

class RunningServer : public Server {
 public:
  RunningServer(ServerOptions options, CacheFolder cache)
      : options_(std::move(options)),
        cache_(std::move(cache)),
        analysis_(cache_, options_.analysis_program, options_.analysis,
                  [this](const AnalysisRequest& request, const Status& status) {
                    events_.publish("analysis", analysis_event(request, status));
                  }),
        catalogue_(options_.folder, options_.pace,
                   [this](const std::vector<Change>& changes) {
                     for (const Change& change : changes) {
                       events_.publish("session", change_json(change));
                     }
                   }),
        indexes_(cache_.subfolder("index")),
        services_{catalogue_, analysis_,
                  cache_,     events_,
                  indexes_,   [this] { return http_ ? http_->stats() : net::HttpStats(); }} {
    add_all_routes(routes_, services_);
    if (options_.log != LogFormat::None && options_.write_log) {
      log_ = std::make_unique<AccessLogger>(options_.log == LogFormat::Json, options_.write_log);
    }
  }
  ~RunningServer() override { stop(); }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  Status listen() {
    net::HttpLimits limits;
    limits.workers = kWorkers;
    net::AccessLog log;
    if (log_) log = [this](const net::AccessRecord& record) { log_->add(record); };
    auto started = net::HttpServer::start(
        options_.listen, [this](const net::HttpRequest& request) { return answer(request); },
        limits, std::move(log));
    if (!started) return started.status();
    // Requests that came before this line are answered 503.
    guard_storage_.emplace((*started)->endpoint().port, options_.public_url);
    http_ = std::move(*started);
    guard_.store(&*guard_storage_, std::memory_order_release);
    return {};
  }

  const net::Endpoint& endpoint() const override { return http_->endpoint(); }
  const std::string& token() const override { return guard_storage_->token(); }
  std::string address() const override {
    const std::string base = options_.public_url
                                 ? options_.public_url->scheme + "://" +
                                       options_.public_url->authority + options_.public_url->prefix
                                 : "http://" + endpoint().text();
    return base + "/?token=" + token();
  }
  void stop() override {
    if (!http_) return;
    events_.close_all();
    http_->stop();
  }

 private:
  net::HttpReply answer(const net::HttpRequest& asked) {
    const AccessGuard* guard = guard_.load(std::memory_order_acquire);
    if (guard == nullptr) return net::problem(503);
    net::HttpRequest stripped;
    const net::HttpRequest* request = &asked;
    if (options_.public_url && has_prefix(asked.path)) {
      stripped = asked;
      stripped.path.erase(0, options_.public_url->prefix.size());
      if (stripped.path.empty()) stripped.path = "/";
      request = &stripped;
    }
    net::HttpReply reply = answer_or_say(*guard, *request);
    set_unless_there(reply, "Cache-Control", "no-store");
    set_unless_there(reply, "X-Content-Type-Options", "nosniff");
    set_unless_there(reply, "Referrer-Policy", "no-referrer");
    set_unless_there(reply, "X-Frame-Options", "DENY");
    set_unless_there(reply, "Cross-Origin-Resource-Policy", "same-origin");
    set_unless_there(reply, "Content-Security-Policy",
                     "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; "
                     "form-action 'none'; frame-ancestors 'none'");
    return reply;
  }

  // What a handler throws is our own mistake, which the log names and the client does not see.
  net::HttpReply answer_or_say(const AccessGuard& guard, const net::HttpRequest& request) const {
    try {
      return answer_guarded(guard, request);
    } catch (const std::exception& thrown) {
      if (options_.write_log) {
        options_.write_log(fmt::format("gpufl: {} failed: {}\n", text::make_harmless(request.path),
                                       thrown.what()));
      }
      return net::problem(500);
    }
  }

  // Those of a proxy that leaves the prefix in place.
  bool has_prefix(std::string_view path) const {
    const std::string& prefix = options_.public_url->prefix;
    return !prefix.empty() && path.starts_with(prefix) &&
           (path.size() == prefix.size() || path[prefix.size()] == '/');
  }

  net::HttpReply answer_guarded(const AccessGuard& guard, const net::HttpRequest& request) const {
    const bool is_open = routes_.is_open(request.path);
    // A token is looked at only where the host is meant.
    if (auto refusal = guard.refuse(request, true)) return std::move(*refusal);
    if (auto taken = guard.take_token(request)) return std::move(*taken);
    if (auto refusal = guard.refuse(request, is_open)) return std::move(*refusal);
    return routes_.answer(request);
  }

  const ServerOptions options_;
  const CacheFolder cache_;
  EventHub events_;
  AnalysisPool analysis_;
  Catalogue catalogue_;
  IndexPool indexes_;
  Services services_;
  Routes routes_;
  std::unique_ptr<AccessLogger> log_;
  std::optional<AccessGuard> guard_storage_;
  std::atomic<const AccessGuard*> guard_ = nullptr;
  std::unique_ptr<net::HttpServer> http_;
};

Status check(ServerOptions& options) {
  if (!options.listen.is_loopback()) {
    return {Code::InvalidArgument,
            fmt::format("{} is not a loopback address: this version has no accounts and no TLS, so "
                        "other machines may not connect; use 'ssh -L', or your own proxy with "
                        "--public-url",
                        options.listen.text())};
  }
  std::error_code error;
  const fs::path folder = fs::canonical(options.folder, error);
  if (error || !fs::is_directory(folder, error)) {
    return {Code::NotFound, options.folder.string() + ": there is no such folder"};
  }
  options.folder = folder;
  return {};
}

}  // namespace

base::Result<std::unique_ptr<Server>> Server::start(ServerOptions options) {
  if (Status checked = check(options); !checked) return checked;
  auto cache = CacheFolder::open(options.cache);
  if (!cache) return cache.status();
  cache->sweep();
  auto server = std::make_unique<RunningServer>(std::move(options), std::move(*cache));
  if (Status listening = server->listen(); !listening) return listening;
  return std::unique_ptr<Server>(std::move(server));
}

void add_all_routes(Routes& routes, Services& services) {
  add_page(routes);
  add_operation_routes(routes, services);
  add_session_routes(routes, services);
  add_section_routes(routes, services);
  add_file_routes(routes, services);
  add_timeline_routes(routes, services);
  add_figure_routes(routes, services);
  add_note_routes(routes, services);
}

}  // namespace gpufl::server
