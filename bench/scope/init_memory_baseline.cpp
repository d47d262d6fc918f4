// SPDX-License-Identifier: Apache-2.0
// The program that init_memory_bench compares itself with: the same reading, without the library.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

int main() {
  std::ifstream file("/proc/self/smaps_rollup");
  double rss = 0, pss = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("Rss:", 0) == 0) rss = std::strtod(line.c_str() + 4, nullptr);
    if (line.rfind("Pss:", 0) == 0) pss = std::strtod(line.c_str() + 4, nullptr);
  }
  std::printf("%f %f\n", rss, pss);
  return 0;
}
