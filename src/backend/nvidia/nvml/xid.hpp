// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

// What the numbers of the NVIDIA driver's Xid messages mean, in a few words.
namespace gpufl::backend {

std::string xid_text(int64_t xid);

}  // namespace gpufl::backend
