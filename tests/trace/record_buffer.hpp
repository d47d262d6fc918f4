// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/nvidia/cupti/activity_decoder.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"

// CUPTI's records as a test wants them, of the layout and size of CUPTI 13.0.
namespace gpufl::backend {

// The stand-in libcupti as a session opens it, of version 13.0.
std::shared_ptr<CuptiLibrary> open_standin_cupti();

class RecordBuffer {
 public:
  // `stream` 0: one of its own, so that nothing has to run before it.
  void kernel(uint32_t id, uint32_t context, int64_t start_ns, int64_t duration_ns = 1000,
              uint64_t node = 0, uint32_t stream = 0);
  void kernel_without_times(uint32_t id, uint32_t context) { kernel(id, context, 0, 0); }
  // A call of the runtime.
  void call(uint32_t id, uint32_t thread, int64_t start_ns, uint32_t result = 0,
            CUpti_CallbackId function = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  // Any other record; its size in CUPTI 13.0 may be larger than the struct's.
  template <typename Record>
  void add(const Record& record, size_t size = sizeof(Record)) {
    append(&record, sizeof record, size);
  }
  // Hands over what was added since.
  void decode(ActivityDecoder& decoder, int64_t latest_ns, RowSink& sink);

 private:
  void append(const void* record, size_t bytes, size_t size);
  std::vector<uint64_t> words_;  // records are aligned to 8 bytes
};

}  // namespace gpufl::backend
