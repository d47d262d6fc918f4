// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <warpscope/trace.hpp>

namespace ws {

// All words of a capture as they have to lie in the GPU's memory before the launch: the v1 region
// empty, the side block filled in, its lanes empty. Side block at word layout.num_slots().
inline std::vector<uint64_t> make_capture(const CaptureLayout& layout, const Names& names = {});

// The names as the side block holds them: JSON.
inline std::string names_to_json(const Names& names);
inline bool names_from_json(std::string_view json, Names& names);

}  // namespace ws
