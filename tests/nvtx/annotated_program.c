// SPDX-License-Identifier: Apache-2.0
// A program that annotates itself with NVTX, in C, and knows nothing of any tool. Its plugin has an
// NVTX of its own.
#include <nvtx3/nvToolsExt.h>
#include <stdio.h>
#include <wchar.h>

void run_plugin(void);

static nvtxEventAttributes_t plain(void) {
  nvtxEventAttributes_t attributes = {0};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return attributes;
}

int main(void) {
  nvtxMark("begin");
  const int outer = nvtxRangePush("outer");
  const int inner = nvtxRangePushW(L"inn\u00e9r");

  nvtxDomainHandle_t domain = nvtxDomainCreate("shared domain");
  nvtxEventAttributes_t attributes = plain();
  attributes.category = 5;
  attributes.colorType = NVTX_COLOR_ARGB;
  attributes.color = 0xFF00FF00;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  attributes.payload.dValue = 0.25;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterString(domain, "registered in C");
  const nvtxRangeId_t range = nvtxDomainRangeStartEx(domain, &attributes);

  run_plugin();

  nvtxDomainRangeEnd(domain, range);
  const int inner_end = nvtxRangePop();
  const int outer_end = nvtxRangePop();
  nvtxDomainDestroy(domain);
  printf("levels %d %d %d %d\n", outer, inner, inner_end, outer_end);
  return 0;
}
