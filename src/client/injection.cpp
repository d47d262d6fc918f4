// SPDX-License-Identifier: Apache-2.0
#include "client/injection.hpp"

#include <errno.h>

#include "client/client.hpp"
#include "client/joining.hpp"

namespace gpufl::client {
namespace {

// What is recorded where neither the launcher nor the user says anything else.
InitOptions injected_defaults() {
  InitOptions defaults;
  defaults.app_name = program_invocation_short_name;
  defaults.log_path = "gpufl-logs";
  defaults.profiling_engine = ProfilingEngine::Trace;
  defaults.enable_control = true;
  return defaults;
}

// False when out of memory: the program goes on unrecorded.
bool start_session() noexcept {
  try {
    Client::instance().init({}, injected_defaults());
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

void start_injected_session() noexcept {
  if (start_session()) tell_cuda_starts();
}

void tell_cuda_starts() noexcept {
  if (joining::SessionTable* owner = joining::joined(); owner != nullptr) {
    owner->cuda_starts();
  } else {
    capture::cuda_starts();
  }
}

int tell_nvtx_starts(capture::NvtxGetExportTable get_export_table) noexcept {
  try {
    Client::instance();  // sets up what copies of the library call in each other
  } catch (...) {
    return 0;
  }
  return joining::nvtx_starts(get_export_table);
}

int start_injected_markers(capture::NvtxGetExportTable get_export_table) noexcept {
  return start_session() ? tell_nvtx_starts(get_export_table) : 0;
}

}  // namespace gpufl::client
