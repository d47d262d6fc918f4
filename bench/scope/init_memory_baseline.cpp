// SPDX-License-Identifier: Apache-2.0
// The program that init_memory_bench compares itself with: the same reading, without the library.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

int main() {
  std::ifstream file("/proc/self/smaps_rollup");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Pss:", 0) == 0) std::printf("%f\n", std::strtod(line.c_str() + 4, nullptr));
  }
  return 0;
}
