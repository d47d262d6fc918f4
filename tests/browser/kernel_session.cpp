// SPDX-License-Identifier: Apache-2.0
// kernel_session FOLDER N: writes a session of N kernels.

#include "bench/analysis/kernel_session.hpp"

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
  if (argc != 3) return 64;
  const auto status =
      gpufl::bench::write_kernel_session(argv[1], std::strtoull(argv[2], nullptr, 10));
  if (!status) std::fprintf(stderr, "%s\n", status.text().c_str());
  return status ? 0 : 1;
}
