// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.hpp"

#include <fcntl.h>
#include <pthread.h>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <future>
#include <list>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "net/connection.hpp"

namespace gpufl::net {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using tcp = asio::ip::tcp;

constexpr std::chrono::milliseconds kAcceptRetryTime{100};
constexpr size_t kTurnedAway = 16;  // clients that are told so at a time

// Programs that a handler starts must not hold sockets open.
void close_on_exec(int descriptor) { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

std::string text_of(asio::ip::address address) {
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    address = asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6());
  }
  return address.to_string();
}

}  // namespace

// All of it on the network's thread, but for listen(), stop() and what is atomic.
struct HttpServer::Core {
  Core(HttpHandler handler, const HttpLimits& limits, AccessLog log, HeadCheck check)
      : shared(std::move(handler), limits, std::move(log), std::move(check)) {
    shared.on_closed = [this](const Connection* closed) { forget(closed); };
  }

  base::Status listen(Endpoint& endpoint) {
    const auto fail = [&](const error_code& error) {
      return base::Status::from_errno(error.value(), "cannot listen on " + endpoint.text());
    };
    error_code error;
    const auto address = asio::ip::make_address(endpoint.address, error);
    if (error) return fail(error);
    const tcp::endpoint local(address, endpoint.port);
    if (acceptor.open(local.protocol(), error)) return fail(error);
    close_on_exec(acceptor.native_handle());
    if (acceptor.set_option(tcp::acceptor::reuse_address(true), error)) return fail(error);
    if (acceptor.bind(local, error)) return fail(error);
    if (acceptor.listen(asio::socket_base::max_listen_connections, error)) return fail(error);
    endpoint.port = acceptor.local_endpoint(error).port();
    return error ? fail(error) : base::Status::ok();
  }

  void run() {
    accept();
    thread = std::thread([this] {
      pthread_setname_np(pthread_self(), "gpufl-http");
      context.run();
    });
  }

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted || is_stopping) return;
      if (error) {  // out of descriptors, most likely: trying again at once would spin
        timer.expires_after(kAcceptRetryTime);
        timer.async_wait([this](error_code cancelled) {
          if (!cancelled && !is_stopping) accept();
        });
        return;
      }
      admit(std::move(socket));
      accept();
    });
  }

  void admit(tcp::socket socket) {
    error_code error;
    const tcp::endpoint peer = socket.remote_endpoint(error);
    if (error) return;  // gone already
    // Answers go out in few large writes, and each of them at once.
    socket.set_option(tcp::no_delay(true), error);
    const bool has_room = connections.size() < shared.limits.connections || make_room();
    if (!has_room && connections.size() >= shared.limits.connections + kTurnedAway) return;
    const bool is_v6 = socket.local_endpoint(error).protocol() == tcp::v6();
    const int descriptor = socket.release(error);
    if (error) return;
    close_on_exec(descriptor);
    auto connection = make_connection(context, descriptor, is_v6, text_of(peer.address()), shared);
    connections.push_back(connection);
    open = connections.size();
    has_room ? connection->start() : connection->turn_away();
  }

  // Closes the one that is worth least. False: all are busy.
  bool make_room() {
    Connection* found = nullptr;
    std::optional<Connection::Worth> least;
    for (const auto& connection : connections) {
      const auto worth = connection->worth();
      if (!worth || (least && !(*worth < *least))) continue;
      least = worth;
      found = connection.get();
    }
    if (found) found->drop();
    return found != nullptr;
  }

  void forget(const Connection* closed) {
    connections.remove_if([&](const auto& one) { return one.get() == closed; });
    open = connections.size();
    if (is_stopping && connections.empty()) timer.cancel();
  }

  // Does `work` on the network's thread, and returns when it has.
  template <typename Work>
  void do_there(Work work) {
    std::promise<void> done;
    asio::post(context, [&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }

  size_t stop() {
    std::promise<void> quiet;
    do_there([&] {
      is_stopping = true;
      error_code ignored;
      acceptor.close(ignored);
      for (const auto& connection : std::list(connections)) connection->finish();
      timer.expires_after(connections.empty() ? std::chrono::milliseconds(0)
                                              : shared.limits.stop_time);
      timer.async_wait([&](error_code) { quiet.set_value(); });
    });
    quiet.get_future().wait();
    do_there([&] {
      for (const auto& connection : std::list(connections)) connection->drop();
    });
    const size_t left = shared.pool.stop_within(shared.limits.cancel_time);
    if (left == 0) end();
    return left;
  }

  // Waits for every handler. Workers hand in what they have made, so the network's thread goes
  // last.
  void end() {
    if (!thread.joinable()) return;
    shared.pool.stop();
    // Behind everything that workers have posted.
    do_there([&] { context.stop(); });
    thread.join();
  }

  asio::io_context context{1};
  asio::executor_work_guard<asio::io_context::executor_type> work{context.get_executor()};
  tcp::acceptor acceptor{context};
  asio::steady_timer timer{context};  // to accept again, later to stop
  bool is_stopping = false;
  std::atomic<size_t> open{0};
  std::once_flag stopped;
  std::thread thread;
  ConnectionShared shared;
  std::list<std::shared_ptr<Connection>> connections;  // in order of arrival
};

base::Result<std::unique_ptr<HttpServer>> HttpServer::start(const Endpoint& endpoint,
                                                            HttpHandler handler,
                                                            const HttpLimits& limits, AccessLog log,
                                                            HeadCheck check) {
  auto core = std::make_unique<Core>(std::move(handler), limits, std::move(log), std::move(check));
  Endpoint bound = endpoint;
  if (base::Status status = core->listen(bound); !status) return status;
  core->run();
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(core), std::move(bound)));
}

HttpServer::HttpServer(std::unique_ptr<Core> core, Endpoint endpoint)
    : core_(std::move(core)), endpoint_(std::move(endpoint)) {}

HttpServer::~HttpServer() {
  stop();
  core_->end();
}

size_t HttpServer::stop() {
  std::call_once(core_->stopped, [this] { core_->stop(); });
  return core_->shared.pool.running();
}

HttpStats HttpServer::stats() const {
  const ConnectionShared& shared = core_->shared;
  return {.connections = core_->open,
          .event_streams = shared.event_streams,
          .queued_requests = shared.pool.waiting(),
          .late_handlers = shared.late_handlers,
          .unsent_bytes = shared.unsent_bytes,
          .held_bytes = shared.held_bytes,
          .requests = shared.requests,
          .refused = shared.refused,
          .late_requests = shared.late_requests,
          .crowded_out = shared.crowded_out,
          .dropped = shared.dropped,
          .bytes_sent = shared.bytes_sent};
}

}  // namespace gpufl::net
