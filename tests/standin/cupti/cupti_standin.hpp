// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// How a test plays the program, the GPU and the faults behind the stand-in libcupti: what the
// library's own function cupti_standin() returns. Any thread, like the real one.
namespace gpufl::standin {

enum class BadTime {
  None,
  Zero,
  Inverted,
  NoDuration,
  BeforeSession,
  Future,
  BeforeCall,  // a millisecond
  Repeated,    // those of the kernel before on the stream; of the node in the graph's last launch
  Older,       // likewise, of three kernels, or one launch, before that
};

struct Launch {
  const char* name = "kernel";
  uint32_t device = 0, context = 1, stream = 7;
  int32_t grid_x = 1, block_x = 32;
  uint64_t duration_ns = 1000;
  uint32_t graph_kernels = 0;   // not 0: a graph launch of so many kernels, one after the other
  uint32_t graph_exec = 5;      // which graph; also its number in records
  uint32_t bad_node = 0;        // the node that `bad_time` is of, from 1; 0: all
  uint32_t nodes_withheld = 0;  // so many nodes have no record
  bool by_driver = false;       // calls cuLaunchKernel itself, not the runtime
  bool captured = false;        // into a graph: returns well, and nothing runs
  int result = 0;               // CUresult; not 0: nothing runs
  bool withheld = false;        // the record is lost, and nobody says so
  bool runs_on = false;         // has no end yet: only a forced flush delivers it, without times
  BadTime bad_time = BadTime::None;
};

struct Copy {
  uint32_t device = 0, context = 1, stream = 7;
  uint8_t kind = 1;
  uint64_t bytes = 4096;
  int32_t peer = -1;  // the other GPU of a peer copy
};

struct CuptiStandin {
  void (*reset)(uint32_t version);  // as if just loaded; buffers that it holds are forgotten
  void (*fail)(const char* function, int code);  // from now on; 0: it works again
  // Each returns the correlation id.
  uint32_t (*launch)(const Launch& launch);
  uint32_t (*copy)(const Copy& copy);
  uint32_t (*fill)(uint32_t stream, uint64_t bytes, uint32_t value);
  uint32_t (*synchronize)(uint32_t context);
  uint32_t (*allocate)(int result);
  void (*capture)(bool begin);
  void (*next_correlation)(uint32_t id);
  // API records stay back until let go, so that GPU records come first.
  void (*hold_calls)(bool hold);
  uint32_t (*finalized)();  // how often since reset
  bool (*is_subscribed)();
  uint32_t (*enabled_kinds)();  // how many
  // The record of a launch that withheld it, with times of the library's clock.
  void (*kernel)(const Launch& launch, uint32_t correlation, uint64_t start, uint64_t end);
  uint32_t (*allocate_on_host)();  // cuMemHostAlloc
  uint32_t (*surprised)();         // threads that cuptiFinalize() found at the entry of a call
  void (*delay_entry)(uint32_t microseconds);  // before the callback there; 0: no longer
  void (*hold_finalize)(bool hold);            // cuptiFinalize() does not return meanwhile
  uint32_t (*finalizing)();                    // threads in there
};

using CuptiStandinFunction = const CuptiStandin*();

}  // namespace gpufl::standin
