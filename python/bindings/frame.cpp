// SPDX-License-Identifier: Apache-2.0
#include "bindings/frame.hpp"

#include <atomic>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

namespace gpufl::python {

void FrameBuilder::add(std::string name, Dtype dtype, Make make) {
  FrameColumn& column = frame_.columns.emplace_back();
  column.name = std::move(name);
  column.dtype = dtype;
  makes_.push_back(std::move(make));
}

// Asks for no large pages: where memory is in pieces, waiting for them takes longer than they save.
std::shared_ptr<void> FrameBuilder::allocate(size_t bytes) {
  void* const memory = std::malloc(std::max<size_t>(bytes, 1));
  if (memory == nullptr) throw std::bad_alloc();
  return {memory, std::free};
}

FrameArray FrameBuilder::zeros() {
  if (zeros_.data == nullptr) {
    zeros_.memory = {std::calloc(std::max<size_t>(rows_, 1), sizeof(int64_t)), std::free};
    if (zeros_.memory == nullptr) throw std::bad_alloc();
    zeros_.data = zeros_.memory.get();
  }
  return zeros_;
}

FrameArray FrameBuilder::ones() {
  if (ones_.data == nullptr) fill<uint8_t>(ones_, [](size_t) { return uint8_t{1}; });
  return ones_;
}

void FrameBuilder::view(std::string name, const std::vector<int64_t>& values) {
  add(std::move(name), Dtype::Int64,
      [&values](FrameColumn& column) { column.values = {values.data(), nullptr}; });
}

void FrameBuilder::view(std::string name, const std::vector<int64_t>& values, int64_t unknown) {
  add(std::move(name), Dtype::Int64, [this, &values, unknown](FrameColumn& column) {
    column.values = {values.data(), nullptr};
    if (std::find(values.begin(), values.end(), unknown) == values.end()) {
      column.missing = zeros_;
    } else {
      fill<uint8_t>(column.missing, [&](size_t row) { return values[row] == unknown ? 1 : 0; });
    }
  });
}

void FrameBuilder::looked_up(ColumnHead head, const std::vector<uint32_t>& index,
                             std::vector<int64_t> values) {
  const bool is_known = std::any_of(values.begin(), values.end(),
                                    [](int64_t value) { return value != kUnknownCell; });
  if (index.empty() || !is_known) return absent(std::move(head.name), Dtype::Int64);
  computed(std::move(head),
           [&index, values = std::move(values)](size_t row) { return values[index[row]]; });
}

void FrameBuilder::absent(std::string name, Dtype dtype) {
  switch (dtype) {
    case Dtype::Int64:
    case Dtype::UInt64: {
      const FrameArray nothing = ones();
      add(std::move(name), dtype, [this, nothing](FrameColumn& column) {
        column.values = zeros_;
        column.missing = nothing;
      });
      break;
    }
    case Dtype::Float64:
      reals({std::move(name)}, [](size_t) { return std::numeric_limits<double>::quiet_NaN(); });
      break;
    case Dtype::Code8:
    case Dtype::Code16:
    case Dtype::Code32:
      add(std::move(name), Dtype::Code8, [this](FrameColumn& column) {
        fill<int8_t>(column.values, [](size_t) { return int8_t{-1}; });
      });
      break;
  }
}

Frame FrameBuilder::finish() {
  zeros();  // before threads share it
  frame_.rows = rows_;
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto work = [&] {
    try {
      for (size_t i = next++; i < makes_.size(); i = next++) makes_[i](frame_.columns[i]);
    } catch (...) {
      const std::lock_guard lock(mutex);
      failure = std::current_exception();
    }
  };
  constexpr size_t kWorthThreads = 100'000;
  const size_t processors = std::max(1U, std::thread::hardware_concurrency());
  const size_t helpers =
      rows_ < kWorthThreads ? 0 : std::min<size_t>(makes_.size(), processors) - 1;
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < helpers; ++i) threads.emplace_back(work);
    work();
  }
  if (failure) std::rethrow_exception(failure);
  frame_.kept = std::move(kept_);
  return std::move(frame_);
}

std::vector<std::string> FrameBuilder::sorted_categories(const std::vector<std::string>& labels) {
  std::vector<std::string> categories;
  std::copy_if(labels.begin(), labels.end(), std::back_inserter(categories),
               [](const std::string& label) { return !label.empty(); });
  std::sort(categories.begin(), categories.end());
  categories.erase(std::unique(categories.begin(), categories.end()), categories.end());
  return categories;
}

int32_t FrameBuilder::code_of(const std::vector<std::string>& categories,
                              const std::string& label) {
  if (label.empty()) return -1;
  const auto found = std::lower_bound(categories.begin(), categories.end(), label);
  return static_cast<int32_t>(found - categories.begin());
}

}  // namespace gpufl::python
