// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/code/module_watch.hpp"

#include <pthread.h>
#include <sys/resource.h>

#include <chrono>
#include <exception>
#include <utility>

#include "backend/nvidia/code/cubin_functions.hpp"
#include "base/clock.hpp"
#include "base/own_threads.hpp"
#include "base/signals_blocked.hpp"

namespace gpufl::backend {
namespace {

constexpr std::chrono::milliseconds kLastWait{2'000}, kPhaseWait{100};
constexpr std::chrono::milliseconds kHandOverPause{5};
// The program comes first: nobody waits for a search.
constexpr int kNiceness = 10;

}  // namespace

ModuleWatch& ModuleWatch::instance() {
  static ModuleWatch* const watch = new ModuleWatch;
  return *watch;
}

void ModuleWatch::start(const CodeSources& sources, int64_t session_start_ns) {
  const bool is_new_session =
      session_start_ns != std::exchange(session_start_ns_, session_start_ns);
  stop_ = false;
  finder_.begin(sources, is_new_session);
  if (is_new_session) {
    known_.clear();
    const std::lock_guard lock(mutex_);
    wanted_.clear();
    found_.clear();
    found_bytes_ = 0;
  }
  is_on_ = true;
}

void ModuleWatch::on_loaded(std::string_view image) noexcept {
  if (!is_on_ || image.data() == nullptr || image.empty()) return;
  {
    const std::lock_guard lock(mutex_);
    if (loaded_bytes_ + image.size() > kMaxLoadedBytes) return;
    loaded_bytes_ += image.size();
  }
  try {
    base::PageString copy(image);
    const std::lock_guard lock(mutex_);
    loaded_.push_back(std::move(copy));
  } catch (const std::exception&) {  // without memory it is left to the search
    const std::lock_guard lock(mutex_);
    loaded_bytes_ -= image.size();
  }
}

void ModuleWatch::on_kernel(std::string_view name) {
  if (is_on_ && is_new(function_key(name))) want(name, std::nullopt);
}

void ModuleWatch::on_sampled(uint64_t id, std::string_view function) {
  if (is_on_ && is_new(function_key(function) * 31 + id)) want(function, id);
}

bool ModuleWatch::is_new(uint64_t key) {
  if (known_.size() >= kMaxKnown) known_.clear();
  return known_.insert(key).second;
}

void ModuleWatch::want(std::string_view function, std::optional<uint64_t> id) {
  Wanted wanted{std::string(function), id, base::monotonic_ns()};
  const std::lock_guard lock(mutex_);
  wanted_.push_back(std::move(wanted));
}

void ModuleWatch::drain(int64_t now_ns, RowSink& sink) {
  wake();
  (void)hand_over(now_ns, sink);
}

void ModuleWatch::wake() {
  const std::lock_guard lock(mutex_);
  if (!has_work()) return;
  changed_.notify_all();
  if (thread_.joinable()) return;
  const base::SignalsBlocked blocked;
  try {
    thread_ = std::thread([this] { run(); });
    pthread_setname_np(thread_.native_handle(), "gpufl-code");
  } catch (const std::exception&) {  // the next round tries again
  }
}

void ModuleWatch::run() {
  const base::OwnThread own;
  setpriority(PRIO_PROCESS, 0, kNiceness);  // of this thread
  std::unique_lock lock(mutex_);
  while (!stop_) {
    if (has_work()) {
      find_next(lock);
    } else {
      is_busy_ = false;
      changed_.notify_all();
      changed_.wait(lock, [this] { return stop_ || has_work(); });
    }
  }
  is_busy_ = false;
}

// What was loaded comes first: a kernel runs after its module was loaded.
void ModuleWatch::find_next(std::unique_lock<std::mutex>& lock) {
  is_busy_ = true;
  // Nothing may be thrown out of a thread inside the host: what has no memory is not found.
  try {
    if (!loaded_.empty()) {
      base::PageString image = std::move(loaded_.front());
      loaded_.pop_front();
      loaded_bytes_ -= image.size();
      lock.unlock();
      finder_.add_loaded(std::move(image));
    } else {
      Wanted wanted = std::move(wanted_.front());
      wanted_.pop_front();
      lock.unlock();
      const bool is_settled =
          wanted.id ? finder_.want_sampled(*wanted.id, wanted.function, wanted.since_ns)
                    : finder_.want_kernel(wanted.function, wanted.since_ns);
      lock.lock();
      if (!is_settled) wanted_.push_front(std::move(wanted));
    }
  } catch (const std::exception&) {
  }
  if (!lock.owns_lock()) lock.lock();
}

void ModuleWatch::deliver(FoundCode found) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return stop_ || found_bytes_ < kMaxFoundBytes; });
  found_bytes_ += found.image.size();
  found_.push_back(std::move(found));
}

// False: the log does not take more now.
bool ModuleWatch::hand_over(int64_t now_ns, RowSink& sink) {
  for (;;) {
    FoundCode* next = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (found_.empty()) return true;
      next = &found_.front();  // nobody else takes one away
    }
    CodeImage image;
    image.id = next->id;
    image.bytes = next->image;
    image.missing = next->image.empty() ? "not_found" : "";
    image.found = next->found;
    image.path = next->path;
    image.functions = next->functions;
    if (!sink.keep_code(now_ns, image)) return false;
    const std::lock_guard lock(mutex_);
    found_bytes_ -= next->image.size();
    found_.pop_front();
    changed_.notify_all();
  }
}

void ModuleWatch::finish(int64_t now_ns, RowSink& sink) {
  const auto deadline =
      std::chrono::steady_clock::now() + (sink.is_last_round() ? kLastWait : kPhaseWait);
  bool is_done = false;
  while (!is_done && std::chrono::steady_clock::now() < deadline) {
    wake();
    const bool is_taken = hand_over(now_ns, sink);
    std::unique_lock lock(mutex_);
    is_done = is_taken && !is_busy_ && !has_work() && found_.empty();
    if (!is_done) changed_.wait_for(lock, kHandOverPause);
  }
  stop();
  (void)hand_over(now_ns, sink);
  const std::lock_guard lock(mutex_);
  for (const Wanted& wanted : wanted_) {
    if (!wanted.id) continue;
    CodeImage missing;
    missing.id = *wanted.id;
    missing.missing = "not_found";
    (void)sink.keep_code(now_ns, missing);
  }
  // Else the session's next tracer goes on: an image that is found then takes the place of what was
  // said here.
  if (sink.is_last_round()) wanted_.clear();
}

void ModuleWatch::stop() {
  is_on_ = false;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

}  // namespace gpufl::backend
