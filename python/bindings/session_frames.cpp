// SPDX-License-Identifier: Apache-2.0
#include "bindings/session_frames.hpp"

#include <array>

#include "bindings/sample_frames.hpp"
#include "export/session_tables.hpp"

namespace gpufl::python {
namespace {

using analysis::Tables;
using timeline::SessionTexts;
using Describe = void (*)(FrameBuilder&, const SessionTexts&);

template <auto table, Describe describe>
Frame frame_of(const SessionTexts& texts) {
  FrameBuilder frame((texts.tables().*table).rows());
  describe(frame, texts);
  return frame.finish();
}

struct NamedFrame {
  std::string_view name;
  Frame (*make)(const SessionTexts&);
};

constexpr std::array kFrames = {
    NamedFrame{"kernels", frame_of<&Tables::kernels, exporting::describe_kernels>},
    NamedFrame{"memcpy", frame_of<&Tables::copies, exporting::describe_copies>},
    NamedFrame{"memset", frame_of<&Tables::fills, exporting::describe_fills>},
    NamedFrame{"syncs", frame_of<&Tables::waits, exporting::describe_waits>},
    NamedFrame{"graphs", frame_of<&Tables::graphs, exporting::describe_graphs>},
    NamedFrame{"allocations", frame_of<&Tables::allocations, exporting::describe_allocations>},
    NamedFrame{"api_calls", frame_of<&Tables::api_calls, exporting::describe_api_calls>},
    NamedFrame{"scope_events", frame_of<&Tables::scopes, exporting::describe_scopes>},
    NamedFrame{"markers", frame_of<&Tables::markers, exporting::describe_markers>},
    NamedFrame{"counters", frame_of<&Tables::counters, exporting::describe_counters>},
    NamedFrame{"device_metrics",
               frame_of<&Tables::device_metrics, exporting::describe_device_metrics>},
    NamedFrame{"host_metrics", frame_of<&Tables::host_metrics, exporting::describe_host_metrics>},
    NamedFrame{"profile_samples", profile_samples},
    NamedFrame{"pc_samples", pc_samples},
    NamedFrame{"perf", perf},
    NamedFrame{"warp_spans", warp_spans},
};

}  // namespace

std::vector<std::string_view> frame_names() {
  std::vector<std::string_view> names;
  for (const NamedFrame& frame : kFrames) names.push_back(frame.name);
  return names;
}

Frame session_frame(const SessionTexts& texts, std::string_view table) {
  const auto* const found =
      std::find_if(kFrames.begin(), kFrames.end(),
                   [table](const NamedFrame& frame) { return frame.name == table; });
  return found != kFrames.end() ? found->make(texts) : Frame{};
}

}  // namespace gpufl::python
