// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

// Values by two numbers, made when first asked for; the last one is at hand. Bounded: a new one
// that finds no room makes it forget all others. One thread.
namespace gpufl::backend {

template <typename Value>
class PairTable {
 public:
  static constexpr size_t kMaxValues = 16'384;

  // Valid until the next call.
  Value& at(uint32_t high, uint32_t low) {
    const uint64_t key = uint64_t{high} << 32 | low;
    if (last_ != nullptr && key == last_key_) return *last_;
    last_ = nullptr;
    if (values_.size() >= kMaxValues && values_.count(key) == 0) values_.clear();
    last_key_ = key;
    return *(last_ = &values_[key]);
  }

 private:
  std::unordered_map<uint64_t, Value> values_;
  uint64_t last_key_ = 0;
  Value* last_ = nullptr;
};

}  // namespace gpufl::backend
