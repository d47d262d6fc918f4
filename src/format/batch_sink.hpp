// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "format/batch.hpp"
#include "format/schema.hpp"

namespace gpufl::format {

// What rows are handed to: a log, or what stands before one.
class BatchSink {
 public:
  virtual ~BatchSink() = default;
  virtual int64_t intern(Dict dict, std::string_view value) = 0;
  virtual void submit(const Batch& rows) = 0;
};

}  // namespace gpufl::format
