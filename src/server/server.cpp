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
#include "server/front.hpp"
#include "server/services.hpp"
#include "server/site.hpp"
#include "text/display.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Json;
using base::Status;

// Handlers wait for files and children, so there are more of them than cores.
constexpr size_t kWorkers = 8;

class RunningServer : public Server {
 public:
  RunningServer(ServerOptions options, CacheFolder cache)
      : options_(std::move(options)),
        cache_(std::move(cache)),
        front_(options_.public_url, cache_.path()),
        analysis_(cache_, options_.analysis_program, options_.analysis,
                  [this](const AnalysisRequest& request, const Status& status) {
                    if (site_) site_->hear_of(request, status);
                  }),
        indexes_(cache_.subfolder("index")),
        shared_{analysis_, cache_, indexes_,
                [this] { return http_ ? http_->stats() : net::HttpStats(); }} {
    site_.emplace(options_.folder, options_.pace, cache_, shared_);
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
    return front_.address("http", endpoint().text()) + "/?token=" + token();
  }
  std::string session_address() const override {
    const auto sessions = site_->catalogue().sessions();
    if (sessions.size() != 1) return address() + "#/sessions";
    return address() + "#/s/" + net::percent_encode(sessions.front()->id);
  }
  size_t stop() override {
    if (!http_) return 0;
    site_->events().close_all();
    const size_t left = http_->stop();
    log_.reset();  // connections are closed: nothing more is logged
    return left;
  }

 private:
  // On the network's thread, before a body is read: who may not ask holds nothing up.
  net::HeadVerdict check(const net::HttpRequest& asked) const {
    const AccessGuard* guard = guard_.load(std::memory_order_acquire);
    if (guard == nullptr) return {net::problem(503)};
    const auto stripped = front_.without_prefix(asked);
    const net::HttpRequest& head = stripped ? *stripped : asked;
    net::HeadVerdict verdict = guard->check(head, site_->routes().is_open(head.path));
    if (verdict.reply) verdict.reply = front_.with_common_fields(std::move(*verdict.reply));
    return verdict;
  }

  net::HttpReply answer(const net::HttpRequest& asked) const {
    // Addresses with a token are led there on taking it.
    if (auto reply = front_.to_slash(asked)) return front_.with_common_fields(std::move(*reply));
    const auto stripped = front_.without_prefix(asked);
    return front_.with_common_fields(answer_or_say(stripped ? *stripped : asked));
  }

  // What a handler throws is our own mistake, which the log names and the client does not see.
  net::HttpReply answer_or_say(const net::HttpRequest& request) const {
    try {
      return site_->routes().answer(request);
    } catch (const std::exception& thrown) {
      if (options_.write_log) {
        options_.write_log(fmt::format("gpufl: {} failed: {}\n", text::make_harmless(request.path),
                                       thrown.what()));
      }
      return net::problem(500);
    }
  }

  const ServerOptions options_;
  const CacheFolder cache_;
  const Front front_;
  // Before the pool, whose threads look at it: it is there when they begin, and goes after them.
  std::optional<Site> site_;
  AnalysisPool analysis_;
  IndexPool indexes_;
  SharedWork shared_;
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

}  // namespace gpufl::server
