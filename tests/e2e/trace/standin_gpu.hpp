// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

#include "tests/standin/cupti/cupti_standin.hpp"

// CUDA as the programs beside this file use it: over the stand-ins of libcuda and libcupti.
namespace gpufl::standin {

inline void* open_or_end(const char* path) {
  void* library = dlopen(path, RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::_Exit(99);
  }
  return library;
}

// The driver loads what CUDA_INJECTION64_PATH names.
inline void init_cuda() {
  void* library = open_or_end(GPUFL_STANDIN_CUDA);
  reinterpret_cast<decltype(&::cuInit)>(dlsym(library, "cuInit"))(0);
}

inline const CuptiStandin& gpu() {
  static const CuptiStandin* const standin = [] {
    void* library = open_or_end(GPUFL_STANDIN_CUPTI);
    return reinterpret_cast<CuptiStandinFunction*>(dlsym(library, "cupti_standin"))();
  }();
  return *standin;
}

inline void launch(int count) {
  for (int i = 0; i < count; ++i) gpu().launch({.name = "program_kernel"});
}

}  // namespace gpufl::standin
