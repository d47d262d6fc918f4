// SPDX-License-Identifier: Apache-2.0
// Writes a capture with everything that the writers show, for readers_test.py: FOLDER/trace.json
// and FOLDER/trace.pftrace.
#include <warpscope_host.hpp>

#include <string>

namespace {

void put(std::vector<uint64_t>& words, const ws::CaptureLayout& layout, uint32_t lane,
         uint32_t slot, uint64_t word, uint64_t extension = 0) {
  const size_t at = 1 + lane + size_t{slot} * layout.stride();
  words[at] = word;
  words[words.size() - layout.num_slots() + at] = extension;
}

uint64_t record(uint32_t type, uint32_t lane, uint32_t event, uint32_t time) {
  return (uint64_t{time} << 32) | (lane << 12) | (event << 2) | type;
}

uint64_t payload(uint32_t value) { return (uint64_t{1} << 63) | value; }
uint64_t token(uint32_t value) { return (uint64_t{1} << 62) | (uint64_t{value} << 32); }

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  ws::CaptureLayout layout;
  layout.num_blocks = 2;
  layout.num_groups = 2;
  layout.max_records = 8;
  layout.extension = true;
  ws::Names names;
  names.events = {{0, "wait \"full\" \xcf\x80"}, {1, "load"}, {2, "bad \xff name"}};
  names.groups = {{0, "tma"}, {1, "math"}};
  names.flows = {{1, 0}};
  std::vector<uint64_t> words = ws::make_capture(layout, names);
  uint64_t* const side = words.data() + layout.num_slots();
  for (uint32_t lane = 0; lane < 4; ++lane) {
    uint64_t* const entry = side + 16 + size_t{lane} * 8;
    entry[0] = (uint64_t{1} << 60) + 1000;  // beyond what a double holds to the nanosecond
    entry[2] = entry[0] + 10'000;
    entry[6] = (uint64_t{3} << 48) | (lane < 2 ? 17U : 4U);
    entry[4] = lane == 1 ? 7 : lane == 2 ? 1 : 2;
  }
  // Block 0: "tma" loads stage 3; "math" waits for it, and has two ranges that cross by tokens.
  put(words, layout, 0, 0, record(0, 0, 1, 1000), payload(3));
  put(words, layout, 0, 1, record(1, 0, 1, 1501));
  put(words, layout, 0, 2, record(3, 0, 0, 1600));
  put(words, layout, 1, 0, record(0, 1, 0, 1010), payload(3));
  put(words, layout, 1, 1, record(1, 1, 0, 1532));
  put(words, layout, 1, 2, record(0, 1, 2, 1600), token(1));
  put(words, layout, 1, 3, record(0, 1, 2, 1700), token(2));
  put(words, layout, 1, 4, record(1, 1, 2, 1800), token(1));
  put(words, layout, 1, 5, record(1, 1, 2, 1900), token(2) | payload(9));
  put(words, layout, 1, 6, record(2, 1, 5, 1950), payload(77));
  put(words, layout, 1, 7, record(3, 1, 0, 2000));
  // Block 1: a begin without an end, an end without a begin.
  put(words, layout, 2, 0, record(0, 2, 1, 1200));
  put(words, layout, 2, 1, record(3, 2, 0, 1300));
  put(words, layout, 3, 0, record(2, 3, 5, 1400));
  put(words, layout, 3, 1, record(1, 3, 1, 1500));
  put(words, layout, 3, 2, record(3, 3, 0, 1600));
  const ws::Trace trace = ws::decode_capture(words);
  const std::string folder = argv[1];
  return ws::write_chrome_trace(trace, folder + "/trace.json") &&
                 ws::write_perfetto_trace(trace, folder + "/trace.pftrace")
             ? 0
             : 1;
}
