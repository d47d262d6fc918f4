// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/module_files.hpp"

// Fat binaries, in which NVIDIA's compilers put images of code for several architectures into
// programs and libraries. Nothing in them is trusted. Read piece by piece, not mapped: a file that
// shrinks meanwhile must not end the program. One thread at a time.
namespace gpufl::backend {

// Reads `bytes` at `offset`, all of them; false: they are not there.
using ReadAt = std::function<bool(uint64_t offset, void* to, size_t bytes)>;
ReadAt read_from(std::string_view bytes);

struct FileRange {
  uint64_t begin = 0, end = 0;
};
// Where the ELF file has fat binaries.
std::vector<FileRange> fat_binary_sections(const ReadAt& read);

// An image of code inside.
struct FatCubin {
  enum class Packing : uint8_t { None, Lz4, Zstd };
  uint32_t architecture = 0;  // 90: sm_90
  Packing packing = Packing::None;
  uint64_t offset = 0, packed_bytes = 0;
  uint64_t bytes = 0;
};
inline constexpr uint64_t kMaxCubinBytes = uint64_t{256} << 20;  // larger ones are passed over

// Calls visit(cubin) for each within the range, in their order; false stops it.
void for_each_cubin(const ReadAt& read, FileRange range,
                    const std::function<bool(const FatCubin&)>& visit);

class CubinUnpacker {
 public:
  // The image; empty where it cannot be had. Valid until the next call.
  std::string_view unpack(const ReadAt& read, const FatCubin& cubin);

 private:
  format::FrameUnpacker zstd_;
  std::string packed_, image_;
};

}  // namespace gpufl::backend
