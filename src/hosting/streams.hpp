// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "net/http_message.hpp"

// Answers that go on: they end when whoever asked for them may no longer have them. Any thread.
namespace gpufl::hosting {

class Streams {
 public:
  using StillMay = std::function<bool()>;

  // An answer that is whole already stays as it is.
  net::HttpReply watch(net::HttpReply reply, StillMay still_may);
  // Ends events of those who may no longer have them; other answers ask before every piece.
  void end_unwanted();

 private:
  struct Watched {
    std::weak_ptr<net::EventChannel> channel;
    StillMay still_may;
  };
  std::mutex mutex_;
  std::vector<Watched> watched_;
};

}  // namespace gpufl::hosting
