// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

// What a server allows its clients, what it counts, and what it says of each request. Plain values,
// shared by the server, its connections and the parser of requests.
namespace gpufl::net {

struct HttpLimits {
  size_t target_bytes = 8192;       // path and query; beyond: 414
  size_t header_bytes = 16 * 1024;  // request line and fields together; beyond: 431
  size_t body_bytes = 1024 * 1024;  // of a request; beyond: 413
  // For the head of a request, and again for every 64 KiB of its body; then 408. A byte now and
  // then gains no time.
  std::chrono::milliseconds read_time{5000};
  std::chrono::milliseconds body_time{20000};   // for all of a body; then 408
  std::chrono::milliseconds write_time{10000};  // without a byte being taken by the client
  std::chrono::milliseconds idle_time{60000};   // between requests
  // From the end of a request to the handler's return, unless the handler keeps its own time; then
  // it is cancelled, and the client gets 503.
  std::chrono::milliseconds handler_time{30000};
  std::chrono::milliseconds stop_time{5000};  // for requests under way when stop() is called
  // Then they are cancelled, and have this long to notice.
  std::chrono::milliseconds cancel_time{2000};
  std::chrono::milliseconds heartbeat{15000};  // a comment on event streams, when nothing happens
  // Beyond: one whose request is not there yet is closed, strangers first and of these the oldest;
  // when all have a request that is at work, the new one gets 503.
  size_t connections = 64;
  size_t event_streams = 32;  // beyond: 503
  size_t workers = 2;
  size_t queued_requests = 64;  // that wait for a worker; beyond: 503
  // Of all answers that clients have not taken yet; one that would pass it becomes 503. Small ones,
  // up to 64 KiB, always go out, and a large one where nothing else waits.
  size_t unsent_bytes = size_t{256} * 1024 * 1024;
  // Likewise of all bodies in memory, those that are still to come included. One that would pass it
  // is refused by its head.
  size_t held_bytes = size_t{256} * 1024 * 1024;
};

struct HttpStats {
  size_t connections = 0;  // now
  size_t event_streams = 0;
  size_t queued_requests = 0;
  size_t late_handlers = 0;  // that are at work still, though their clients have been answered
  size_t unsent_bytes = 0;   // of answers that clients have not taken yet
  size_t held_bytes = 0;     // of bodies that are in memory, or on their way there
  uint64_t requests = 0;     // answered so far, errors included
  uint64_t refused = 0;  // of these, not by the handler: malformed, too large, too late, too many
  uint64_t late_requests = 0;  // of these, given up because of handler_time
  uint64_t crowded_out = 0;    // of these, because of unsent_bytes or held_bytes
  uint64_t dropped = 0;        // clients that were cut off: did not read, or had to make room
  uint64_t bytes_sent = 0;
};

// One request as an access log has it. Without the query, which may hold a secret.
struct AccessRecord {
  std::string method;  // empty where the request could not be read
  std::string path;
  std::string peer;
  int status = 0;
  uint64_t bytes = 0;  // sent, head included
  int64_t duration_us = 0;
  bool is_complete = true;  // false: the client did not get all of it
};
// Called on the network's thread, so it must not block.
using AccessLog = std::function<void(const AccessRecord&)>;

}  // namespace gpufl::net
