// SPDX-License-Identifier: Apache-2.0
#pragma once

#define GPUFL_VERSION_MAJOR 0
#define GPUFL_VERSION_MINOR 1
#define GPUFL_VERSION_PATCH 0
#define GPUFL_VERSION "0.1.0"
