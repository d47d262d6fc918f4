// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "backend/backend.hpp"
#include "capture/metric_board.hpp"
#include "capture/service_thread.hpp"

// Reads GPU and host health at an interval: a thread for the host, one for what is quick to read of
// the GPUs, another for what is slow, so that none waits for a slower one. Samples continuously, or
// while someone holds it or `wanted` says so. All calls from any thread but where said; nobody ever
// waits for a sample.
namespace gpufl::capture {

struct Sample {
  int64_t time_ns = 0;  // session time
  std::vector<backend::MetricValue> device_values;
  std::vector<backend::MetricValue> host_values;
  std::vector<backend::ProcessUse> processes;
  std::vector<backend::DeviceEvent> events;
};

struct SamplerConfig {
  int64_t session_start_ns = 0;
  int interval_ms = 100;
  bool continuous = false;
  // Polled a few ten times a second while idle; empty: only hold() starts sampling.
  std::function<bool()> wanted;
};

class Sampler {
 public:
  // `health` may be null: host metrics only.
  Sampler(SamplerConfig config, std::shared_ptr<backend::HealthSource> health);
  ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  // Starts the threads; further calls do nothing. One caller at a time, also for stop().
  bool start();
  // False when a thread hangs in the driver; it is left to itself.
  bool stop();
  void hold();
  void let_go();

  // What was sampled since the last call.
  std::vector<Sample> take();
  // The newest values; `devices` is the caller's to fill.
  MetricBoard board() const;
  uint64_t samples_taken() const;
  // With those that a reading which has not returned owes.
  uint64_t samples_missed() const;
  // Threads that stop() left behind.
  uint64_t stuck() const { return stuck_; }
  int64_t cpu_ns() const {
    return host_thread_.cpu_ns() + fast_thread_.cpu_ns() + slow_thread_.cpu_ns();
  }

 private:
  class Core;
  std::shared_ptr<Core> core_;  // shared with the threads: one that hangs keeps what it uses
  ServiceThread host_thread_;
  ServiceThread fast_thread_;
  ServiceThread slow_thread_;
  uint64_t stuck_ = 0;
};

}  // namespace gpufl::capture
