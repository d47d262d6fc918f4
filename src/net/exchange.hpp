// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <utility>

#include "net/http_message.hpp"

// One request and what becomes of it. The network's thread makes it, a worker has the request while
// it is handled, and what both write is atomic. Outlives the connection when the client goes first.
namespace gpufl::net {

struct Exchange {
  HttpRequest request;
  bool keeps_alive = false;
  std::atomic<bool> is_cancelled{false};
  std::atomic<bool> is_begun{false};        // by a worker
  std::atomic<bool> is_late{false};         // answered without waiting for the handler
  std::atomic<bool> keeps_own_time{false};  // as the handler said
  bool is_counted_late = false;             // of the network's thread
};

inline std::shared_ptr<Exchange> make_exchange(HttpRequest request, bool keeps_alive,
                                               bool is_cancelled) {
  auto exchange = std::make_shared<Exchange>();
  exchange->request = std::move(request);
  exchange->keeps_alive = keeps_alive;
  exchange->is_cancelled = is_cancelled;
  // Without owning: the exchange owns the request.
  exchange->request.is_cancelled = [weak = std::weak_ptr(exchange)] {
    const auto held = weak.lock();
    return !held || held->is_cancelled.load(std::memory_order_relaxed);
  };
  exchange->request.keeps_own_time = [weak = std::weak_ptr(exchange)] {
    if (const auto held = weak.lock()) held->keeps_own_time = true;
  };
  return exchange;
}

}  // namespace gpufl::net
