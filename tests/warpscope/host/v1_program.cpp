// SPDX-License-Identifier: Apache-2.0
// A program as people wrote it for wire format v1's published package, compiled with nothing of
// this project but its include folder.
#include <warpscope_host.hpp>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  const auto record = [](uint32_t type, uint32_t lane, uint32_t event, uint32_t time) {
    return (uint64_t{time} << 32) | (lane << 12) | (event << 2) | type;
  };
  std::vector<uint64_t> h(1 + 2 * 4);
  h[0] = 1 | (uint64_t{2} << 32);
  h[1] = record(0, 0, 0, 100);
  h[2] = record(0, 1, 1, 90);
  h[3] = record(1, 0, 0, 164);
  h[4] = record(1, 1, 1, 250);
  h[5] = record(3, 0, 0, 300);
  h[6] = record(3, 1, 0, 300);
  const ws::Trace trace = ws::decode(h.data(), h.size());
  ws::print_durations(trace, {"wait", "work"});
  uint32_t total = 0;
  for (const ws::Span& span : trace.spans) total += span.dur_ns;
  const std::string path = argv[1];
  ws::write_chrome_trace(h.data(), h.size(), {"wait", "work"}, {"tma", "math"}, path + ".json");
  ws::write_perfetto_trace(trace, {"wait", "work"}, {"tma", "math"}, path + ".pftrace");
  return total == 224 && trace.num_groups == 2 && trace.problems.empty() ? 0 : 1;
}
