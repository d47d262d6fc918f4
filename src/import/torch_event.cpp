// SPDX-License-Identifier: Apache-2.0
#include "import/torch_event.hpp"

namespace gpufl::importing {
namespace {

std::optional<int64_t> integer(JsonCursor& cursor) {
  const char c = cursor.peek();
  if (c == '"' || c == '{' || c == '[') {
    cursor.skip();
    return {};
  }
  return to_integer(cursor.scalar());
}

std::string_view text(JsonCursor& cursor, std::string& scratch) {
  if (cursor.peek() == '"') return cursor.string(scratch);
  cursor.skip();
  return {};
}

std::optional<std::array<int64_t, 3>> three(JsonCursor& cursor) {
  if (cursor.peek() != '[') {
    cursor.skip();
    return {};
  }
  cursor.expect('[');
  if (cursor.take(']')) return {};
  std::array<int64_t, 3> values{};
  size_t count = 0;
  bool is_whole = true;
  do {
    const auto value = integer(cursor);
    is_whole = is_whole && value && count < values.size();
    if (is_whole) values[count++] = *value;
  } while (cursor.is_good() && cursor.take(','));
  if (cursor.is_good()) cursor.expect(']');
  return is_whole && count == values.size() ? std::optional(values) : std::nullopt;
}

struct IntegerArgument {
  std::string_view key;
  std::optional<int64_t> TorchEvent::* member;
};
constexpr IntegerArgument kIntegers[] = {
    {"device", &TorchEvent::device},
    {"stream", &TorchEvent::stream},
    {"context", &TorchEvent::context},
    {"correlation", &TorchEvent::correlation},
    {"registers per thread", &TorchEvent::registers},
    {"shared memory", &TorchEvent::shared_memory},
    {"External id", &TorchEvent::external},
    {"external id", &TorchEvent::external},
    {"bytes", &TorchEvent::bytes},
    {"graph id", &TorchEvent::graph},
    {"graph node id", &TorchEvent::graph_node},
    {"inDevice", &TorchEvent::device},
    {"toDevice", &TorchEvent::peer_device},
    {"inContext", &TorchEvent::context},
    {"wait_on_cuda_event_id", &TorchEvent::event_id},
};

void parse_argument(JsonCursor& cursor, std::string_view key, TorchEvent& event,
                    TorchEvent::Scratch& scratch) {
  for (const IntegerArgument& argument : kIntegers) {
    if (argument.key == key) {
      event.*argument.member = integer(cursor);
      return;
    }
  }
  if (key == "grid") {
    event.grid = three(cursor);
  } else if (key == "block") {
    event.block = three(cursor);
  } else if (key == "name") {
    event.args_name = text(cursor, scratch.args_name);
  } else if (key == "cuda_sync_kind") {
    event.sync_kind = text(cursor, scratch.sync_kind);
  } else {
    event.has_shapes = event.has_shapes || key == "Input Dims";
    cursor.skip();
  }
}

}  // namespace

TorchEvent parse_torch_event(JsonCursor& cursor, TorchEvent::Scratch& scratch) {
  TorchEvent event;
  cursor.object(scratch.key, [&](std::string_view key) {
    if (key == "ph") {
      event.phase = text(cursor, scratch.phase);
    } else if (key == "cat") {
      event.category = text(cursor, scratch.category);
    } else if (key == "name") {
      event.name = text(cursor, scratch.name);
    } else if (key == "pid") {
      event.pid = integer(cursor);
    } else if (key == "tid") {
      event.tid = integer(cursor);
    } else if (key == "ts") {
      event.time_us = cursor.scalar();
    } else if (key == "dur") {
      event.duration_us = cursor.scalar();
    } else if (key == "args" && cursor.peek() == '{') {
      cursor.object(scratch.text, [&](std::string_view argument) {
        parse_argument(cursor, argument, event, scratch);
      });
    } else {
      cursor.skip();
    }
  });
  return event;
}

}  // namespace gpufl::importing
