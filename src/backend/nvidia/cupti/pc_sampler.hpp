// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti_pcsampling.h>

#include <memory>
#include <string>
#include <vector>

#include "backend/backend.hpp"
#include "backend/nvidia/cuda/cuda_driver.hpp"
#include "backend/nvidia/cupti/call_watch.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"
#include "backend/tracing/launch_gate.hpp"

// PC sampling in windows, by a thread of its own: every call of CUPTI's that begins or ends
// something can hang for ever while a launch is under way, and is made behind the launch gate. One
// that is not back after two seconds ends sampling; its thread is left to itself.
//
// CUPTI knows only functions that are launched for the first time, or loaded, while both records
// and sampling are on, and takes records first: so contexts that are in use when tracing begins are
// attached behind the same gate as the records (attach()), others before their first launch
// (on_context_created()).
namespace gpufl::backend {

class PcSampler : public ContextListener {
 public:
  // Null: no thread is to be had. What it is given outlives the process's last callback.
  static std::unique_ptr<PcSampler> start(const CuptiApi& api, const CudaDriver& driver,
                                          LaunchGate& gate, uint32_t gate_session,
                                          const SessionDevices& devices,
                                          const PcSamplingOptions& options,
                                          int64_t session_start_ns);
  // Gives up as end() does.
  ~PcSampler() override;
  PcSampler(const PcSampler&) = delete;
  PcSampler& operator=(const PcSampler&) = delete;

  // The gate is shut, and records are on: attaches the contexts in use and opens the gate. Returns
  // when that is done, or has failed, or hangs.
  void attach();
  // A new context's launches wait until it is attached.
  void on_context_created(CUcontext context) noexcept override;
  void on_context_destroyed(CUcontext context) noexcept override;

  // No window from now on, and nothing attached. Waits for calls under way, at most some seconds.
  void end();

  // The collector's thread. watch(): ends sampling where a call of CUPTI's does not come back.
  void watch();
  void drain(DeviceNumbers& devices, RowSink& sink);
  void account(format::Ledger& ledger) const;

  // Why there are no samples, or no more, once each: at all, or of one GPU while others are
  // sampled.
  struct Failure {
    Availability why;
    bool ends_sampling = true;
  };
  std::vector<Failure> take_failures();
  SamplingStatus status() const;
  // Sampling could not be ended, or a call of CUPTI's has not come back: CUPTI is not given up
  // under it.
  bool is_left_on() const;
  static bool does_any_hang();  // now, in this process

 private:
  class Worker;
  explicit PcSampler(std::shared_ptr<Worker> worker) : worker_(std::move(worker)) {}

  std::shared_ptr<Worker> worker_;  // its thread's, too
};

}  // namespace gpufl::backend
