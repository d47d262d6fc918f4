// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/cupti/api_functions.hpp"
#include "backend/nvidia/cupti/cupti_records.hpp"
#include "backend/nvidia/cupti/kernel_configs.hpp"
#include "backend/tracing/call_account.hpp"
#include "backend/tracing/row_joiner.hpp"

// CUPTI's records as rows: decode() reads a buffer, has the account count what is in it, and gives
// the joiner the rows that come of it. The callbacks' notes go to those two directly. The
// collector's thread only; memory is bounded.
namespace gpufl::backend {

// Session time 0 by CUPTI's clock and by the monotonic one.
struct ClockOrigins {
  int64_t cupti_ns = 0, monotonic_ns = 0;
};

class ActivityDecoder {
 public:
  ActivityDecoder(const CuptiApi& api, DeviceNumbers& devices, ClockOrigins origins,
                  const TraceOptions& options = {});
  ActivityDecoder(const ActivityDecoder&) = delete;
  ActivityDecoder& operator=(const ActivityDecoder&) = delete;

  // `latest_ns`: session time after which no record in the buffer can have ended.
  void decode(uint8_t* data, size_t valid_bytes, int64_t latest_ns, RowSink& sink);

  CallAccount& account() { return account_; }
  const CallAccount& account() const { return account_; }
  RowJoiner& joiner() { return joiner_; }
  // What CUPTI and the driver say they cost the program, by CUPTI's number for the reason.
  const std::map<uint32_t, uint64_t>& overhead_ns() const { return overhead_ns_; }
  uint64_t cupti_overhead_ns() const;  // the part that would not be there without CUPTI

 private:
  int64_t session_time(uint64_t stamp) const {
    return stamp == 0 ? kUnknown : static_cast<int64_t>(stamp) - origins_.cupti_ns;
  }
  template <typename Record>
  ActivityRow activity(const Record& record);
  void decode_kernel(const KernelRecord& record, RowSink& sink);
  void decode_own_kernel(const KernelRecord& record, RowSink& sink);
  void decode_copy(const MemcpyRecord& record, RowSink& sink);
  void decode_peer_copy(const PeerMemcpyRecord& record, RowSink& sink);
  void decode_fill(const MemsetRecord& record, RowSink& sink);
  void decode_wait(const SyncRecord& record);
  void decode_call(const ApiRecord& record, RowSink& sink);
  void decode_memory(const MemoryRecord& record);
  void decode_overhead(const OverheadRecord& record);
  void decode_device(const DeviceRecord& record, int64_t latest_ns, RowSink& sink);
  void decode_context(const ContextRecord& record, int64_t latest_ns, RowSink& sink);

  const CuptiApi& api_;
  DeviceNumbers& devices_;
  const ClockOrigins origins_;
  const TraceOptions options_;
  const bool says_device_launched_;
  const CudaFunctions functions_;
  CallAccount account_;
  RowJoiner joiner_;
  KernelConfigs configs_;
  std::map<uint32_t, uint64_t> overhead_ns_;
};

}  // namespace gpufl::backend
