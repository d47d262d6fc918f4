// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "net/event_channel.hpp"
#include "server/session_folders.hpp"
#include "server/viewer.hpp"

// The event streams that are open, and what all of them are told. Any thread.
namespace gpufl::server {

class EventHub {
 public:
  // `hidden`: what nobody is told.
  explicit EventHub(size_t most = SIZE_MAX, HiddenPlaces hidden = {})
      : most_(most), hidden_(std::move(hidden)) {}

  // A stream that is told everything from now on, after `greeting`; of a guest, only that something
  // happened to their session. Null: there are enough.
  std::shared_ptr<net::EventChannel> open(std::string_view event, const base::Json& greeting,
                                          const Viewer& viewer = {});
  // `data` names the session as "id" or as "session".
  void publish(std::string_view event, const base::Json& data);
  void close_all();

 private:
  struct Follower {
    std::shared_ptr<net::EventChannel> channel;
    std::string session;  // of a guest; empty: is told everything
  };
  const size_t most_;
  const HiddenPlaces hidden_;
  std::mutex mutex_;
  std::vector<Follower> followers_;
  uint64_t published_ = 0;
};

}  // namespace gpufl::server
