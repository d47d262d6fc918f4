// SPDX-License-Identifier: Apache-2.0
#pragma once

// A name by which programs include it.
#include <gpufl/gpufl.hpp>  // IWYU pragma: export
