// SPDX-License-Identifier: Apache-2.0
#include "server/event_hub.hpp"

#include <string>

namespace gpufl::server {

std::shared_ptr<net::EventChannel> EventHub::open(std::string_view event,
                                                  const base::Json& greeting) {
  auto channel = std::make_shared<net::EventChannel>();
  channel->push(net::event_text(event, greeting.dump()));
  const std::lock_guard lock(mutex_);
  // Those that left are found here, because nothing may be published for a long time.
  std::erase_if(channels_, [](const auto& one) { return one->is_closed(); });
  if (channels_.size() >= most_) return nullptr;
  channels_.push_back(channel);
  return channel;
}

void EventHub::publish(std::string_view event, const base::Json& data) {
  const std::lock_guard lock(mutex_);
  const std::string text = net::event_text(event, data.dump(), std::to_string(++published_));
  std::erase_if(channels_, [&](const auto& one) { return !one->push(text); });
}

void EventHub::close_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& channel : channels_) channel->close();
  channels_.clear();
}

}  // namespace gpufl::server
