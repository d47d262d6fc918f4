// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

// Memory for answers that are being made, shared by all requests, so that many users cannot take
// more than one would. Any thread; never waits.
namespace gpufl::server {

class AnswerBudget {
 public:
  explicit AnswerBudget(uint64_t bytes) : free_(static_cast<int64_t>(bytes)) {}

  // Gives its bytes back when it goes.
  class Share {
   public:
    Share(AnswerBudget& budget, int64_t bytes) : budget_(&budget), bytes_(bytes) {}
    Share(Share&& other) noexcept
        : budget_(std::exchange(other.budget_, nullptr)), bytes_(other.bytes_) {}
    Share& operator=(Share&&) = delete;
    ~Share() {
      if (budget_ != nullptr) budget_->free_ += bytes_;
    }

   private:
    AnswerBudget* budget_;
    int64_t bytes_;
  };

  // Nothing: others hold too much now.
  std::optional<Share> take(uint64_t bytes) {
    const auto wanted = static_cast<int64_t>(bytes);
    if (free_.fetch_sub(wanted) >= wanted) return Share(*this, wanted);
    free_ += wanted;
    return {};
  }

 private:
  std::atomic<int64_t> free_;
};

}  // namespace gpufl::server
