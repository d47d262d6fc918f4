// SPDX-License-Identifier: Apache-2.0
#include "server/server.hpp"

#include <optional>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "net/target.hpp"
#include "server/cache_folder.hpp"
#include "server/engine.hpp"
#include "server/site.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Status;

// Handlers wait for files and children, so there are more of them than cores.
constexpr size_t kWorkers = 8;

class RunningServer : public Server {
 public:
  RunningServer(ServerOptions options, const CacheFolder& cache)
      : options_(std::move(options)),
        engine_(options_, cache, cache.path(),
                [this](const AnalysisRequest& request, const Status& status) {
                  if (site_) site_->hear_of(request, status);
                }) {
    site_.emplace(options_.folder, options_.pace, engine_.cache(), engine_.shared());
  }
  ~RunningServer() override { stop(); }
  RunningServer(const RunningServer&) = delete;
  RunningServer& operator=(const RunningServer&) = delete;

  Status listen() {
    net::HttpLimits limits;
    limits.workers = kWorkers;
    Status listening = engine_.listen(
        limits, [this](const net::HttpRequest& request) { return site_->routes().answer(request); },
        [this](const net::HttpRequest& head) {
          return guard_->check(head, site_->routes().is_open(head.path));
        });
    if (!listening) return listening;
    guard_.emplace(engine_.endpoint().port, options_.public_url);
    engine_.open();
    return {};
  }

  const net::Endpoint& endpoint() const override { return engine_.endpoint(); }
  const std::string& token() const override { return guard_->token(); }
  std::string address() const override {
    return engine_.front().address("http", endpoint().text()) + "/?token=" + token();
  }
  std::string session_address() const override {
    const auto sessions = site_->catalogue().sessions();
    if (sessions.size() != 1) return address() + "#/sessions";
    return address() + "#/s/" + net::percent_encode(sessions.front()->id);
  }
  size_t stop() override {
    if (site_) site_->events().close_all();
    return engine_.stop();
  }

 private:
  const ServerOptions options_;
  // Before the engine, whose threads look at it: it is there when they begin, and goes after them.
  std::optional<Site> site_;
  std::optional<AccessGuard> guard_;
  Engine engine_;
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
  auto server = std::make_unique<RunningServer>(std::move(options), *cache);
  if (Status listening = server->listen(); !listening) return listening;
  return std::unique_ptr<Server>(std::move(server));
}

}  // namespace gpufl::server
