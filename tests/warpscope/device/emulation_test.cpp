// SPDX-License-Identifier: Apache-2.0
// The logic of the device header on a CPU: every word that a lane writes, against what the format's
// document says should be there. Buffers have no word too many, so the address sanitizer sees
// what is written outside.

#include "tests/warpscope/device/emulated.hpp"

#include <gtest/gtest.h>
#include <warpscope.cuh>

#include <map>
#include <string>
#include <vector>

#include "tests/warpscope/device/capture_buffer.hpp"

namespace ws_test {
namespace {

using emulated::machine;

constexpr uint64_t kStart = 0x5'ffff'ff00;  // the low half wraps while the tests record
constexpr uint64_t kTick = 32;

enum class Op { Start, End, Inst, Open, Close, Tile };
struct Step {
  Op op;
  uint32_t value = 0;  // event, tile, or which of the open tokens
  bool has_payload = false;
  uint32_t payload = 0;
};
using Script = std::vector<Step>;

struct Record {
  uint32_t time, tag;
  uint64_t extension;
};

// What a lane offers, by the words of the document and nothing of the header.
std::vector<Record> offered(const Script& script, uint32_t lane, const ws::Window& window) {
  std::vector<Record> records;
  struct Open {
    uint32_t event, token;
    bool is_recorded;
  };
  std::vector<Open> open;
  bool inside = true;
  for (size_t i = 0; i < script.size(); ++i) {
    const Step& step = script[i];
    const auto time = static_cast<uint32_t>(kStart + kTick * (i + 1));
    const uint64_t payload = step.has_payload ? uint64_t{1} << 63 | step.payload : 0;
    const auto put = [&](uint32_t event, uint32_t type, uint64_t extension) {
      records.push_back({time, lane * 4096 + event % 1024 * 4 + type, extension});
    };
    const auto token_bits = [](uint32_t token) {
      return uint64_t{1} << 62 | uint64_t{token} << 32;
    };
    switch (step.op) {
      case Op::Tile:
        inside =
            step.value >= window.first_tile &&
            (window.end_tile == 0 || step.value < window.end_tile) &&
            (window.every_tile < 2 || (step.value - window.first_tile) % window.every_tile == 0);
        break;
      case Op::Open: {
        const auto token = static_cast<uint32_t>(records.size());
        open.push_back({step.value, token, inside});
        if (inside) put(step.value, 0, payload | token_bits(token));
        break;
      }
      case Op::Close:
        if (const Open& range = open.at(step.value); range.is_recorded) {
          put(range.event, 1, payload | token_bits(range.token));
        }
        break;
      default:
        if (inside) put(step.value, static_cast<uint32_t>(step.op), payload);
    }
  }
  return records;
}

template <typename P>
void record_steps(P& profiler, const Script& script) {
  std::vector<ws::Token> open;
  for (const Step& step : script) {
    machine.timer += kTick;
    machine.cycles += kTick;
    const ws::Ev event = {step.value};
    switch (step.op) {
      case Op::Tile: profiler.tile(step.value); break;
      case Op::Start:
        step.has_payload ? profiler.start(event, step.payload) : profiler.start(event);
        break;
      case Op::End:
        step.has_payload ? profiler.end(event, step.payload) : profiler.end(event);
        break;
      case Op::Inst:
        step.has_payload ? profiler.inst(event, step.payload) : profiler.inst(event);
        break;
      case Op::Open:
        open.push_back(step.has_payload ? profiler.open(event, step.payload)
                                        : profiler.open(event));
        break;
      case Op::Close:
        step.has_payload ? profiler.close(open.at(step.value), step.payload)
                         : profiler.close(open.at(step.value));
        break;
    }
  }
}

template <typename P, typename... Ring>
void record_lane(P& profiler, const Script& script, const ws::Capture& capture, uint32_t group,
                 Ring&... ring) {
  machine.timer = kStart;
  machine.cycles = kStart;
  profiler.init(capture, ring..., group, true);
  record_steps(profiler, script);
  machine.timer += kTick;
  machine.cycles += kTick;
  profiler.finalize();
}

template <ws::Clock kClock>
struct Plain {
  static void run(const Script& script, const ws::Capture& capture, uint32_t group) {
    ws::Profiler<true, kClock> profiler;
    record_lane(profiler, script, capture, group);
  }
};
template <ws::Clock kClock, uint32_t kRecords>
struct Fast {
  static void run(const Script& script, const ws::Capture& capture, uint32_t group) {
    using P = ws::FastProfiler<true, kClock, true, kRecords>;
    const auto ring = emulated::shared_ring<P>();
    P profiler;
    record_lane(profiler, script, capture, group, *ring);
    EXPECT_TRUE(machine.copies.empty()) << "the lane has ended and a copy is still under way";
    machine.copies.clear();
  }
};

void expect_lane(const CaptureBuffer& buffer, const Shape& shape, uint32_t lane,
                 const std::vector<Record>& records, size_t steps, const std::string& what) {
  const uint32_t room = shape.max_records - 1;
  std::map<uint32_t, Record> kept;
  for (uint32_t k = 0; k < records.size(); ++k) {
    uint32_t slot = k;
    if (k >= room) {
      const uint32_t half = shape.policy == 2 ? room / 2 : 0;
      if (shape.policy == 0 || room == 0) continue;
      slot = half + (k - half) % (room - half);
    }
    kept[slot] = records[k];
  }
  const auto count = static_cast<uint32_t>(records.size());
  const auto end = static_cast<uint32_t>(kStart + kTick * (steps + 1));
  kept[std::min(count, room)] = {end, lane * 4096 + 3, 0};
  for (uint32_t slot = 0; slot < shape.max_records; ++slot) {
    const auto found = kept.find(slot);
    const Record expected = found != kept.end() ? found->second : Record{0, 0, 0};
    ASSERT_EQ(buffer.record(lane, slot), CaptureBuffer::pair(expected.tag, expected.time))
        << what << ", slot " << slot;
    if (shape.has_extensions) {
      ASSERT_EQ(buffer.extension(lane, slot), expected.extension) << what << ", slot " << slot;
    }
  }
  EXPECT_EQ(buffer.side(lane, 0), kStart) << what;
  EXPECT_EQ(buffer.side(lane, 1), kStart) << what;
  EXPECT_EQ(buffer.side(lane, 2), kStart + kTick * (steps + 1)) << what;
  EXPECT_EQ(buffer.side(lane, 3), kStart + kTick * (steps + 1)) << what;
  EXPECT_EQ(buffer.side(lane, 4), count) << what;
  EXPECT_EQ(buffer.side(lane, 5), count > room ? count - room : 0) << what;
  EXPECT_EQ(buffer.side(lane, 6) >> 48, 3u) << what;
  EXPECT_EQ(buffer.side(lane, 7), 0u) << what;
}

// Regions, instants, payloads and a token in each of `rounds` tiles; the token is closed a tile
// later.
Script make_script(uint32_t rounds) {
  Script script = {{Op::Inst, 1023}};
  for (uint32_t i = 0; i < rounds; ++i) {
    script.push_back({Op::Tile, i});
    script.push_back({Op::Start, 1});
    script.push_back({Op::Open, 5, true, i});
    if (i > 0) script.push_back({Op::Close, i - 1, i % 2 == 0, 100 + i});
    script.push_back({Op::End, 1, true, i | 1u << 16});
    script.push_back({Op::Inst, 1027});  // over what the tag holds: 3
  }
  return script;
}

using Run = void (*)(const Script&, const ws::Capture&, uint32_t);
const std::map<std::string, Run> kProfilers = {
    {"v1", Plain<ws::Clock::Globaltimer>::run},
    {"v1 cycles", Plain<ws::Clock::Cycles>::run},
    {"fast 4", Fast<ws::Clock::Globaltimer, 4>::run},
    {"fast 12", Fast<ws::Clock::Globaltimer, 12>::run},
    {"fast 128 cycles", Fast<ws::Clock::Cycles, 128>::run},
};

class Emulation : public testing::Test {
 protected:
  Emulation() { machine = {}; }
};

TEST_F(Emulation, EveryWordIsWhereTheDocumentSays) {
  for (const auto& [name, run] : kProfilers) {
    for (const uint32_t placement : {0u, 1u}) {
      for (const uint32_t policy : {0u, 1u, 2u}) {
        for (const uint32_t max_records : {1u, 2u, 3u, 4u, 8u, 14u, 64u, 512u}) {
          for (const uint32_t rounds : {0u, 1u, 5u, 26u, 60u}) {
            for (const uint32_t extensions : {0u, 1u, 2u}) {
              const Shape shape = {2,           3,
                                   max_records, placement,
                                   policy,      extensions != 0,
                                   {},          extensions == 2 ? 1u : 0u};
              const Script script = make_script(rounds);
              CaptureBuffer buffer(shape);
              machine.grid = {2, 1, 1};
              for (const uint32_t lane : {4u, 1u}) {
                machine.block.x = lane / 3;
                run(script, buffer.argument(), lane % 3);
              }
              const std::string what = name + ", placement " + std::to_string(placement) +
                                       ", policy " + std::to_string(policy) + ", " +
                                       std::to_string(max_records) + " slots, " +
                                       std::to_string(rounds) + " rounds";
              for (const uint32_t lane : {1u, 4u}) {
                expect_lane(buffer, shape, lane, offered(script, lane, shape.window), script.size(),
                            what);
                if (HasFatalFailure()) return;
              }
              EXPECT_EQ(buffer.side(0, 6), 0u) << "a lane that nobody initialised";
              EXPECT_EQ(buffer.record(0, 0), 0u);
              EXPECT_EQ(buffer.header(), CaptureBuffer::pair(2, 3));
            }
          }
        }
      }
    }
  }
}

TEST_F(Emulation, WindowsKeepTheSameTilesAndBlocksInEveryLane) {
  const ws::Window windows[] = {{0, 0, 0, 3, 0, 0},  {0, 0, 0, 0, 4, 1},  {0, 0, 0, 0, 0, 3},
                                {0, 0, 0, 2, 11, 4}, {0, 0, 0, 50, 0, 0}, {1, 4, 2, 1, 2, 0}};
  for (const auto& [name, run] : kProfilers) {
    for (const ws::Window& window : windows) {
      Shape shape = {5, 1, 64, ws::kPlacedInLanes, ws::kKeepFirst, true, window, 0};
      const Script script = make_script(12);
      CaptureBuffer buffer(shape);
      machine.grid = {5, 1, 1};
      for (uint32_t block = 0; block < 5; ++block) {
        machine.block.x = block;
        run(script, buffer.argument(), 0);
        const bool inside = window.end_block == 0 || block == 1 || block == 3;
        if (inside) {
          expect_lane(buffer, shape, block, offered(script, block, window), script.size(), name);
          if (HasFatalFailure()) return;
        } else {
          EXPECT_EQ(buffer.side(block, 6), 0u) << name;
          EXPECT_EQ(buffer.record(block, 0), 0u) << name;
        }
      }
      EXPECT_EQ(buffer.header(), CaptureBuffer::pair(5, 1)) << name;
    }
  }
}

TEST_F(Emulation, BlocksCountThroughTheWholeGrid) {
  CaptureBuffer buffer({2 * 3 * 4, 2, 4, ws::kPlacedStrided, ws::kKeepFirst, false, {}, 0});
  machine.grid = {2, 3, 4};
  machine.block = {1, 2, 3};
  Plain<ws::Clock::Globaltimer>::run({{Op::Inst, 7}}, buffer.argument(), 1);
  const uint32_t lane = ((3 * 3 + 2) * 2 + 1) * 2 + 1;
  EXPECT_EQ(buffer.record(lane, 0) & 0xffffffff, lane * 4096 + 7 * 4 + 2);
}

TEST_F(Emulation, TheSideBlockKnowsWhereALaneRan) {
  CaptureBuffer buffer({1, 1, 4, ws::kPlacedStrided, ws::kKeepFirst, false, {}, 0});
  machine.sm = 131;
  machine.warp = 9;
  machine.rank = 3;
  Plain<ws::Clock::Cycles>::run({}, buffer.argument(), 0);
  EXPECT_EQ(buffer.side(0, 6), 131u | 9u << 16 | uint64_t{3} << 32 | uint64_t{3} << 48);
  EXPECT_EQ(buffer.clock(), 1u);
  Plain<ws::Clock::Globaltimer>::run({}, buffer.argument(), 0);
  EXPECT_EQ(buffer.clock(), 0u);
}

TEST_F(Emulation, ALaneThatDoesNotEndIsInitialisedOnly) {
  CaptureBuffer buffer({1, 1, 4, ws::kPlacedStrided, ws::kKeepFirst, false, {}, 0});
  ws::Profiler<true> profiler;
  profiler.init(buffer.argument(), 0, true);
  EXPECT_EQ(buffer.side(0, 6) >> 48, 1u);
}

TEST_F(Emulation, LanesWithoutAPlaceWriteNothingButTheHeader) {
  // A shape that is smaller than the grid, a group too many, a stride that is too short.
  const Shape shape = {2, 2, 4, ws::kPlacedStrided, ws::kKeepFirst, true, {}, 0};
  CaptureBuffer buffer(shape), untouched(shape);
  machine.grid = {8, 1, 1};
  const auto run = [&](uint32_t block, uint32_t group, ws::Capture capture) {
    machine.block.x = block;
    Plain<ws::Clock::Globaltimer>::run({{Op::Inst, 1}}, capture, group);
    Fast<ws::Clock::Globaltimer, 4>::run({{Op::Inst, 1}}, capture, group);
  };
  run(2, 0, buffer.argument());
  run(0, 2, buffer.argument());
  ws::Capture narrow = buffer.argument();
  narrow.write_stride = 2;
  run(1, 0, narrow);
  ws::Capture no_slots = buffer.argument();
  no_slots.max_records = 0;
  run(0, 0, no_slots);
  for (uint32_t lane = 0; lane < 4; ++lane) {
    EXPECT_EQ(buffer.side(lane, 6), 0u);
    for (uint32_t slot = 0; slot < 4; ++slot) EXPECT_EQ(buffer.record(lane, slot), 0u);
  }
  // More lanes than a tag can name.
  std::vector<uint64_t> words(3);
  ws::Profiler<true> profiler;
  machine.grid = {1u << 21, 1, 1};
  machine.block.x = 1u << 20;
  profiler.init(words.data(), 1u << 21, 0, 1, 1u << 21, true, 1);
  profiler.inst({1});
  profiler.finalize();
  EXPECT_EQ(words[0], uint64_t{1} << 32 | 1u << 21);
  EXPECT_EQ(words[1], 0u);
}

TEST_F(Emulation, TheOldInitWithACapKeepsASlotForFinalize) {
  std::vector<uint64_t> words(1 + 6 * 4);
  ws::Profiler<true> profiler;
  machine.block.x = 1;
  machine.grid.x = 3;
  profiler.init(words.data(), 6, 1, 2, 3, true, 4);
  for (uint32_t i = 0; i < 9; ++i) profiler.inst({i});
  profiler.finalize();
  const uint32_t lane = 3;
  EXPECT_EQ(words[0], CaptureBuffer::pair(3, 2));
  for (uint32_t k = 0; k < 3; ++k) {
    EXPECT_EQ(words[1 + lane + k * 6] & 0xffffffff, lane << 12 | k << 2 | 2) << k;
  }
  EXPECT_EQ(words[1 + lane + 3 * 6] & 0xffffffff, lane << 12 | 3);
}

TEST_F(Emulation, TheOldInitWithoutACapGoesOn) {
  std::vector<uint64_t> words(1 + 1000);
  ws::Profiler<> profiler;
  profiler.init(words.data(), 1, 0, 1, 1, true);
  for (uint32_t i = 0; i < 999; ++i) {
    WS_REGION(profiler, i);
    if (i == 498) break;
  }
  profiler.inst({42});
  profiler.finalize();
  EXPECT_EQ(words[999] & 0xfff, 42u << 2 | 2);
  EXPECT_EQ(words[1000] & 0xfff, 3u);
}

TEST_F(Emulation, ABufferWhoseSizeIsKnownIsNeverLeft) {
  for (uint64_t slots = 0; slots < 40; ++slots) {
    std::vector<uint64_t> words(slots + 1);  // one that is not the buffer's
    for (uint32_t group = 0; group < 5; ++group) {
      ws::Profiler<true> profiler;
      profiler.init(words.data(), 5, group, 5, 1, true, ws::Slots{slots});
      for (uint32_t i = 0; i < 20; ++i) profiler.inst({1});
      profiler.finalize();
    }
    EXPECT_EQ(words[slots], 0u) << slots;
    if (slots == 0) continue;
    EXPECT_EQ(words[0], CaptureBuffer::pair(1, 5)) << slots;
    const uint64_t each = (slots - 1) / 5;
    if (each == 0) continue;
    EXPECT_EQ(words[1 + (each - 1) * 5] & 3, 3u) << slots;
  }
}

TEST_F(Emulation, OnlyTheLeaderRecordsAndAllFence) {
  std::vector<uint64_t> words(16);
  ws::Profiler<true> profiler;
  profiler.inst({1});
  profiler.init(words.data(), 1, 0, 1, 1, false, 15);
  {
    WS_REGION(profiler, ws::Ev{2});
  }
  const ws::Token token = profiler.open({3});
  profiler.close(token);
  profiler.finalize();
  EXPECT_EQ(words, std::vector<uint64_t>(16));
  EXPECT_EQ(machine.fences, 6u);
}

TEST_F(Emulation, NothingIsRecordedAfterFinalizeUntilTheNextInit) {
  std::vector<uint64_t> words(8);
  ws::Profiler<true> profiler;
  profiler.init(words.data(), 1, 0, 1, 1, true, 7);
  profiler.finalize();
  profiler.inst({1});
  EXPECT_EQ(words[2], 0u);
  profiler.init(words.data(), 1, 0, 1, 1, true, 7);
  profiler.inst({9});
  profiler.finalize();
  EXPECT_EQ(words[1] & 0xfff, 9u << 2 | 2);
  EXPECT_EQ(words[2] & 0xfff, 3u);
}

TEST_F(Emulation, ALaneThatBeginsAgainOverwritesTheOneBefore) {
  using P = ws::FastProfiler<true, ws::Clock::Globaltimer, true, 8>;
  const Script before = make_script(20), after = make_script(3);
  const Shape shape = {1, 1, 128, ws::kPlacedInLanes, ws::kKeepFirst, true, {}, 0};
  CaptureBuffer buffer(shape);
  const auto ring = emulated::shared_ring<P>();
  P profiler;
  record_lane(profiler, before, buffer.argument(), 0, *ring);
  record_lane(profiler, after, buffer.argument(), 0, *ring);
  machine.write_copies();
  const std::vector<Record> records = offered(after, 0, shape.window);
  for (uint32_t slot = 0; slot < records.size(); ++slot) {
    EXPECT_EQ(buffer.record(0, slot), CaptureBuffer::pair(records[slot].tag, records[slot].time));
    EXPECT_EQ(buffer.extension(0, slot), records[slot].extension);
  }
  EXPECT_EQ(buffer.record(0, static_cast<uint32_t>(records.size())) & 0xfff, 3u);
  EXPECT_EQ(buffer.side(0, 4), records.size());
}

TEST_F(Emulation, ARingThatIsUsedAgainWithoutFinalizeHasLeftBefore) {
  using P = ws::FastProfiler<true, ws::Clock::Globaltimer, true, 8>;
  const Shape shape = {1, 1, 128, ws::kPlacedInLanes, ws::kKeepFirst, true, {}, 0};
  CaptureBuffer abandoned(shape), ended(shape);
  const auto ring = emulated::shared_ring<P>();
  // Three halves leave: the third lies where the next lane begins.
  const Script before = make_script(3), after(20, {Op::Inst, 9});
  machine.timer = machine.cycles = kStart;
  P first;
  first.init(abandoned.argument(), *ring, 0, true);
  record_steps(first, before);
  EXPECT_FALSE(machine.copies.empty());
  P second;
  record_lane(second, after, ended.argument(), 0, *ring);
  const std::vector<Record> records = offered(before, 0, shape.window);
  for (uint32_t slot = 0; slot < 12; ++slot) {
    EXPECT_EQ(abandoned.record(0, slot),
              CaptureBuffer::pair(records[slot].tag, records[slot].time));
    EXPECT_EQ(abandoned.extension(0, slot), records[slot].extension);
  }
  EXPECT_EQ(abandoned.side(0, 6) >> 48, 1u);
  expect_lane(ended, shape, 0, offered(after, 0, shape.window), after.size(), "after");
}

TEST_F(Emulation, OfMoreEndsInARowThanARingHasSlackTheNewestIsKeptAndTheOthersAreCounted) {
  using P = ws::FastProfiler<true, ws::Clock::Globaltimer, true, 8>;
  constexpr uint32_t kEnds = 40, kHalfAndSlack = 4 + 16;
  const Shape shape = {1, 1, 128, ws::kPlacedInLanes, ws::kKeepFirst, true, {}, 0};
  CaptureBuffer buffer(shape);
  const auto ring = emulated::shared_ring<P>();
  P profiler;
  profiler.init(buffer.argument(), *ring, 0, true);
  for (uint32_t i = 0; i < kEnds; ++i) profiler.end({i}, i);
  profiler.inst({9});
  profiler.finalize();
  for (uint32_t slot = 0; slot < kHalfAndSlack; ++slot) {
    const uint32_t end = slot < kHalfAndSlack - 1 ? slot : kEnds - 1;
    EXPECT_EQ(buffer.record(0, slot) & 0xfff, end << 2 | 1u);
    EXPECT_EQ(buffer.extension(0, slot) & 0xffffffff, end);
  }
  EXPECT_EQ(buffer.record(0, kHalfAndSlack) & 0xfff, 9u << 2 | 2u);
  EXPECT_EQ(buffer.record(0, kHalfAndSlack + 1) & 0xfff, 3u);
  EXPECT_EQ(buffer.side(0, 4), kEnds + 1);
  EXPECT_EQ(buffer.side(0, 5), kEnds - kHalfAndSlack);
  EXPECT_EQ(buffer.side(0, 7), kEnds - kHalfAndSlack);
}

TEST_F(Emulation, DisabledProfilersAreEmpty) {
  static_assert(std::is_empty_v<ws::Profiler<false>>);
  static_assert(std::is_empty_v<ws::Profiler<false, ws::Clock::Cycles>>);
  static_assert(std::is_empty_v<ws::FastProfiler<false>>);
  static_assert(std::is_empty_v<ws::FastProfiler<false>::Ring>);
  std::vector<uint64_t> words(4);
  ws::Profiler<false> profiler;
  profiler.init(words.data(), 1, 0, 1, 1, true, 3);
  {
    WS_REGION(profiler, 1);
  }
  profiler.tile(1);
  profiler.inst({1}, 5);
  profiler.close(profiler.open({2}));
  profiler.finalize();
  EXPECT_EQ(words, std::vector<uint64_t>(4));
  EXPECT_EQ(machine.fences, 0u);
}

}  // namespace
}  // namespace ws_test
