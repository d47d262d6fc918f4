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
  if (start_session()) pass_driver_start();
}

void pass_driver_start() noexcept {
  if (joining::SessionTable* owner = joining::joined(); owner != nullptr) {
    owner->driver_starts();
  } else {
    capture::driver_starts();
  }
}

int pass_annotations_start(backend::AnnotationTables tables) noexcept {
  try {
    Client::instance();  // sets up what copies of the library call in each other
  } catch (...) {
    return 0;
  }
  return joining::annotations_start(tables);
}

int start_injected_markers(backend::AnnotationTables tables) noexcept {
  return start_session() ? pass_annotations_start(tables) : 0;
}

}  // namespace gpufl::client
