// SPDX-License-Identifier: Apache-2.0
#pragma once

// GPUFL_HAS_SHADOW_MEMORY: built with a sanitizer that takes terabytes of addresses, so that no
// limit of a process's memory can be set.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define GPUFL_HAS_SHADOW_MEMORY 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define GPUFL_HAS_SHADOW_MEMORY 1
#endif
#endif
