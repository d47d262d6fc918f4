// SPDX-License-Identifier: Apache-2.0
#include "bench/nvtx/annotated_work.hpp"

#include <nvtx3/nvToolsExt.h>

namespace gpufl::bench {
namespace {

void inject(NvtxInjection injection) { InitializeInjectionNvtx2_fnptr = injection; }

void push_pop(int pairs) {
  for (int i = 0; i < pairs; ++i) {
    nvtxRangePushA("forward_pass");
    nvtxRangePop();
  }
}

void push_pop_in_domain(int pairs) {
  static const nvtxDomainHandle_t domain = nvtxDomainCreateA("bench");
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "forward_pass");
  for (int i = 0; i < pairs; ++i) {
    nvtxDomainRangePushEx(domain, &attributes);
    nvtxDomainRangePop(domain);
  }
}

}  // namespace

AnnotatedWork GPUFL_BENCH_WORK() { return {inject, push_pop, push_pop_in_domain}; }

}  // namespace gpufl::bench
