// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

// Being there when CUDA starts. CUDA's driver, when it is initialised, loads the library that
// CUDA_INJECTION64_PATH names and calls its exported InitializeInjection(): until then libcupti
// need not be mapped, and then the copy that the program has brought is known. Any thread.
namespace gpufl::backend {

// What to do when CUDA starts; called inside cuInit(), on the program's thread.
class CudaStartListener {
 public:
  virtual void on_cuda_start() = 0;

 protected:
  ~CudaStartListener() = default;
};

// The shared object that this code is in; empty where that is the program itself, which the driver
// cannot load.
std::string own_library_path();
// Whether that library exports InitializeInjection().
bool can_hear_cuda_start();

// From now on `listener` is told, once; not where the environment names another tool's library.
// Where it names none, ours is put there.
void listen_for_cuda_start(CudaStartListener* listener);
// Returns when nobody is inside listener->on_cuda_start(), unless that is the caller. What was put
// into the environment is taken out again.
void forget_cuda_start(CudaStartListener* listener);

// Starts CUDA in a process that has no use for it of its own, and without the tool that the
// environment names. The number of CUDA's GPUs; 0: it does not start.
int start_cuda();

// In the child of fork(): nobody waits there.
void cuda_start_after_fork_in_child();

// What an exported InitializeInjection() calls. True when somebody was waiting for it.
bool nvidia_cuda_starts();

}  // namespace gpufl::backend
