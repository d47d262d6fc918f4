// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>

// What a file of another tool seems to be, by its first bytes and its name.
namespace gpufl::importing {

enum class FileType : uint8_t { Json, Sqlite, NsightReport, Unknown };

// Json: also one that is compressed, or only called so, for its reader to say what is wrong with
// it.
FileType file_type(const std::filesystem::path& path);

}  // namespace gpufl::importing
