// SPDX-License-Identifier: Apache-2.0
#include "server/server.hpp"

#include <exception>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "net/http_server.hpp"
#include "net/target.hpp"
#include "server/access_log.hpp"
#include "server/cache_folder.hpp"
#include "server/catalogue.hpp"
#include "server/event_hub.hpp"
#include "server/services.hpp"
#include "server/session_json.hpp"
#include "text/display.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Json;
using base::Status;

// Handlers wait for files and children, so there are more of them than cores.
constexpr size_t kWorkers = 8;

std::string without_path(std::string text, std::string_view cache) {
  for (size_t at; (at = text.find(cache)) != std::string::npos;) {
    text.replace(at, cache.size(), "CACHE");
  }
  return text;
}

Json analysis_event(const AnalysisRequest& request, const Status& status, const fs::path& cache) {
  Json json = Json::object();
  json.set("session", request.session).set("kind", request.kind);
  json.set("state", status.is_ok() ? "ready" : "failed");
  if (!status.is_ok()) json.set("problem", without_path(status.message(), cache.string()));
  return json;
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
                    events_.publish("analysis", analysis_event(request, status, cache_.path()));
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
        limits, std::move(log), [this](const net::HttpRequest& head) { return check(head); });
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
  std::string session_address() const override {
    const auto sessions = catalogue_.sessions();
    if (sessions.size() != 1) return address() + "#/sessions";
    return address() + "#/s/" + net::percent_encode(sessions.front()->id);
  }
  size_t stop() override {
    if (!http_) return 0;
    events_.close_all();
    const size_t left = http_->stop();
    log_.reset();  // connections are closed: nothing more is logged
    return left;
  }

 private:
  // On the network's thread, before a body is read: who may not ask holds nothing up.
  net::HeadVerdict check(const net::HttpRequest& asked) const {
    const AccessGuard* guard = guard_.load(std::memory_order_acquire);
    if (guard == nullptr) return {net::problem(503)};
    const auto stripped = without_prefix(asked);
    const net::HttpRequest& head = stripped ? *stripped : asked;
    net::HeadVerdict verdict = guard->check(head, routes_.is_open(head.path));
    if (verdict.reply) verdict.reply = with_common_fields(std::move(*verdict.reply));
    return verdict;
  }

  net::HttpReply answer(const net::HttpRequest& asked) const {
    // Addresses of the page are relative, and lost without the slash. Those with a token are led
    // there on taking it.
    if (has_prefix(asked.path) && asked.path == options_.public_url->path) {
      return with_common_fields(to_slash());
    }
    const auto stripped = without_prefix(asked);
    return with_common_fields(answer_or_say(stripped ? *stripped : asked));
  }

  net::HttpReply with_common_fields(net::HttpReply reply) const {
    hide_cache(reply);
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

  net::HttpReply to_slash() const {
    net::HttpReply reply;
    reply.status = 308;
    reply.headers.emplace_back("Location", options_.public_url->prefix + "/");
    return reply;
  }

  // What a handler throws is our own mistake, which the log names and the client does not see.
  net::HttpReply answer_or_say(const net::HttpRequest& request) const {
    try {
      return routes_.answer(request);
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
    if (!options_.public_url) return false;
    const std::string& prefix = options_.public_url->path;
    return !prefix.empty() && path.starts_with(prefix) &&
           (path.size() == prefix.size() || path[prefix.size()] == '/');
  }

  // Nothing: it has none.
  std::optional<net::HttpRequest> without_prefix(const net::HttpRequest& asked) const {
    if (!has_prefix(asked.path)) return std::nullopt;
    net::HttpRequest stripped = asked;
    stripped.path.erase(0, options_.public_url->path.size());
    if (stripped.path.empty()) stripped.path = "/";
    return stripped;
  }

  // Of problems: where the cache is concerns the user of this machine, and readers may be others.
  void hide_cache(net::HttpReply& reply) const {
    if (reply.content_type != "application/problem+json") return;
    // As JSON has it, without its quotes.
    const std::string path = Json(cache_.path().string()).dump();
    reply.body = without_path(std::move(reply.body), path.substr(1, path.size() - 2));
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
  add_dashboard_routes(routes);
  add_operation_routes(routes, services);
  add_session_routes(routes, services);
  add_section_routes(routes, services);
  add_file_routes(routes, services);
  add_timeline_routes(routes, services);
  add_figure_routes(routes, services);
  add_note_routes(routes, services);
}

}  // namespace gpufl::server
