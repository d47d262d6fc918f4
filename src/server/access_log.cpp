// SPDX-License-Identifier: Apache-2.0
#include "server/access_log.hpp"

#include <pthread.h>

#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "text/display.hpp"
#include "text/units.hpp"

namespace gpufl::server {
namespace {

constexpr size_t kMostLines = 4096;

}  // namespace

std::string access_line(const net::AccessRecord& record, int64_t wall_ns, bool is_json) {
  const std::string& method = record.method.empty() ? "-" : record.method;
  if (!is_json) {
    return fmt::format("{} {} \"{} {}\" {} {} B {:.1f} ms{}\n", text::utc(wall_ns), record.peer,
                       text::make_harmless(method), text::make_harmless(record.path), record.status,
                       record.bytes, static_cast<double>(record.duration_us) / 1000,
                       record.is_complete ? "" : " cut off");
  }
  base::Json json = base::Json::object();
  json.set("time", text::utc(wall_ns)).set("peer", record.peer).set("method", method);
  json.set("path", record.path).set("status", record.status).set("bytes", record.bytes);
  json.set("duration_us", record.duration_us).set("is_complete", record.is_complete);
  return json.dump() + "\n";
}

AccessLogger::AccessLogger(bool is_json, Write write)
    : is_json_(is_json), write_(std::move(write)), thread_([this] { run(); }) {
  pthread_setname_np(thread_.native_handle(), "gpufl-log");
}

AccessLogger::~AccessLogger() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void AccessLogger::add(const net::AccessRecord& record) {
  std::string line = access_line(record, base::wall_ns(), is_json_);
  const std::lock_guard lock(mutex_);
  if (lines_.size() >= kMostLines) {
    ++dropped_;
    return;
  }
  lines_.push_back(std::move(line));
  changed_.notify_one();
}

void AccessLogger::run() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [&] { return is_stopping_ || !lines_.empty(); });
    if (lines_.empty()) return;
    std::deque<std::string> lines = std::exchange(lines_, {});
    const uint64_t dropped = std::exchange(dropped_, 0);
    lock.unlock();
    for (const std::string& line : lines) write_(line);
    if (dropped > 0) {
      write_(is_json_ ? fmt::format("{{\"dropped_lines\":{}}}\n", dropped)
                      : fmt::format("{} lines were dropped\n", dropped));
    }
    lock.lock();
  }
}

}  // namespace gpufl::server
