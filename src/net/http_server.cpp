// SPDX-License-Identifier: Apache-2.0
#include "net/http_server.hpp"

#include <pthread.h>

#include <array>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <list>
#include <optional>
#include <thread>
#include <utility>

namespace gpufl::net {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;

constexpr size_t kLingerBytes = 64 * 1024;
constexpr std::chrono::milliseconds kLingerTime{1000};
constexpr std::chrono::milliseconds kAcceptRetryTime{100};

using Response = http::response<http::string_body>;

Response make_response(http::status status, std::string_view content_type, std::string body) {
  Response response(status, 11);
  response.set(http::field::content_type, std::string(content_type));
  response.set(http::field::cache_control, "no-store");
  response.set("X-Content-Type-Options", "nosniff");
  response.body() = std::move(body);
  response.keep_alive(false);
  response.prepare_payload();
  return response;
}

Response refusal(http::status status) {
  return make_response(status, "text/plain; charset=utf-8",
                       std::string(http::obsolete_reason(status)) + "\n");
}

Response answer(const http::request<http::empty_body>& request, const HttpHandler& handler) {
  const std::string_view target(request.target().data(), request.target().size());
  const std::string_view path = target.substr(0, target.find('?'));
  HttpRequest plain;
  plain.method = std::string(request.method_string());
  plain.path = path;
  // Whatever it throws costs this request its answer, and not the process its life.
  try {
    HttpReply reply = handler(plain);
    Response response = make_response(static_cast<http::status>(reply.status), reply.content_type,
                                      std::move(reply.body));
    for (const auto& [name, value] : reply.headers) response.set(name, value);
    return response;
  } catch (...) {
    return refusal(http::status::internal_server_error);
  }
}

// One client, from accept to close. Lives as long as one of its operations is pending.
class Connection : public std::enable_shared_from_this<Connection> {
 public:
  Connection(tcp::socket socket, const HttpHandler& handler, const HttpLimits& limits)
      : stream_(std::move(socket)), handler_(handler), limits_(limits) {}

  void start() {
    parser_.header_limit(static_cast<uint32_t>(limits_.header_bytes));
    // Set once for the whole request: a client that sends a byte now and then gains no time.
    stream_.expires_after(limits_.read_time);
    http::async_read(stream_, buffer_, parser_,
                     [self = shared_from_this()](error_code error, size_t) { self->reply(error); });
  }

  void drop() {
    error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  void reply(error_code error) {
    if (error == http::error::header_limit || error == http::error::buffer_overflow) {
      response_ = refusal(http::status::request_header_fields_too_large);
    } else if (error == http::error::unexpected_body) {
      response_ = refusal(http::status::payload_too_large);
    } else if (error.category() == http::make_error_code(http::error::bad_method).category() &&
               error != http::error::end_of_stream && error != http::error::partial_message) {
      response_ = refusal(http::status::bad_request);
    } else if (error) {
      return;  // gone, or out of time
    } else {
      response_ = answer(parser_.get(), handler_);
    }
    const bool head_only = !error && parser_.get().method() == http::verb::head;
    stream_.expires_after(limits_.write_time);
    serializer_.emplace(response_);
    auto done = [self = shared_from_this()](error_code failed, size_t) {
      if (!failed) self->linger();
    };
    if (head_only) {
      http::async_write_header(stream_, *serializer_, std::move(done));
    } else {
      http::async_write(stream_, *serializer_, std::move(done));
    }
  }

  // Closing a socket with unread input resets it, and the client may lose the answer: read on
  // until it has closed its side.
  void linger() {
    error_code ignored;
    stream_.socket().shutdown(tcp::socket::shutdown_send, ignored);
    stream_.expires_after(kLingerTime);
    discard();
  }

  void discard() {
    stream_.async_read_some(asio::buffer(discarded_),
                            [self = shared_from_this()](error_code error, size_t bytes) {
                              self->lingered_ += bytes;
                              if (!error && self->lingered_ < kLingerBytes) self->discard();
                            });
  }

  beast::tcp_stream stream_;
  const HttpHandler& handler_;
  const HttpLimits& limits_;
  // Room for one byte beyond the limit, so that the parser and not the buffer says no.
  beast::flat_buffer buffer_{limits_.header_bytes + 1};
  http::request_parser<http::empty_body> parser_;
  Response response_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::array<char, 4096> discarded_;
  size_t lingered_ = 0;
};

}  // namespace

struct HttpServer::Core {
  Core(HttpHandler handler_in, HttpLimits limits_in)
      : handler(std::move(handler_in)), limits(limits_in) {}

  base::Status listen(Endpoint& endpoint) {
    const auto fail = [&](const error_code& error) {
      return base::Status::from_errno(error.value(), "cannot listen on " + endpoint.text());
    };
    error_code error;
    const auto address = asio::ip::make_address(endpoint.address, error);
    if (error) return fail(error);
    const tcp::endpoint local(address, endpoint.port);
    if (acceptor.open(local.protocol(), error)) return fail(error);
    if (acceptor.set_option(tcp::acceptor::reuse_address(true), error)) return fail(error);
    if (acceptor.bind(local, error)) return fail(error);
    if (acceptor.listen(asio::socket_base::max_listen_connections, error)) return fail(error);
    endpoint.port = acceptor.local_endpoint(error).port();
    return error ? fail(error) : base::Status::ok();
  }

  void accept() {
    acceptor.async_accept([this](error_code error, tcp::socket socket) {
      if (error == asio::error::operation_aborted) return;
      if (error) {  // out of descriptors, most likely: trying again at once would spin
        retry.expires_after(kAcceptRetryTime);
        retry.async_wait([this](error_code cancelled) {
          if (!cancelled) accept();
        });
        return;
      }
      admit(std::move(socket));
      accept();
    });
  }

  void admit(tcp::socket socket) {
    connections.remove_if([](const std::weak_ptr<Connection>& c) { return c.expired(); });
    if (connections.size() >= limits.connections) {
      if (auto oldest = connections.front().lock()) oldest->drop();
      connections.pop_front();
    }
    auto connection = std::make_shared<Connection>(std::move(socket), handler, limits);
    connections.push_back(connection);
    connection->start();
  }

  const HttpHandler handler;
  const HttpLimits limits;
  asio::io_context context{1};
  tcp::acceptor acceptor{context};
  asio::steady_timer retry{context};
  std::list<std::weak_ptr<Connection>> connections;  // in order of arrival
  std::thread thread;
};

base::Result<std::unique_ptr<HttpServer>> HttpServer::start(const Endpoint& endpoint,
                                                            HttpHandler handler,
                                                            const HttpLimits& limits, AccessLog) {
  auto core = std::make_unique<Core>(std::move(handler), limits);
  Endpoint bound = endpoint;
  if (base::Status status = core->listen(bound); !status) return status;
  core->accept();
  core->thread = std::thread([core = core.get()] {
    pthread_setname_np(pthread_self(), "gpufl-http");
    core->context.run();
  });
  return std::unique_ptr<HttpServer>(new HttpServer(std::move(core), std::move(bound)));
}

HttpServer::HttpServer(std::unique_ptr<Core> core, Endpoint endpoint)
    : core_(std::move(core)), endpoint_(std::move(endpoint)) {}

HttpServer::~HttpServer() { stop(); }

void HttpServer::stop() {
  core_->context.stop();
  if (core_->thread.joinable()) core_->thread.join();
}

HttpStats HttpServer::stats() const { return {}; }

}  // namespace gpufl::net
