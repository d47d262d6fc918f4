// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace gpufl {

enum class BackendKind {
  Auto,  // the vendor whose driver is found
  Nvidia,
  Amd,
  None,  // no vendor library is opened; scopes, counters and host metrics are recorded
};

// A ladder: each level adds to the ones before it. An engine that this machine or this version
// cannot serve falls to the next lower one that it can; the session's capability record says so.
enum class ProfilingEngine {
  Monitor,                    // GPU and host health only; no CUPTI
  Trace,                      // + kernels, copies, synchronisation
  PcSampling,                 // + stall reasons by program counter
  SassMetrics,                // + counters by instruction
  RangeProfiler,              // + hardware counters by scope
  Deep,                       // PcSampling and SassMetrics in one run
  PmSampling,                 // Trace + hardware counters over time
  RangeProfilerKernelReplay,  // Trace + hardware counters by kernel, replayed
};

// Every field is also an environment variable (GPUFL_<FIELD IN CAPITALS>) and a key of the config
// file. A field that differs from its default here counts as set by the program and wins over
// both, unless GPUFL_OVERRIDE=1; a variable that names a cheaper engine always wins.
// docs/reference/configuration.md has the whole table.
struct InitOptions {
  // Identity
  std::string app_name = "gpufl";
  std::string log_path = "";  // folder of the logs; empty: one named after the app

  // Upload
  std::string backend_url = "";  // host only, without /api/v1
  std::string api_key = "";      // never written to a log
  std::string api_path = "";     // empty: /api/v1
  bool remote_upload = false;    // deprecated, no effect in C++; the session warns

  // What to capture
  bool enable_stack_trace = false;
  bool enable_source_collection = true;
  bool enable_external_correlation = true;
  bool enable_synchronization = true;
  bool enable_memory_tracking = false;
  bool enable_cuda_graphs_tracking = false;
  bool enable_queue_times = false;  // when the driver queued and submitted each kernel

  // Sampling
  int system_sample_rate_ms = 0;            // 0: off, or 100 ms where sampling is asked for
  int kernel_sample_rate_ms = 0;            // deprecated, no effect
  bool continuous_system_sampling = false;  // false: inside scopes and systemStart/Stop only

  // Engine
  BackendKind backend = BackendKind::Auto;
  ProfilingEngine profiling_engine = ProfilingEngine::Monitor;
  // By how many percent the program may be slowed down, 0.1 to 50: the GPUs are then recorded in
  // phases, with everything detached in between. 0: no budget, recorded all the time.
  double overhead_budget = 0;
  // Of PcSampling: a sample every 2^n cycles, n from 5 to 31 (0: the default), in windows of so
  // many milliseconds, with pauses between them.
  int pc_sampling_period = 0;
  int pc_sampling_window_ms = 5;
  int pc_sampling_pause_ms = 995;
  // Of SassMetrics and Deep: what is counted by instruction. Names of metrics and of presets
  // (efficiency, execution, global, shared, branches), with commas between them.
  std::string sass_metrics = "efficiency";
  // Of RangeProfiler: which hardware counters scopes get. Names of metrics and of presets
  // (overview, occupancy, memory, tensor, throughput), with commas between them.
  std::string range_metrics = "overview";
  // Of PmSampling: at which interval the GPUs write hardware counters down, how many samples their
  // buffers hold, and which counters: those of a preset (overview, tensor, memory), or metrics by
  // their names with commas between them, in place of the preset's. All have to fit into one pass.
  int pm_sampling_interval_us = 100;
  int pm_sampling_max_samples = 4096;
  std::string pm_sampling_preset = "overview";
  std::string pm_sampling_metrics = "";
  bool pm_sampling_scope_only = true;  // only samples in scopes of the program are kept

  // Deep windows: short stretches in which an engine above Trace is attached. deepWindow() opens
  // one, and so do these.
  bool deep_window_only = false;     // Trace outside of them; also GPUFL_DEEP_ARM=window
  int deep_after_ms = 0;             // one opens so long after the session's start; 0: none
  std::string deep_when = "";        // and when this holds, as in "kernel_launch_rate<100 for 2s"
  int deep_window_ms = 2000;         // how long one lasts of which nobody says it
  int deep_window_max_launches = 0;  // and after how many launches it closes; 0: no bound
  int deep_window_cooldown_ms = 10000;  // after one, no trigger opens another for so long

  // Advanced
  std::string config_file = "";      // JSON, applied below the environment
  bool flush_logs_always = false;    // fsync after every write
  bool enable_debug_output = false;  // say on stderr what happens; silent otherwise
  bool enabled = true;               // false: init does nothing, and so does every later call
  bool enable_control = false;       // listen for `gpufl control` on a socket of this user's own

  // The log on disk
  int log_window_mb = 64;       // a file this large is sealed (compressed) and a new one begun
  int log_window_s = 600;       // and one this old
  int log_spool_mb = 8192;      // cap for one session's folder; 0: none
  int log_disk_floor_mb = 512;  // nothing is written while less is free
  int log_keep_last_s = 0;      // flight recorder: keep only the last seconds; 0: keep all
};

}  // namespace gpufl
