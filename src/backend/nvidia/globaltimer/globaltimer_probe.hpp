// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <vector>

#include "backend/nvidia/globaltimer/globaltimer_fit.hpp"
#include "base/dynamic_library.hpp"
#include "base/status.hpp"

// Reads %globaltimer by a kernel of one thread, in the context that is current on the calling
// thread: the host asks through memory that both see and notes its own clock before and after. One
// reading takes some 0.1 ms, the first of a context longer (the driver compiles the kernel); all
// waiting is bounded. Leaves the program's streams, captures and errors alone. One thread at a
// time.
namespace gpufl::backend {

struct GlobaltimerReading {
  uint64_t first = 0, last = 0;        // what the timer showed first and last in the kernel
  int64_t tick_ns = 0;                 // how finely the timer counts
  ClockBracket by_host;                // the tightest; monotonic clock
  int64_t called_ns = 0, seen_ns = 0;  // the kernel ran between the two; monotonic clock
};

class GlobaltimerProbe {
 public:
  // The number that CUDA gives to the current context's GPU. Fails where this process has not
  // loaded libcuda, no context is current, or the driver is older than CUDA 12.
  base::Result<int> current_device();
  base::Result<GlobaltimerReading> read();

 private:
  struct Mailbox;
  // What a context has of ours. It goes when the context goes.
  struct ContextState {
    unsigned long long id = 0;  // never used again, unlike its address
    CUmodule module = nullptr;
    CUfunction kernel = nullptr;
    CUstream stream = nullptr;
    Mailbox* mailbox = nullptr;
    CUdeviceptr device_mailbox = 0;
    bool is_left_running = false;  // by a reading that was given up
  };
  struct Driver {
    CUresult (*ctx_get_current)(CUcontext*) = nullptr;
    CUresult (*ctx_get_id)(CUcontext, unsigned long long*) = nullptr;
    CUresult (*ctx_get_device)(CUdevice*) = nullptr;
    CUresult (*capture_mode)(CUstreamCaptureMode*) = nullptr;
    CUresult (*module_load)(CUmodule*, const void*) = nullptr;
    CUresult (*module_unload)(CUmodule) = nullptr;
    CUresult (*module_get_function)(CUfunction*, CUmodule, const char*) = nullptr;
    CUresult (*stream_create)(CUstream*, unsigned, int) = nullptr;
    CUresult (*stream_destroy)(CUstream) = nullptr;
    CUresult (*host_alloc)(void**, size_t, unsigned) = nullptr;
    CUresult (*host_free)(void*) = nullptr;
    CUresult (*host_device_pointer)(CUdeviceptr*, void*, unsigned) = nullptr;
    CUresult (*launch)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       unsigned, CUstream, void**, void**) = nullptr;
    CUresult (*error_name)(CUresult, const char**) = nullptr;
  };

  base::Status open();
  base::Result<CUcontext> current_context();
  base::Status failure(CUresult code, const char* call) const;
  base::Result<ContextState*> state_of(CUcontext context);
  base::Status set_up(ContextState& state) const;
  void take_down(const ContextState& state) const;
  base::Result<GlobaltimerReading> ask(ContextState& state);

  base::DynamicLibrary library_;
  Driver driver_;
  bool is_open_ = false;
  std::vector<ContextState> contexts_;
};

}  // namespace gpufl::backend
