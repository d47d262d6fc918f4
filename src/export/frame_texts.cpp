// SPDX-License-Identifier: Apache-2.0
#include "export/frame_texts.hpp"

#include <charconv>
#include <filesystem>

#include "timeline/session_texts.hpp"

namespace gpufl::exporting {

std::string with_offset(const std::string& name, uint64_t offset) {
  char digits[20];
  const char* end = std::to_chars(digits, digits + sizeof digits, offset, 16).ptr;
  return name + "+0x" + std::string(static_cast<const char*>(digits), end);
}

std::string frame_name(const symbols::CodeFrame& frame) {
  if (!frame.function.empty()) return timeline::valid_utf8(frame.function);
  if (frame.module.empty()) return frame.file.empty() ? "?" : timeline::valid_utf8(frame.file);
  return with_offset(timeline::valid_utf8(std::filesystem::path(frame.module).filename().string()),
                     frame.offset);
}

}  // namespace gpufl::exporting
