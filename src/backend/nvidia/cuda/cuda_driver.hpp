// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/nvidia/cuda/beside_captures.hpp"
#include "backend/nvidia/cuda/cuda_contexts.hpp"
#include "backend/nvidia/cuda/cuda_graphs.hpp"
#include "base/dynamic_library.hpp"
#include "base/status.hpp"

// The few questions that tracing asks of CUDA's driver. Any thread. Without libcuda, or before the
// program has initialised it, there is no answer; nothing here initialises CUDA.
namespace gpufl::backend {

std::string uuid_text(const CUuuid& uuid);  // "f81d4fae-7dec-11d0-a765-00a0c91e6bf6"

class CudaDriver {
 public:
  CudaDriver();
  // Whether work given to `stream` is being recorded into a graph instead of running.
  std::optional<bool> is_capturing(CUstream stream) const;
  // As NVML writes it behind "GPU-" or "MIG-".
  std::optional<std::string> device_uuid(uint32_t ordinal) const;
  std::optional<int> device_attribute(uint32_t ordinal, CUdevice_attribute attribute) const;
  const CudaGraphs& graphs() const { return graphs_; }
  const CudaContexts& contexts() const { return contexts_; }
  BesideCaptures::Exchange exchange_capture_mode() const { return exchange_capture_mode_; }

 private:
  base::DynamicLibrary library_;
  CudaGraphs graphs_;
  CudaContexts contexts_;
  CUresult (*stream_is_capturing_)(CUstream, CUstreamCaptureStatus*) = nullptr;
  BesideCaptures::Exchange exchange_capture_mode_ = nullptr;
  CUresult (*device_get_)(CUdevice*, int) = nullptr;
  CUresult (*device_get_attribute_)(int*, CUdevice_attribute, CUdevice) = nullptr;
  CUresult (*device_get_uuid_)(CUuuid*, CUdevice) = nullptr;
};

// Within the context that is current on the calling thread; waits for the copy. Loads nothing.
base::Status copy_from_current_gpu(const void* from, void* to, size_t bytes);

// Whether this process has initialised CUDA. Loads nothing; may wait for a cuInit() under way.
bool is_cuda_initialised();

// NVIDIA's GPUs as a session numbers them.
struct SessionDevices {
  std::vector<std::string> uuids;  // with NVML's prefix; the first is of device `first`
  int64_t first = 0;
  std::vector<std::string> shared;  // of `uuids`: MIG, with a part of their GPU instance
  bool is_shared(const std::string& uuid) const;  // as CUDA writes it: without the prefix
};

// CUDA numbers the GPUs that it shows to this process (CUDA_VISIBLE_DEVICES), a session all of the
// machine: this joins the two by UUID. The collector's thread only.
class DeviceNumbers {
 public:
  DeviceNumbers(const CudaDriver& driver, SessionDevices devices)
      : driver_(driver), devices_(std::move(devices)) {}
  const CudaDriver& driver() const { return driver_; }
  // As if CUDA showed all GPUs where the session has no such one.
  int64_t of(uint32_t ordinal);

 private:
  int64_t look_up(uint32_t ordinal) const;

  const CudaDriver& driver_;
  const SessionDevices devices_;
  std::vector<int64_t> numbers_;  // by ordinal
};

}  // namespace gpufl::backend
