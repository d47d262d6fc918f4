// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

// How many files the system lets a server have open, and what that is enough for.
namespace gpufl::hosting {

// Raises the soft limit of this process as far as the hard one allows. Returns what it is then.
uint64_t raise_file_limit();
// How many connections such a limit is enough for, beside the server's own files.
size_t connections_within(uint64_t files);
// The least limit that is enough for that many.
uint64_t files_for(size_t connections);

}  // namespace gpufl::hosting
