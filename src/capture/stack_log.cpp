// SPDX-License-Identifier: Apache-2.0
#include "capture/stack_log.hpp"

#include <string_view>

#include "base/clock.hpp"
#include "base/hash.hpp"
#include "symbols/code_stack.hpp"
#include "symbols/vendor_code.hpp"

namespace gpufl::capture {

namespace {

using symbols::StackFrame;

std::string_view file_name(std::string_view path) { return path.substr(path.rfind('/') + 1); }

bool is_internal(const StackFrame& frame) {
  return symbols::is_driver_library(frame.module) || (frame.holds_gpufl && !frame.is_program);
}

// How many of the innermost frames are our callback's where we are linked into the program: those
// between where the stack was taken and the vendor's library that called back.
size_t callback_frames(const std::vector<StackFrame>& frames) {
  size_t count = 0;
  while (count < frames.size() && frames[count].holds_gpufl && frames[count].is_program) ++count;
  const bool is_called_back =
      count < frames.size() && symbols::is_driver_library(frames[count].module);
  return is_called_back ? count : 0;
}

}  // namespace

std::vector<StackFrame> fold_driver_frames(std::vector<StackFrame> frames) {
  const size_t ours = callback_frames(frames);
  std::vector<StackFrame> folded;
  for (size_t i = ours; i < frames.size(); ++i) {
    const bool is_driver = is_internal(frames[i]);
    // The outermost of a run stays: the function that the program called.
    if (is_driver && i + 1 < frames.size() && is_internal(frames[i + 1])) continue;
    folded.push_back(std::move(frames[i]));
    if (is_driver) folded.back().function = symbols::kDriverInternal;
  }
  return folded;
}

int64_t StackLog::id(uint32_t recorded) {
  if (recorded == 0) return 0;
  if (recorded >= ids_.size()) ids_.resize(recorded + 1);
  if (ids_[recorded] != 0) return ids_[recorded];
  base::Json frames = base::Json::array();
  for (const StackFrame& frame : fold_driver_frames(table_.frames(recorded))) {
    frames.push(write_frame(frame));
  }
  base::Json stack = base::Json::object();
  stack.set("frames", std::move(frames));
  ids_[recorded] = log_.intern(format::Dict::Stack, stack.dump());
  return ids_[recorded];
}

int64_t StackLog::write_frame(const StackFrame& frame) {
  base::Json value = base::Json::object();
  if (!frame.function.empty()) {
    value.set("function", log_.intern(format::Dict::Name, frame.function));
  }
  if (!frame.file.empty()) value.set("file", log_.intern(format::Dict::Text, frame.file));
  if (frame.line != 0) value.set("line", frame.line);
  if (!frame.module.empty()) {
    write_module(frame);
    value.set("module", log_.intern(format::Dict::Text, frame.module));
  }
  if (frame.offset != 0) value.set("offset", frame.offset);
  if (!frame.build_id.empty()) value.set("build_id", frame.build_id);
  return log_.intern(format::Dict::Frame, value.dump());
}

void StackLog::write_module(const StackFrame& frame) {
  if (!modules_.emplace(frame.module, frame.build_id).second) return;
  base::Json line = base::Json::object();
  const std::string identity = frame.module + "\n" + frame.build_id;
  line.set("time", base::monotonic_ns() - session_start_ns_);
  line.set("id", std::to_string(base::xxh64(identity.data(), identity.size())));
  line.set("name", file_name(frame.module));
  line.set("path", frame.module);
  line.set("bytes", frame.module_bytes);
  if (!frame.build_id.empty()) line.set("build_id", frame.build_id);
  log_.write(format::Kind::Module, line, format::Channel::Code);
}

}  // namespace gpufl::capture
