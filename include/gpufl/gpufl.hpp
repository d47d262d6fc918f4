// SPDX-License-Identifier: Apache-2.0
#pragma once

// GPUFlight's C++ API. Start with init(), mark phases with GFL_SCOPE, end with shutdown().
// Compile with -DGPUFL_COMPILED_OUT to turn every call into nothing; then nothing has to be linked.

#include <gpufl/counter.hpp>      // IWYU pragma: export
#include <gpufl/deep_window.hpp>  // IWYU pragma: export
#include <gpufl/options.hpp>      // IWYU pragma: export
#include <gpufl/scope.hpp>        // IWYU pragma: export
#include <gpufl/session.hpp>      // IWYU pragma: export
#include <gpufl/upload.hpp>       // IWYU pragma: export
#include <gpufl/version.hpp>      // IWYU pragma: export
#include <gpufl/warpscope.hpp>    // IWYU pragma: export
