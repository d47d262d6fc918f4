// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/backend.hpp"

// A library that carries the tracer and exports InitializeInjection(), as libgpufl does: CUDA's
// driver can load it by its path.
namespace gpufl::backend {

__attribute__((visibility("default"))) std::unique_ptr<Tracer> make_waiting_tracer();

}  // namespace gpufl::backend
