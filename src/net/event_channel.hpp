// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>

// Server-sent events on their way to one client. A handler makes one, keeps a pointer and returns
// the other in its reply; events pushed before that are kept. Any thread. What waits is bounded: a
// client that does not read is dropped, because events would otherwise be lost without its
// knowledge.
namespace gpufl::net {

class EventChannel {
 public:
  explicit EventChannel(size_t max_waiting_bytes = 256 * 1024)
      : max_waiting_bytes_(max_waiting_bytes) {}
  ~EventChannel() = default;
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  // Text as event_text() makes it. False: the channel is closed, or this closed it for being full.
  bool push(std::string_view text);
  // The client has gone, was dropped, or close() was called.
  bool is_closed() const;
  // What was pushed before still goes out, then the stream ends.
  void close();

  // The server's side. `wake` is called under the channel's lock whenever there is something new,
  // once until take(), from the thread that pushes; it must not block.
  void attach(std::function<void()> wake);
  void detach();  // closes; `wake` is not called any more once this has returned
  enum class State : unsigned char { Open, Ended, Overflowed };
  State state() const;
  // Moves what waits to `out`.
  State take(std::string& out);

 private:
  void wake_locked();

  const size_t max_waiting_bytes_;
  mutable std::mutex mutex_;
  std::string waiting_;
  std::function<void()> wake_;
  State state_ = State::Open;
  bool is_woken_ = false;
};

// "id: …", "event: …" and "data: …" lines and the empty line that ends an event. Line ends in
// `data` begin further data lines; in `event` and `id`, which are left out when empty, they are
// removed.
std::string event_text(std::string_view event, std::string_view data, std::string_view id = {});

}  // namespace gpufl::net
