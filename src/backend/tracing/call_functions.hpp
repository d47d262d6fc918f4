// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/backend.hpp"

// What the functions of a vendor's APIs are called and what they are to a trace. A vendor may have
// two APIs that number their functions each for itself: a runtime's, and the driver's below it. The
// collector's thread only.
namespace gpufl::backend {

enum class ApiRole : uint8_t {
  Unknown,   // not looked up yet
  Other,     // of interest only when it failed
  Memory,    // allocates or releases
  Activity,  // launches, copies, fills or waits: its rows carry the call
};

struct CallFunction {
  std::string name;  // as the program writes it
  ApiRole role = ApiRole::Other;
  uint32_t wait = 0;  // the log's number for the sort of waiting; 0: it is no wait
};

// The vendor's part.
class FunctionSource {
 public:
  virtual ~FunctionSource() = default;
  virtual CallFunction describe(bool is_driver, uint32_t function) const = 0;
  virtual std::string error_name(bool is_driver, uint32_t result) const = 0;
  // The kernel that a call launched which still waits; empty: unknown.
  virtual std::string kernel_of(uint32_t /*correlation*/) const { return {}; }
};

// Asks the vendor once for each function.
class CallFunctions {
 public:
  explicit CallFunctions(const FunctionSource& source) : source_(source) {}
  ApiRole role(bool is_driver, uint32_t function) { return entry(is_driver, function).role; }
  uint32_t wait(bool is_driver, uint32_t function) { return entry(is_driver, function).wait; }
  std::string name(bool is_driver, uint32_t function) const {
    return source_.describe(is_driver, function).name;
  }
  std::string kernel_of(uint32_t correlation) const { return source_.kernel_of(correlation); }
  int64_t name_id(bool is_driver, uint32_t function, RowSink& sink);
  int64_t error_id(bool is_driver, uint32_t result, RowSink& sink) const;  // 0 for no error

 private:
  struct Entry {
    ApiRole role = ApiRole::Unknown;
    uint32_t wait = 0;
    int64_t name_id = 0;
  };
  static constexpr uint32_t kMaxFunction = 4096;  // far beyond what vendors have
  Entry& entry(bool is_driver, uint32_t function);

  const FunctionSource& source_;
  std::vector<Entry> entries_[2];
  Entry beyond_{ApiRole::Other, 0, 0};
};

}  // namespace gpufl::backend
