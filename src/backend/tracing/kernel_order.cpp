// SPDX-License-Identifier: Apache-2.0
#include "backend/tracing/kernel_order.hpp"

#include <algorithm>

namespace gpufl::backend {

bool KernelOrder::accept(uint32_t context, uint32_t stream, uint32_t thread,
                         const KernelTimes& times) {
  Stream& known = streams_.at(context, stream);
  const bool is_first = known.last.correlation == 0;
  const bool follows = is_first || is_newer(times.correlation, known.last.correlation);
  if (!is_first) {
    if (times.start == known.last.start && times.end == known.last.end) return false;
    const bool is_ordered = follows && thread != 0 && thread == known.thread;
    if (is_ordered && times.start + kSlackNs < known.last.start) return false;
  }
  if (follows) known = {times, thread};
  return true;
}

bool KernelOrder::accept_node(uint32_t graph, uint32_t stream, const KernelTimes& times) {
  Graph& known = graphs_.at(graph, stream);
  size_t place = known.count;  // behind all launches that are older
  while (place > 0 && is_newer(known.launches[place - 1].correlation, times.correlation)) --place;
  const bool is_open = place > 0 && known.launches[place - 1].correlation == times.correlation;
  if (is_open) --place;
  int64_t end_before = known.end_before;
  for (size_t i = 0; i < place; ++i) {
    if (times.end == known.launches[i].end) return false;
    end_before = std::max(end_before, known.launches[i].end);
  }
  if (times.start + kSlackNs < end_before) return false;
  for (size_t i = place + (is_open ? 1 : 0); i < known.count; ++i) {
    if (times.end > known.launches[i].start + kSlackNs) return false;
  }
  if (is_open) {
    KernelTimes& launch = known.launches[place];
    launch.start = std::min(launch.start, times.start);
    launch.end = std::max(launch.end, times.end);
    return true;
  }
  const auto first = known.launches.begin();
  if (known.count == Graph::kLaunches) {
    if (place == 0) return true;  // older than all that are remembered
    known.end_before = std::max(known.end_before, known.launches[0].end);
    std::move(first + 1, first + static_cast<std::ptrdiff_t>(known.count), first);
    --known.count;
    --place;
  }
  std::move_backward(first + static_cast<std::ptrdiff_t>(place),
                     first + static_cast<std::ptrdiff_t>(known.count),
                     first + static_cast<std::ptrdiff_t>(known.count + 1));
  known.launches[place] = times;
  ++known.count;
  return true;
}

}  // namespace gpufl::backend
