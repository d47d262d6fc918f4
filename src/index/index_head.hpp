// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "index/window_index.hpp"

// The head of an index file as bytes: all of a WindowIndex but the buckets. Pure functions.
namespace gpufl::index {

std::string encode_head(const WindowIdentity& identity, const WindowIndex& index);

// Offsets of blocks are moved by `blocks_at` and lie within a file of `file_bytes`. Fails where the
// bytes are damaged or the head is of another window.
base::Status decode_head(std::string_view bytes, const WindowIdentity& identity, uint64_t blocks_at,
                         uint64_t file_bytes, WindowIndex& index);

}  // namespace gpufl::index
