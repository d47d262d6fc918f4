// SPDX-License-Identifier: Apache-2.0
#include "import/torch_event.hpp"

#include <charconv>
#include <string>
#include <system_error>

namespace gpufl::importing {
namespace {

std::optional<int64_t> integer(JsonCursor& cursor) {
  const char c = cursor.peek();
  if (c == '"') {
    // Ids of 64 bits are strings, because readers hold numbers as doubles.
    std::string scratch;
    const std::string_view digits = cursor.string(scratch);
    uint64_t value = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (error != std::errc() || end != digits.data() + digits.size()) return {};
    return static_cast<int64_t>(value);
  }
  if (c == '{' || c == '[') {
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

// "8x1x1".
std::optional<std::array<int64_t, 3>> three_of(std::string_view text) {
  std::array<int64_t, 3> values{};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (size_t i = 0; i < values.size(); ++i) {
    const auto [next, error] = std::from_chars(at, end, values[i]);
    const bool is_last = i + 1 == values.size();
    if (error != std::errc() || (is_last ? next != end : next == end || *next != 'x')) return {};
    at = next + 1;
  }
  return values;
}

std::optional<std::array<int64_t, 3>> three(JsonCursor& cursor) {
  if (cursor.peek() == '"') {
    std::string scratch;
    return three_of(cursor.string(scratch));
  }
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
    {"registers", &TorchEvent::registers},
    {"shared_static", &TorchEvent::shared_static},
    {"shared_dynamic", &TorchEvent::shared_dynamic},
    {"graph", &TorchEvent::graph},
    {"graph_node", &TorchEvent::graph_node},
    {"external", &TorchEvent::external},
    {"peer_device", &TorchEvent::peer_device},
    {"event", &TorchEvent::event_id},
    {"result", &TorchEvent::result},
    {"value", &TorchEvent::value},
};

struct TextArgument {
  std::string_view key;
  std::string_view TorchEvent::* member;
  std::string TorchEvent::Scratch::* scratch;
};
constexpr TextArgument kTexts[] = {
    {"name", &TorchEvent::args_name, &TorchEvent::Scratch::args_name},
    {"cuda_sync_kind", &TorchEvent::sync_kind, &TorchEvent::Scratch::sync_kind},
    {"source_memory", &TorchEvent::source_memory, &TorchEvent::Scratch::source_memory},
    {"target_memory", &TorchEvent::target_memory, &TorchEvent::Scratch::target_memory},
    {"memory", &TorchEvent::memory, &TorchEvent::Scratch::memory},
    {"domain", &TorchEvent::domain, &TorchEvent::Scratch::domain},
    {"operation", &TorchEvent::operation, &TorchEvent::Scratch::operation},
};

void parse_argument(JsonCursor& cursor, std::string_view key, TorchEvent& event,
                    TorchEvent::Scratch& scratch) {
  for (const IntegerArgument& argument : kIntegers) {
    if (argument.key == key) {
      event.*argument.member = integer(cursor);
      return;
    }
  }
  for (const TextArgument& argument : kTexts) {
    if (argument.key == key) {
      event.*argument.member = text(cursor, scratch.*argument.scratch);
      return;
    }
  }
  if (key == "grid") {
    event.grid = three(cursor);
  } else if (key == "block") {
    event.block = three(cursor);
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
