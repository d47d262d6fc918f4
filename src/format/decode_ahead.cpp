// SPDX-License-Identifier: Apache-2.0
#include "format/decode_ahead.hpp"

#include <system_error>
#include <utility>

namespace gpufl::format {
namespace {

// Shorter lines are decoded sooner than they are handed over.
constexpr size_t kWorthHandingOver = 8192;
constexpr size_t kSlotsPerWorker = 3;

}  // namespace

DecodeAhead::DecodeAhead(unsigned workers)
    : wanted_workers_(workers), slots_(1 + kSlotsPerWorker * workers) {}

DecodeAhead::~DecodeAhead() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  has_work_.notify_all();
  for (std::thread& worker : workers_) worker.join();
}

void DecodeAhead::start_workers() {
  is_started_ = true;
  try {
    while (workers_.size() < wanted_workers_) workers_.emplace_back([this] { work(); });
  } catch (const std::system_error&) {
    // With those that there are, or without.
  }
}

void DecodeAhead::put(Kind kind, uint64_t number, std::string_view text) {
  Slot& into = slot(put_);
  into.line.number = number;
  into.line.stats = {};
  into.failure = nullptr;
  auto& batch = into.batches[static_cast<size_t>(kind)];
  if (!batch) batch = std::make_unique<Batch>(kind);
  into.line.batch = batch.get();
  ++put_;

  const bool is_long = text.size() >= kWorthHandingOver;
  if (is_long && !is_started_) start_workers();
  if (!is_long || workers_.empty()) {
    decode(codec_, text, into);
    into.is_decoded = true;
    return;
  }
  into.text.assign(text);
  {
    const std::lock_guard lock(mutex_);
    into.is_decoded = false;
    to_decode_.push_back(&into);
  }
  has_work_.notify_one();
}

DecodeAhead::Line& DecodeAhead::take() {
  Slot& oldest = slot(taken_);
  {
    std::unique_lock lock(mutex_);
    is_decoded_.wait(lock, [&] { return oldest.is_decoded; });
  }
  ++taken_;
  if (oldest.failure) std::rethrow_exception(std::exchange(oldest.failure, nullptr));
  return oldest.line;
}

void DecodeAhead::decode(BatchCodec& codec, std::string_view text, Slot& slot) {
  try {
    slot.line.status = codec.decode(text, *slot.line.batch, &slot.line.stats);
  } catch (...) {
    slot.failure = std::current_exception();
  }
}

void DecodeAhead::work() {
  BatchCodec codec;
  std::unique_lock lock(mutex_);
  while (true) {
    has_work_.wait(lock, [this] { return is_stopping_ || !to_decode_.empty(); });
    if (is_stopping_) return;
    Slot& next = *to_decode_.front();
    to_decode_.pop_front();
    lock.unlock();
    decode(codec, next.text, next);
    lock.lock();
    next.is_decoded = true;
    is_decoded_.notify_one();
  }
}

}  // namespace gpufl::format
