// SPDX-License-Identifier: Apache-2.0
#pragma once

// A program's calls of NVTX, compiled into two libraries, each with an NVTX of its own: `plain`,
// which no tool has been injected into, and `injected`. The first call decides which it is.
namespace gpufl::bench {

using NvtxInjection = int (*)(const void* (*get_export_table)(unsigned table));

struct AnnotatedWork {
  void (*inject)(NvtxInjection injection);  // before the first call of the others
  void (*push_pop)(int pairs);
  void (*push_pop_in_domain)(int pairs);  // with a registered message
};

__attribute__((visibility("default"))) AnnotatedWork plain_work();
__attribute__((visibility("default"))) AnnotatedWork injected_work();

}  // namespace gpufl::bench
