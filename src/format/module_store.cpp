// SPDX-License-Identifier: Apache-2.0
#include "format/module_store.hpp"

#include <pthread.h>

#include <algorithm>
#include <exception>
#include <system_error>

#include "base/own_threads.hpp"
#include "base/signals_blocked.hpp"
#include "format/module_files.hpp"

namespace gpufl::format {
namespace {

using base::Json;

Json line_of(int64_t time_ns, uint64_t id) {
  Json line = Json::object();
  line.set("time", time_ns).set("id", std::to_string(id));
  return line;
}

}  // namespace

ModuleStore::ModuleStore(const std::filesystem::path& session_dir, uint64_t cap)
    : folder_(session_dir / kModuleFolder), cap_(cap) {}

bool ModuleStore::add(int64_t time_ns, const CodeImage& image, bool has_room) noexcept {
  const std::lock_guard lock(mutex_);
  try {
    return finishing_ || add_waiting(time_ns, image, has_room);
  } catch (const std::exception&) {
    ++without_memory_;
    return true;
  }
}

bool ModuleStore::add_waiting(int64_t time_ns, const CodeImage& image, bool has_room) {
  Json line = line_of(time_ns, image.id);
  if (!image.missing.empty()) {
    if (!kept_ids_.contains(image.id) && missing_ids_.insert(image.id).second) {
      lines_.push_back(std::move(line.set("missing", image.missing)));
    }
    return true;
  }
  if (waiting_bytes_ != 0 && waiting_bytes_ + image.bytes.size() > kMaxWaiting) return false;
  line.set("bytes", image.bytes.size());
  if (image.functions >= 0) line.set("functions", image.functions);
  if (!image.found.empty()) line.set("found", image.found);
  if (!image.path.empty()) line.set("path", image.path);
  waiting_.push_back({std::move(line), image.id, base::PageString(image.bytes), has_room});
  waiting_bytes_ += image.bytes.size();
  if (!thread_.joinable()) start_thread();
  wake_.notify_all();
  return true;
}

void ModuleStore::start_thread() {
  const base::SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "gpufl-modules");
  } catch (const std::exception&) {
    // No thread to be had: the next image tries again, or finish() does the work.
  }
}

void ModuleStore::run() {
  const base::OwnThread own;
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!waiting_.empty()) {
      keep_next(lock);
    } else if (finishing_) {
      return;
    } else {
      wake_.wait(lock);
    }
  }
}

void ModuleStore::keep_next(std::unique_lock<std::mutex>& lock) {
  Waiting image = std::move(waiting_.front());
  waiting_.pop_front();
  // Nothing may be thrown out of a thread inside the host.
  try {
    keep(lock, image);
  } catch (const std::exception&) {
    if (!lock.owns_lock()) lock.lock();
    ++without_memory_;
  }
  waiting_bytes_ -= image.bytes.size();
}

// The lock is given up for what takes time: nobody else adds to what is kept meanwhile.
void ModuleStore::keep(std::unique_lock<std::mutex>& lock, Waiting& image) {
  lock.unlock();
  const std::string hash = module_hash(image.bytes);
  lock.lock();
  if (kept_.contains(hash)) return;
  if (!image.has_room || image_bytes_ + image.bytes.size() > cap_) return refuse(image, hash);
  image.line.set("hash", hash);
  lock.unlock();
  std::error_code ignored;  // writing tells
  std::filesystem::create_directory(folder_, ignored);
  const auto written = write_module(folder_ / module_file_name(hash), image.bytes);
  lock.lock();
  if (!written) return refuse(image, hash);
  image_bytes_ += image.bytes.size();
  file_bytes_ += *written;
  kept_.insert(hash);
  kept_ids_.insert(image.id);
  over_cap_.erase(hash);
  missing_ids_.erase(image.id);
  lines_.push_back(std::move(image.line));
}

void ModuleStore::refuse(const Waiting& image, const std::string& hash) {
  if (!over_cap_.insert(hash).second || kept_ids_.contains(image.id)) return;
  lines_.push_back(line_of(image.line["time"].as_integer(), image.id).set("missing", "over_cap"));
}

std::vector<Json> ModuleStore::take_lines() {
  const std::lock_guard lock(mutex_);
  return std::exchange(lines_, {});
}

uint64_t ModuleStore::bytes() const {
  const std::lock_guard lock(mutex_);
  return file_bytes_ + waiting_bytes_;
}

ModuleCounts ModuleStore::counts() const {
  const std::lock_guard lock(mutex_);
  return {kept_.size(), over_cap_.size() + without_memory_, missing_ids_.size()};
}

void ModuleStore::finish() {
  std::unique_lock lock(mutex_);
  if (std::exchange(finishing_, true)) return;
  wake_.notify_all();
  if (thread_.joinable()) {
    lock.unlock();
    thread_.join();
    lock.lock();
  }
  while (!waiting_.empty()) keep_next(lock);
}

}  // namespace gpufl::format
