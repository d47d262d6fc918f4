// SPDX-License-Identifier: Apache-2.0
#pragma once

// A name by which programs include it.
#include <gpufl/upload.hpp>  // IWYU pragma: export
