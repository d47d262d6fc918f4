// SPDX-License-Identifier: Apache-2.0
// A function that the loader chooses at its first call: the chooser runs inside of the loader's
// trampoline, whose frame hangs on rbx.
extern "C" {
__attribute__((visibility("default"))) void (*when_choosing)() = nullptr;

static int chosen_function() { return 42; }
using Chosen = int (*)();
Chosen choose() {
  if (when_choosing != nullptr) when_choosing();
  return chosen_function;
}
__attribute__((visibility("default"), ifunc("choose"))) int late_choice();
}
