// SPDX-License-Identifier: Apache-2.0
#pragma once

// Marks what the shared library shows to programs; everything else in it is hidden.
#define GPUFL_API __attribute__((visibility("default")))
