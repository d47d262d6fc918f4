// SPDX-License-Identifier: Apache-2.0
#include "server/event_hub.hpp"

#include <algorithm>
#include <string>

namespace gpufl::server {
namespace {

// Of the streams there may be: links are for anybody, and must not take those of the others.
constexpr size_t kShareOfGuests = 4;

const std::string& session_of(const base::Json& data) {
  return data["id"].is_string() ? data["id"].as_string() : data["session"].as_string();
}

// What it is about they ask for, and are answered as their link allows.
base::Json for_guests(const base::Json& data) {
  base::Json told = base::Json::object();
  for (const char* name : {"id", "session", "change", "kind", "state"}) {
    if (const base::Json* value = data.find(name)) told.set(name, *value);
  }
  return told;
}

}  // namespace

std::shared_ptr<net::EventChannel> EventHub::open(std::string_view event,
                                                  const base::Json& greeting,
                                                  const Viewer& viewer) {
  auto channel = std::make_shared<net::EventChannel>();
  channel->push(net::event_text(event, greeting.dump()));
  const std::lock_guard lock(mutex_);
  // Those that left are found here, because nothing may be published for a long time.
  std::erase_if(followers_, [](const Follower& one) { return one.channel->is_closed(); });
  if (followers_.size() >= most_) return nullptr;
  if (viewer.is_guest()) {
    const auto guests = std::count_if(followers_.begin(), followers_.end(),
                                      [](const Follower& one) { return !one.session.empty(); });
    if (static_cast<size_t>(guests) >= most_ / kShareOfGuests) return nullptr;
  }
  followers_.push_back({channel, viewer.session});
  return channel;
}

void EventHub::publish(std::string_view event, const base::Json& data) {
  const std::lock_guard lock(mutex_);
  const std::string text =
      net::event_text(event, without_places(data.dump(), hidden_), std::to_string(++published_));
  std::string guests;  // without its number, which tells how much else happens
  std::erase_if(followers_, [&](const Follower& one) {
    if (one.session.empty()) return !one.channel->push(text);
    if (one.session != session_of(data)) return one.channel->is_closed();
    if (guests.empty()) guests = net::event_text(event, for_guests(data).dump());
    return !one.channel->push(guests);
  });
}

void EventHub::close_all() {
  const std::lock_guard lock(mutex_);
  for (const Follower& one : followers_) one.channel->close();
  followers_.clear();
}

}  // namespace gpufl::server
