// SPDX-License-Identifier: Apache-2.0
#include "server/engine.hpp"

#include <exception>
#include <utility>

#include <fmt/format.h>

#include "text/display.hpp"

namespace gpufl::server {

Engine::Engine(const ServerOptions& options, CacheFolder cache, const std::filesystem::path& hidden,
               OnAnalysis on_analysis)
    : options_(options),
      cache_(std::move(cache)),
      front_(options.public_url, hidden),
      analysis_(cache_, options.analysis_program, options.analysis, std::move(on_analysis)),
      indexes_(cache_.subfolder("index")),
      shared_{analysis_, cache_, indexes_,
              [this] { return http_ ? http_->stats() : net::HttpStats(); }} {
  if (options.log != LogFormat::None && options.write_log) {
    log_ = std::make_unique<AccessLogger>(options.log == LogFormat::Json, options.write_log);
  }
}

base::Status Engine::listen(const net::HttpLimits& limits, Handler handler, Check check) {
  handler_ = std::move(handler);
  check_ = std::move(check);
  net::AccessLog log;
  if (log_) log = [this](const net::AccessRecord& record) { log_->add(record); };
  auto started = net::HttpServer::start(
      options_.listen, [this](const net::HttpRequest& request) { return answer(request); }, limits,
      std::move(log), [this](const net::HttpRequest& head) { return this->check(head); });
  if (!started) return started.status();
  http_ = std::move(*started);
  return {};
}

size_t Engine::stop() {
  if (!http_) return 0;
  const size_t left = http_->stop();
  log_.reset();  // connections are closed: nothing more is logged
  return left;
}

void Engine::complain(const std::string& line) const {
  if (options_.write_log) options_.write_log("gpufl: " + line + "\n");
}

// On the network's thread, before a body is read: who may not ask holds nothing up.
net::HeadVerdict Engine::check(const net::HttpRequest& asked) const {
  if (!is_open_.load(std::memory_order_acquire)) return {net::problem(503)};
  const auto stripped = front_.without_prefix(asked);
  net::HeadVerdict verdict = check_(stripped ? *stripped : asked);
  if (verdict.reply) verdict.reply = front_.with_common_fields(std::move(*verdict.reply));
  return verdict;
}

net::HttpReply Engine::answer(const net::HttpRequest& asked) const {
  // Addresses with a token are led there on taking it.
  if (auto reply = front_.to_slash(asked)) return front_.with_common_fields(std::move(*reply));
  const auto stripped = front_.without_prefix(asked);
  return front_.with_common_fields(answer_or_say(stripped ? *stripped : asked));
}

// What a handler throws is our own mistake, which the log names and the client does not see.
net::HttpReply Engine::answer_or_say(const net::HttpRequest& request) const {
  try {
    return handler_(request);
  } catch (const std::exception& thrown) {
    complain(fmt::format("{} failed: {}", text::make_harmless(request.path), thrown.what()));
    return net::problem(500);
  }
}

}  // namespace gpufl::server
