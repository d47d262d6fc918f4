// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

// The sessions of format/golden, made from fixed input. Only for the golden test: it compares the
// text of the first with what is stored, and makes all of them anew when it is told to.
namespace gpufl::replay {

// Two windows in every channel, a few rows of every kind of batch and line. When `live_text` is not
// empty, every live file is copied there just before it is closed.
void write_complete(const std::filesystem::path& dir, const std::filesystem::path& live_text);

// Killed in the middle of a write: the first windows sealed, the second ones live, one torn.
void write_crashed(const std::filesystem::path& dir);

// A complete session of which one sealed window has been damaged.
void write_corrupt(const std::filesystem::path& dir);

// What a later minor version might write: kinds, columns, members, a dictionary and a channel that
// this one does not know.
void write_newer_minor(const std::filesystem::path& dir);

// A later major version: not to be read.
void write_newer_major(const std::filesystem::path& dir);

}  // namespace gpufl::replay
