// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "import/json_cursor.hpp"

// One event of a torch.profiler trace, of which it keeps what sessions have a place for. Views are
// of the text that was parsed or of `scratch`: they hold until the next event.
namespace gpufl::importing {

struct TorchEvent {
  std::string_view phase, category, name;
  std::optional<int64_t> pid, tid;  // nothing where they are words
  std::string_view time_us, duration_us;

  // Members of `args`; nothing where they are absent or of another type.
  std::optional<int64_t> device, context, stream, correlation, external, bytes;
  std::optional<int64_t> registers, shared_memory, graph, graph_node, peer_device, event_id;
  std::optional<std::array<int64_t, 3>> grid, block;
  std::string_view args_name, sync_kind;
  // Of `gpufl export --to chrome` alone.
  std::optional<int64_t> shared_static, shared_dynamic, result, value;
  std::string_view source_memory, target_memory, memory, domain, operation;
  bool has_shapes = false;

  struct Scratch {
    std::string key, phase, category, name, text, args_name, sync_kind;
    std::string source_memory, target_memory, memory, domain, operation;
  };
};

// `cursor` stands before the event's '{'. Whether it is whole is the cursor's state.
TorchEvent parse_torch_event(JsonCursor& cursor, TorchEvent::Scratch& scratch);

}  // namespace gpufl::importing
