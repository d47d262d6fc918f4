// SPDX-License-Identifier: Apache-2.0
#include "export/frame_texts.hpp"

#include <charconv>
#include <filesystem>

#include "timeline/session_texts.hpp"

namespace gpufl::exporting {

std::string frame_name(const symbols::CodeFrame& frame) {
  if (!frame.function.empty()) return timeline::valid_utf8(frame.function);
  if (frame.module.empty()) return frame.file.empty() ? "?" : timeline::valid_utf8(frame.file);
  char offset[20];
  const char* end = std::to_chars(offset, offset + sizeof offset, frame.offset, 16).ptr;
  return timeline::valid_utf8(std::filesystem::path(frame.module).filename().string()) + "+0x" +
         std::string(static_cast<const char*>(offset), end);
}

}  // namespace gpufl::exporting
