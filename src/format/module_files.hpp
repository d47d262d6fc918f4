// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"

// Images of GPU code as files of a session: modules/<hash>.cubin.zst, named after the hash of what
// is inside (SPEC.md, "module"). Any thread; never the host program's.
struct ZSTD_DCtx_s;  // zstd's own

namespace gpufl::format {

inline constexpr const char* kModuleFolder = "modules";

// 16 hex digits: the `hash` of a module line.
std::string module_hash(std::string_view image);
std::string module_file_name(std::string_view hash);
// The hash in the name of such a file; empty for any other name.
std::string_view module_hash_of(std::string_view file_name);

// Through a temporary file: it is there as a whole, or not at all. Returns the bytes of the file.
base::Result<uint64_t> write_module(const std::filesystem::path& file, std::string_view image);

// The image. NotFound, or Corrupt for what is not what its name says.
base::Result<std::string> read_module(const std::filesystem::path& session_dir,
                                      std::string_view hash);
// ok, or why the file is not what its name says. Takes a little memory, whatever its size.
base::Status check_module(const std::filesystem::path& file);
// The same of a file that is called otherwise.
base::Status check_module(const std::filesystem::path& file, std::string_view hash);

// Frames of zstd in memory. One thread at a time.
class FrameUnpacker {
 public:
  FrameUnpacker();
  // False: the frame does not hold just `size` bytes.
  bool unpack(std::string_view frame, size_t size, std::string& out);

 private:
  std::unique_ptr<ZSTD_DCtx_s, void (*)(ZSTD_DCtx_s*)> context_;
};

}  // namespace gpufl::format
