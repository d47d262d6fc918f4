// SPDX-License-Identifier: Apache-2.0
#include "hosting/streams.hpp"

#include <stdexcept>
#include <utility>

namespace gpufl::hosting {
namespace {

class CheckedSource : public net::BodySource {
 public:
  CheckedSource(std::unique_ptr<net::BodySource> source, Streams::StillMay still_may)
      : source_(std::move(source)), still_may_(std::move(still_may)) {}
  bool next(std::string& out) override {
    // Cuts the connection, so that the client knows that something is missing.
    if (!still_may_()) throw std::runtime_error("access has ended");
    return source_->next(out);
  }

 private:
  const std::unique_ptr<net::BodySource> source_;
  const Streams::StillMay still_may_;
};

}  // namespace

net::HttpReply Streams::watch(net::HttpReply reply, StillMay still_may) {
  if (reply.source) {
    reply.source = std::make_unique<CheckedSource>(std::move(reply.source), std::move(still_may));
  } else if (reply.events) {
    const std::lock_guard lock(mutex_);
    watched_.push_back({reply.events, std::move(still_may)});
  }
  return reply;
}

void Streams::end_unwanted() {
  const std::lock_guard lock(mutex_);
  std::erase_if(watched_, [](const Watched& one) {
    const auto channel = one.channel.lock();
    if (channel && !channel->is_closed() && one.still_may()) return false;
    if (channel) channel->close();
    return true;
  });
}

}  // namespace gpufl::hosting
