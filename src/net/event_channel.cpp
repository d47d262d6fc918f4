// SPDX-License-Identifier: Apache-2.0
#include "net/event_channel.hpp"

#include <utility>

namespace gpufl::net {
namespace {

void append_line(std::string& out, std::string_view name, std::string_view value) {
  out += name;
  for (const char c : value) {
    if (c != '\n' && c != '\r' && c != '\0') out += c;
  }
  out += '\n';
}

}  // namespace

bool EventChannel::push(std::string_view text) {
  const std::lock_guard lock(mutex_);
  if (state_ != State::Open) return false;
  if (waiting_.size() + text.size() > max_waiting_bytes_) {
    state_ = State::Overflowed;
    waiting_.clear();
    is_woken_ = false;  // also while what was taken before is still being written
  } else {
    waiting_ += text;
  }
  wake_locked();
  return state_ == State::Open;
}

bool EventChannel::is_closed() const {
  const std::lock_guard lock(mutex_);
  return state_ != State::Open;
}

EventChannel::State EventChannel::state() const {
  const std::lock_guard lock(mutex_);
  return state_;
}

void EventChannel::close() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::Open) return;
  state_ = State::Ended;
  wake_locked();
}

void EventChannel::attach(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
  if (!waiting_.empty() || state_ != State::Open) wake_locked();
}

void EventChannel::detach() {
  std::function<void()> released;  // outside of the lock: it may hold the last of something
  const std::lock_guard lock(mutex_);
  released.swap(wake_);
  if (state_ == State::Open) state_ = State::Ended;
  waiting_.clear();
}

EventChannel::State EventChannel::take(std::string& out) {
  const std::lock_guard lock(mutex_);
  out += waiting_;
  waiting_.clear();
  is_woken_ = false;
  return state_;
}

void EventChannel::wake_locked() {
  if (!wake_ || is_woken_) return;
  is_woken_ = true;
  wake_();
}

std::string event_text(std::string_view event, std::string_view data, std::string_view id) {
  std::string out;
  if (!id.empty()) append_line(out, "id: ", id);
  if (!event.empty()) append_line(out, "event: ", event);
  while (true) {
    const size_t end = data.find_first_of("\r\n");
    append_line(out, "data: ", data.substr(0, end));
    if (end == std::string_view::npos) break;
    const bool is_pair = data.substr(end, 2) == "\r\n";
    data.remove_prefix(end + (is_pair ? 2 : 1));
  }
  out += '\n';
  return out;
}

}  // namespace gpufl::net
