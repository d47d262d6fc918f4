// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/backend.hpp"

// NVIDIA GPUs. Opens nothing before it is asked whether health is available.
namespace gpufl::backend {

std::unique_ptr<Backend> make_nvidia_backend();

}  // namespace gpufl::backend
