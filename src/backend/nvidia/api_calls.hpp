// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cupti_api.hpp"

// API calls by correlation id, so that GPU activity finds the call behind it; the two arrive in
// any order and in different buffers. The collector's thread only. Fixed size, no allocation: ids
// count up, so a call's place is its id's low bits, and a call is forgotten when one 131,072 ids
// younger comes. Ids are 32 bits and wrap; nothing here minds.
namespace gpufl::backend {

enum class ApiRole : uint8_t {
  Unknown,   // not looked up yet
  Other,     // of interest only when it failed
  Memory,    // allocates or releases
  Activity,  // launches, copies, fills or waits: its rows carry the call
};
ApiRole api_role(std::string_view function_name);

struct ApiCall {
  int64_t start = 0;  // session time
  int64_t duration = 0;
  uint32_t id = 0;
  uint32_t thread = 0;
  uint32_t result = 0;
  uint16_t function = 0;  // CUPTI's number within the domain
  bool is_driver = false;
  bool joined = false;  // some row carries it
};

class ApiCalls {
 public:
  static constexpr size_t kCapacity = size_t{1} << 17;

  ApiCalls();
  // Remembers `call`. A runtime call and the driver call inside it share an id: the outer one
  // counts. Returns the call that had to go for it, or null; valid until the next call.
  const ApiCall* remember(const ApiCall& call);
  ApiCall* find(uint32_t id);
  // Calls visit(call) for every call remembered, and forgets them.
  template <typename Visit>
  void forget_all(Visit visit) {
    for (size_t i = 0; i < kCapacity; ++i) {
      if (calls_[i].id != 0) visit(calls_[i]);
      calls_[i] = {};
    }
  }

 private:
  std::unique_ptr<ApiCall[]> calls_;
  ApiCall evicted_;
};

// Names and roles of API functions, asked of CUPTI once each.
class ApiFunctions {
 public:
  explicit ApiFunctions(const CuptiApi& api) : api_(api) {}
  ApiRole role(bool is_driver, uint32_t function) { return entry(is_driver, function).role; }
  int64_t name_id(bool is_driver, uint32_t function, RowSink& sink);

 private:
  struct Entry {
    ApiRole role = ApiRole::Unknown;
    int64_t name_id = 0;
  };
  static constexpr uint32_t kMaxFunction = 4096;  // 13.1 has some 800
  Entry& entry(bool is_driver, uint32_t function);
  std::string name(bool is_driver, uint32_t function) const;

  const CuptiApi& api_;
  std::vector<Entry> entries_[2];
  Entry beyond_{ApiRole::Other, 0};
};

}  // namespace gpufl::backend
