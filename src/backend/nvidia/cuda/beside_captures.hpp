// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

// While it lives, no call of this thread is one that captures of other threads forbid: one in the
// mode "global", which is PyTorch's, would be broken by it.
namespace gpufl::backend {

class BesideCaptures {
 public:
  // cuThreadExchangeStreamCaptureMode(); null: there is none, and this does nothing.
  using Exchange = CUresult (*)(CUstreamCaptureMode*);

  explicit BesideCaptures(Exchange exchange) : exchange_(exchange) {
    if (exchange_ != nullptr && exchange_(&mode_) != CUDA_SUCCESS) exchange_ = nullptr;
  }
  ~BesideCaptures() {
    if (exchange_ != nullptr) exchange_(&mode_);
  }
  BesideCaptures(const BesideCaptures&) = delete;
  BesideCaptures& operator=(const BesideCaptures&) = delete;

 private:
  Exchange exchange_;
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;  // then the one before
};

}  // namespace gpufl::backend
