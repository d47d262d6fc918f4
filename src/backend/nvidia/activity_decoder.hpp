// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/api_calls.hpp"
#include "backend/nvidia/cuda_driver.hpp"
#include "backend/nvidia/cupti_records.hpp"
#include "backend/nvidia/kernel_configs.hpp"

// CUPTI's records to rows of the log: decode() reads a buffer, submit() joins what was read with
// the API calls behind it and hands it on, one batch per kind and device. A row whose call has not
// arrived waits a few flushes for it. The collector's thread only; memory is bounded.
namespace gpufl::backend {

struct ActivityCounts {
  uint64_t kernels = 0;           // kernel records, good or bad
  uint64_t graph_kernels = 0;     // those of them that a graph launch brought
  uint64_t impossible_times = 0;  // records left out because their times cannot be
};

class ActivityDecoder {
 public:
  // CUPTI's times minus `origin_ns` are session time.
  ActivityDecoder(const CuptiApi& api, DeviceNumbers& devices, int64_t origin_ns);

  // `latest_ns`: session time after which no record in the buffer can have ended.
  void decode(uint8_t* data, size_t valid_bytes, int64_t latest_ns, RowSink& sink);
  // `flushed`: CUPTI was asked for everything since the last time.
  void submit(bool flushed, RowSink& sink);
  // The same, and nothing goes on waiting.
  void finish(RowSink& sink);

  const ActivityCounts& counts() const { return counts_; }

 private:
  // What every GPU activity has.
  struct Activity {
    int64_t start, duration;
    int64_t device;
    uint32_t context, stream, correlation;
    uint32_t flushes;  // that did not bring its API call
  };
  struct Kernel : Activity {
    int64_t config;
    uint64_t graph_node;
    uint32_t graph;
  };
  struct Copy : Activity {
    int64_t bytes;
    uint64_t graph_node;
    int64_t peer;  // -1: none
    uint8_t direction, source_kind, target_kind, async;
  };
  struct Fill : Activity {
    int64_t bytes;
    uint64_t graph_node;
    uint32_t value, memory_kind;
  };
  struct Wait : Activity {
    int64_t event;  // -1: none
    uint32_t call;
  };
  enum class Patience { SameFlush, NextFlush, None };
  // The batches of one kind: for each device, and for rows that know none.
  struct Batches {
    explicit Batches(format::Kind kind) : kind(kind) {}
    format::Batch& of(int64_t device);
    format::Kind kind;
    std::vector<std::pair<int64_t, format::Batch>> by_device;  // few: searched one by one
  };

  bool is_possible(uint64_t start, uint64_t end);
  template <typename Record>
  Activity activity(const Record& record);
  void decode_kernel(const KernelRecord& record, RowSink& sink);
  void decode_copy(const MemcpyRecord& record);
  void decode_peer_copy(const PeerMemcpyRecord& record);
  void decode_fill(const MemsetRecord& record);
  void decode_wait(const SyncRecord& record);
  void decode_call(const ApiRecord& record, RowSink& sink);
  void add_call(const ApiCall& call, RowSink& sink);

  template <typename Row>
  void join(std::vector<Row>& rows, Batches& batches, Patience patience, RowSink& sink);
  void join_all(Patience patience, RowSink& sink);
  void append(format::Batch& batch, const Kernel& row, const ApiCall* call);
  void append(format::Batch& batch, const Copy& row, const ApiCall* call);
  void append(format::Batch& batch, const Fill& row, const ApiCall* call);
  void append(format::Batch& batch, const Wait& row, const ApiCall* call);

  const CuptiApi& api_;
  DeviceNumbers& devices_;
  const int64_t origin_ns_;
  int64_t latest_ns_ = 0;
  ApiFunctions functions_;
  ApiCalls calls_;
  KernelConfigs configs_;
  std::unordered_map<uint32_t, int64_t> context_devices_;
  uint32_t last_context_ = 0;  // known to be in context_devices_
  ActivityCounts counts_;

  std::vector<Kernel> kernels_;
  std::vector<Copy> copies_, peer_copies_;
  std::vector<Fill> fills_;
  std::vector<Wait> waits_;
  Batches kernel_batches_{format::Kind::Kernel}, copy_batches_{format::Kind::Memcpy},
      peer_copy_batches_{format::Kind::Memcpy}, fill_batches_{format::Kind::Memset},
      wait_batches_{format::Kind::Sync};
  format::Batch call_batch_{format::Kind::Api};
};

}  // namespace gpufl::backend
