// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include "base/status.hpp"
#include "net/http_server.hpp"
#include "server/access_log.hpp"
#include "server/analysis_pool.hpp"
#include "server/cache_folder.hpp"
#include "server/front.hpp"
#include "server/index_pool.hpp"
#include "server/server_options.hpp"
#include "server/services.hpp"

// What runs in every server, whoever may use it: the network with its front, the log of requests,
// and the work that sites share. Start and stop on one thread.
namespace gpufl::server {

class Engine {
 public:
  using OnAnalysis =
      std::function<void(const AnalysisRequest& request, const base::Status& status)>;
  // A request without the prefix of a proxy.
  using Handler = std::function<net::HttpReply(const net::HttpRequest& request)>;
  using Check = std::function<net::HeadVerdict(const net::HttpRequest& head)>;

  // `hidden`: a folder that no problem may name. The options outlive it.
  Engine(const ServerOptions& options, CacheFolder cache, const std::filesystem::path& hidden,
         OnAnalysis on_analysis);
  ~Engine() { stop(); }
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  SharedWork& shared() { return shared_; }
  const CacheFolder& cache() const { return cache_; }
  const Front& front() const { return front_; }
  const net::Endpoint& endpoint() const { return http_->endpoint(); }

  // Requests are answered 503 until open().
  base::Status listen(const net::HttpLimits& limits, Handler handler, Check check);
  void open() { is_open_.store(true, std::memory_order_release); }
  void complain(const std::string& line) const;
  // As net::HttpServer::stop().
  size_t stop();

 private:
  net::HeadVerdict check(const net::HttpRequest& asked) const;
  net::HttpReply answer(const net::HttpRequest& asked) const;
  net::HttpReply answer_or_say(const net::HttpRequest& request) const;

  const ServerOptions& options_;
  const CacheFolder cache_;
  const Front front_;
  AnalysisPool analysis_;
  IndexPool indexes_;
  SharedWork shared_;
  std::unique_ptr<AccessLogger> log_;
  Handler handler_;
  Check check_;
  std::atomic<bool> is_open_ = false;
  std::unique_ptr<net::HttpServer> http_;
};

}  // namespace gpufl::server
