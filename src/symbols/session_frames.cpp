// SPDX-License-Identifier: Apache-2.0
#include "symbols/session_frames.hpp"

namespace gpufl::symbols {

using base::Json;

namespace {

constexpr size_t kMaxFrames = 1024;  // of a stack; recorders keep fewer

}  // namespace

const std::string& SessionFrames::find(const Strings& strings, int64_t id) {
  static const std::string kNone;
  const auto found = strings.find(id);
  return found != strings.end() ? found->second : kNone;
}

void SessionFrames::add(const Json& dict_line) {
  const std::string& dict = dict_line["dict"].as_string();
  const auto& ids = dict_line["ids"].items();
  const auto& values = dict_line["values"].items();
  for (size_t i = 0; i < ids.size() && i < values.size(); ++i) {
    const int64_t id = ids[i].as_integer();
    const Json& value = values[i];
    if (dict == "name") {
      names_.try_emplace(id, value.as_string());
    } else if (dict == "text") {
      texts_.try_emplace(id, value.as_string());
    } else if (dict == "stack") {
      const auto [stack, is_new] = stacks_.try_emplace(id);
      if (!is_new) continue;
      for (const Json& frame : value["frames"].items()) {
        if (stack->second.size() == kMaxFrames) break;
        stack->second.push_back(frame.as_integer());
      }
    } else if (dict == "frame") {
      frames_.try_emplace(id,
                          RecordedFrame{value["function"].as_integer(), value["file"].as_integer(),
                                        value["module"].as_integer(), value["line"].as_integer(),
                                        static_cast<uint64_t>(value["offset"].as_integer()),
                                        value["build_id"].as_string()});
    }
  }
}

}  // namespace gpufl::symbols
