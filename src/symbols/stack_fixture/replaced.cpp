// SPDX-License-Identifier: Apache-2.0
// Built twice, with frames of different sizes at the same addresses: a library that is unloaded and
// replaced by another one.
#ifndef FRAME_BYTES
#error "FRAME_BYTES is the size of the frame"
#endif

extern "C" __attribute__((visibility("default"))) void call_through(void (*callback)(void*),
                                                                    void* data) {
  volatile char frame[FRAME_BYTES];
  frame[0] = 0;
  callback(data);
  asm volatile("" : : "r"(&frame) : "memory");
}
