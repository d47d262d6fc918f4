// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvml/xid.hpp"

namespace gpufl::backend {
namespace {

struct Xid {
  int64_t number;
  const char* text;
};

// NVIDIA's "XID Errors" guide, shortened.
constexpr Xid kXids[] = {
    {13, "graphics engine exception: usually a fault of the program"},
    {31, "memory page fault: usually an illegal address in a kernel"},
    {32, "invalid or corrupted push buffer"},
    {38, "driver firmware error"},
    {43, "GPU stopped processing: a fault of the program"},
    {45, "preemptive clean-up after an earlier error or a killed program"},
    {48, "double-bit ECC error"},
    {61, "internal microcontroller breakpoint or warning"},
    {62, "internal microcontroller halt"},
    {63, "memory row remapping or page retirement recorded"},
    {64, "memory row remapping or page retirement failed"},
    {68, "video decoder exception"},
    {69, "graphics engine class error"},
    {74, "NVLink error"},
    {79, "GPU has fallen off the bus"},
    {92, "high rate of single-bit ECC errors"},
    {94, "contained ECC error: one program is affected"},
    {95, "uncontained ECC error: the GPU needs a reset"},
    {109, "context switch timeout"},
    {119, "timeout of the GPU system processor"},
    {120, "error of the GPU system processor"},
    {121, "C2C link error"},
    {140, "unrecovered ECC error"},
    {143, "GPU initialisation error"},
    {149, "NVLink link failure"},
};

}  // namespace

std::string xid_text(int64_t xid) {
  for (const Xid& known : kXids) {
    if (known.number == xid) return known.text;
  }
  return "Xid " + std::to_string(xid);
}

}  // namespace gpufl::backend
