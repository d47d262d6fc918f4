// SPDX-License-Identifier: Apache-2.0
#include "import/python_stacks.hpp"

#include "base/json.hpp"
#include "import/json_cursor.hpp"

namespace gpufl::importing {

using base::Json;
using format::Dict;

PythonPlace parse_python_name(std::string_view name) {
  const size_t close = name.find("): ");
  const size_t open = close == std::string_view::npos ? close : name.rfind('(', close);
  if (open == std::string_view::npos) return {name, {}, 0};
  const auto line = to_integer(name.substr(open + 1, close - open - 1));
  if (!line || *line <= 0) return {name, {}, 0};
  return {name.substr(close + 3), name.substr(0, open), *line};
}

int64_t PythonStacks::frame_of(uint32_t name) {
  if (frames_.size() <= name) frames_.resize(name + 1);
  int64_t& id = frames_[name];
  if (id != 0) return id;
  const PythonPlace place = parse_python_name(trace_.names[name]);
  Json frame = Json::object();
  frame.set("function", log_.intern(Dict::Name, place.function));
  if (place.line > 0) {
    frame.set("file", log_.intern(Dict::Text, place.file)).set("line", place.line);
  }
  return id = log_.intern(Dict::Frame, frame.dump());
}

uint32_t PythonStacks::node_of(uint32_t span) {
  // Outermost first, so that it is a loop and no recursion: Python nests deep.
  std::vector<uint32_t> missing;
  uint32_t at = span;
  for (; at != ThreadSpans::kNone && nodes_[at] == kNoNode; at = spans_.parent(at)) {
    missing.push_back(at);
  }
  uint32_t node = at == ThreadSpans::kNone ? kNoNode : nodes_[at];
  for (; !missing.empty(); missing.pop_back()) {
    const int64_t frame = frame_of(trace_.python[missing.back()].name);
    const auto [found, is_new] =
        by_place_.try_emplace({node, frame}, static_cast<uint32_t>(tree_.size()));
    if (is_new) tree_.push_back({node, frame});
    node = nodes_[missing.back()] = found->second;
  }
  return node;
}

int64_t PythonStacks::id_of(uint32_t span) {
  if (span == ThreadSpans::kNone) return 0;
  Node& node = tree_[node_of(span)];
  if (node.stack != 0) return node.stack;
  Json frames = Json::array();
  for (const Node* at = &node;; at = &tree_[at->outer]) {
    frames.push(at->frame);
    if (at->outer == kNoNode) break;
  }
  Json stack = Json::object();
  stack.set("frames", std::move(frames));
  return node.stack = log_.intern(Dict::Stack, stack.dump());
}

}  // namespace gpufl::importing
