// SPDX-License-Identifier: Apache-2.0
// Bytes that nobody meant to be a fat binary or an image of code, given to their readers.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "backend/nvidia/code/cubin_functions.hpp"
#include "backend/nvidia/code/fat_binary.hpp"

namespace gpufl::backend {
namespace {

void read_all(std::string_view bytes) {
  cubin_functions(bytes);
  const ReadAt read = read_from(bytes);
  std::vector<FileRange> ranges = fat_binary_sections(read);
  ranges.push_back({0, bytes.size()});
  CubinUnpacker unpacker;
  for (const FileRange range : ranges) {
    for_each_cubin(read, range, [&](const FatCubin& cubin) {
      // A frame of zstd may well hold a gigabyte of zeros: what is large is not at issue here.
      if (cubin.bytes > size_t{1} << 20) return true;
      const std::string_view image = unpacker.unpack(read, cubin);
      if (!image.empty() && image.size() != cubin.bytes) abort();
      cubin_functions(image);
      return true;
    });
  }
}

}  // namespace
}  // namespace gpufl::backend

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  gpufl::backend::read_all({reinterpret_cast<const char*>(data), size});
  return 0;
}
