// SPDX-License-Identifier: Apache-2.0
// Needs a symbol and a library that a portable program may not need.

#include <cstdlib>

#include <zstd.h>

int main() { return static_cast<int>((arc4random() + ZSTD_versionNumber()) & 1); }
