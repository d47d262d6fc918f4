// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <utility>

// A value that is costly and follows from others: made when it is first asked for, once for all who
// ask. Any thread. A copy makes its own, because what it follows from may change there.
namespace gpufl::analysis {

template <typename T>
class MadeOnce {
 public:
  MadeOnce() : made_(std::make_unique<Made>()) {}
  MadeOnce(const MadeOnce& /*other*/) : MadeOnce() {}
  MadeOnce(MadeOnce&& other) noexcept = default;
  MadeOnce& operator=(MadeOnce other) noexcept {
    made_ = std::move(other.made_);
    return *this;
  }
  ~MadeOnce() = default;

  template <typename Make>
  const T& get(Make make) const {
    std::call_once(made_->once, [&] { made_->value.emplace(make()); });
    return *made_->value;
  }

 private:
  struct Made {
    std::once_flag once;
    std::optional<T> value;
  };
  std::unique_ptr<Made> made_;
};

}  // namespace gpufl::analysis
