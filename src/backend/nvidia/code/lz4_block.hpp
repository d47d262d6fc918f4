// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace gpufl::backend {

// A block of LZ4, of which is known that `size` bytes are inside. False: they are not. Any thread.
bool unpack_lz4(std::string_view block, size_t size, std::string& out);

}  // namespace gpufl::backend
