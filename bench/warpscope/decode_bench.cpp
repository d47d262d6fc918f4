// SPDX-License-Identifier: Apache-2.0
// Decoding of large warpscope captures, on one core.
//
//   warpscope_decode_bench [--json FILE]
//
// Timed, pinned to one core: words in memory become spans. The captures are those of 132 blocks of
// four groups with 20,000 records a lane: a v1 region, the same with each lane in one piece, and
// one with a side block, payloads and tokens. The best of several rounds counts, on the time that
// the core worked; the first round, which also gets its memory from the system, stands beside it.
#include <time.h>
#include <warpscope_host.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "bench/one_core.hpp"
#include "bench/report.hpp"

namespace {

using namespace gpufl;
using Placement = ws::CaptureLayout::Placement;

constexpr uint32_t kBlocks = 132, kGroups = 4, kRecords = 20'000, kEvents = 6;
constexpr int kRounds = 7;
constexpr double kMillion = 1e6;

ws::CaptureLayout layout_of(Placement placement, bool extension) {
  ws::CaptureLayout layout;
  layout.num_blocks = kBlocks;
  layout.num_groups = kGroups;
  layout.max_records = kRecords;
  layout.placement = placement;
  layout.extension = extension;
  return layout;
}

// Begins and ends of six events in turn, 64 ns apart, the finalize, and a slot to spare.
std::vector<uint64_t> make_words(const ws::CaptureLayout& layout) {
  std::vector<uint64_t> words = ws::make_capture(layout);
  const auto lanes = static_cast<uint32_t>(layout.lanes());
  const size_t slots = layout.num_slots();
  words[0] = uint64_t{kBlocks} | (uint64_t{kGroups} << 32);
  for (uint32_t lane = 0; lane < lanes; ++lane) {
    for (uint32_t k = 0; k < kRecords - 1; ++k) {
      const bool is_last = k == kRecords - 2;
      const size_t slot = layout.placement == Placement::Strided ? 1 + lane + size_t{k} * lanes
                                                                 : 2 + size_t{lane} * kRecords + k;
      const uint64_t tag = is_last ? 3 : ((k / 2 % kEvents) << 2) | (k % 2);
      const uint64_t time = 1000 + lane + k * 64;
      words[slot] = (time << 32) | (uint64_t{lane} << 12) | tag;
      if (layout.extension) {
        words[words.size() - slots + slot] =
            (uint64_t{3} << 62) | (uint64_t{k / 2 % 64} << 32) | (k / 2 % 8);
      }
    }
    uint64_t* const entry = words.data() + slots + 16 + size_t{lane} * 8;
    entry[0] = 900;
    entry[2] = 1000 + lane + kRecords * 64;
    entry[4] = kRecords - 2;
    entry[6] = (uint64_t{3} << 48) | (lane / kGroups);
  }
  return words;
}

struct Rates {
  double first = 0, best = 0;  // million records a second
};

// False when what came out is not what went in.
template <typename Decode>
bool measure(Decode&& decode, Rates& rates) {
  constexpr double kAll = double{kBlocks} * kGroups * (kRecords - 1) / kMillion;
  for (int round = 0; round < kRounds; ++round) {
    const double begin = bench::cpu_s();
    const ws::Trace trace = decode();
    const double rate = kAll / (bench::cpu_s() - begin);
    if (round == 0) rates.first = rate;
    rates.best = std::max(rates.best, rate);
    if (trace.spans.size() != size_t{kBlocks} * kGroups * (kRecords / 2 - 1) ||
        !trace.unmatched.empty() || !trace.problems.empty()) {
      std::fprintf(stderr, "%zu spans, %zu unmatched, %zu problems\n", trace.spans.size(),
                   trace.unmatched.size(), trace.problems.size());
      return false;
    }
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  bench::Report report("warpscope_decode_bench", argc, argv);
  bench::pin_to_one_core();
  report.note("lanes", uint32_t{kBlocks * kGroups});
  report.note("records_a_lane", uint32_t{kRecords - 1});
  const std::string unit = "million records/s";
  struct Case {
    const char* name;
    Placement placement;
    bool is_region, extension;
  };
  for (const Case& one :
       {Case{"v1 region, strided", Placement::Strided, true, false},
        Case{"v1 region, lanes in one piece", Placement::Lanes, true, false},
        Case{"capture with side block", Placement::Strided, false, false},
        Case{"capture with payloads and tokens", Placement::Strided, false, true}}) {
    const ws::CaptureLayout layout = layout_of(one.placement, one.extension);
    const std::vector<uint64_t> words = make_words(layout);
    Rates rates;
    const bool is_right = measure(
        [&] {
          return one.is_region ? ws::decode(words.data(), layout.num_slots())
                               : ws::decode_capture(words);
        },
        rates);
    if (!is_right) return 1;
    std::optional<bench::Bar> bar;
    if (one.is_region) bar = bench::at_least(50);
    report.value(one.name, rates.best, unit, bar);
    report.value(std::string(one.name) + ", first round", rates.first, unit);
  }
  return report.finish();
}
