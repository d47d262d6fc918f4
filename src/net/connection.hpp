// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "net/http_limits.hpp"
#include "net/http_message.hpp"
#include "net/worker_pool.hpp"

namespace boost::asio {
class io_context;  // NOLINT(readability-identifier-naming)
}

// One client, from accept to close: reads a request, has a worker answer it, writes the answer, and
// begins again. Everything here happens on the network's thread; the server owns connections and
// forgets them in `on_closed`.
namespace gpufl::net {

class Connection {
 public:
  using Clock = std::chrono::steady_clock;

  Connection() = default;
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  virtual void start() = 0;
  // Instead of start(): answers 503 to whatever is asked, and closes.
  virtual void turn_away() = 0;
  // What closing it would cost, to make room for another. Nothing: a request of it is at work.
  struct Worth {
    enum class Kind : unsigned char {
      Stranger,      // has sent no whole request, or has its answer
      Acquaintance,  // likewise, and has shown before who it is
      SlowReader,    // a stranger that does not take its answer
      Sender,        // has shown who it is, and sends a body
    };
    Kind kind;
    Clock::time_point since;

    bool operator<(const Worth& other) const {
      return kind != other.kind ? kind < other.kind : since < other.since;
    }
  };
  virtual std::optional<Worth> worth() const = 0;
  // Answers the request that is under way, and closes; at once when there is none.
  virtual void finish() = 0;
  // Closes now.
  virtual void drop() = 0;
};

// What connections share. Outlives them, and the threads of its pool.
struct ConnectionShared {
  ConnectionShared(HttpHandler handler_in, const HttpLimits& limits_in, AccessLog log_in,
                   HeadCheck check_in)
      : handler(std::move(handler_in)),
        limits(limits_in),
        log(std::move(log_in)),
        check(std::move(check_in)),
        pool(limits.workers, limits.queued_requests) {}

  const HttpHandler handler;
  const HttpLimits limits;
  const AccessLog log;
  const HeadCheck check;  // may be empty
  std::function<void(const Connection*)> on_closed;
  // Written on the network's thread, read on any.
  std::atomic<size_t> event_streams{0}, late_handlers{0}, unsent_bytes{0}, held_bytes{0};
  std::atomic<uint64_t> requests{0}, refused{0}, late_requests{0}, crowded_out{0}, dropped{0},
      bytes_sent{0};
  WorkerPool pool;  // last: its threads use the rest
};

// Of a connected socket, which it owns.
std::shared_ptr<Connection> make_connection(boost::asio::io_context& context, int descriptor,
                                            bool is_v6, std::string peer, ConnectionShared& shared);

}  // namespace gpufl::net
