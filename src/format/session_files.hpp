// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"
#include "base/status.hpp"
#include "format/schema.hpp"

// The names of the files in a session's folder, and the lock that tells a session that is being
// written from one whose process died. Shared by writer and reader.
namespace gpufl::format {

std::string live_file_name(Channel channel);                     // "device.log"
std::string raw_file_name(Channel channel, uint64_t window);     // "device.3.log"
std::string sealed_file_name(Channel channel, uint64_t window);  // "device.3.log.zst"

// Beside the log, and no part of it.
inline constexpr const char* kSymbolFileName = "symbols.ndjson";
inline constexpr const char* kDisassemblyFileName = "disassembly.ndjson.zst";

struct FileName {
  enum class Form : uint8_t { Live, Raw, Sealed } form = Form::Live;
  std::optional<Channel> channel;  // none: a channel that this version does not know
  uint64_t window = 0;             // not of Live
};
// Nothing when `name` is not one of the three forms.
std::optional<FileName> parse_file_name(std::string_view name);
std::optional<Channel> find_channel(std::string_view name);

// Held while a session is written; the kernel releases it when the process ends, however it ends.
class SessionLock {
 public:
  SessionLock() = default;
  ~SessionLock() { forget(); }
  SessionLock(const SessionLock&) = delete;
  SessionLock& operator=(const SessionLock&) = delete;

  base::Status acquire(const std::filesystem::path& session_dir);
  void release();  // and removes the file
  // Closes this process's copy: in a child after fork() the parent keeps the lock.
  void forget();

 private:
  std::filesystem::path path_;
  int fd_ = -1;
  base::DescriptorIdentity identity_;
};
// Also where it cannot be known, because this process has too many files open.
bool is_locked(const std::filesystem::path& session_dir);

}  // namespace gpufl::format
