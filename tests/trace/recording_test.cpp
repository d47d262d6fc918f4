// SPDX-License-Identifier: Apache-2.0
// Recordings: the recorder writes one of the stand-in libcupti, which then replays it to a tracer;
// and the recordings in tests/trace/recordings, each with what a tracer makes of it.

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "tests/standin/cupti/standin_replay.hpp"
#include "tests/trace/tracer_fixture.hpp"

namespace gpufl::backend {
namespace {

namespace fs = std::filesystem;
using format::Kind;
namespace kernel = format::kernel_column;

constexpr uint32_t kLaunches = 2'000;

class Recording : public TracerFixture {
 protected:
  void SetUp() override {
    TracerFixture::SetUp();
    replay_ = reinterpret_cast<standin::CuptiStandinReplayFunction*>(
        dlsym(dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW), "cupti_standin_replay"));
  }
  void TearDown() override { tracer_.reset(); }
  static void TearDownTestSuite() {
    std::error_code ignored;
    fs::remove(file(), ignored);
  }

  static fs::path file() {
    return fs::temp_directory_path() / ("gpufl-recording-" + std::to_string(getpid()) + ".cupti");
  }

  // As the injection records a program: launches of two kernels, copies, a fill, graphs, waits. A
  // process is recorded once.
  std::string record(uint32_t launches = kLaunches) {
    std::string path = file().string();
    if (fs::exists(path)) return path;
    setenv("GPUFL_CUPTI_RECORD", path.c_str(), 1);
    void* const recorder = dlopen(GPUFL_CUPTI_RECORDER, RTLD_NOW | RTLD_LOCAL);
    EXPECT_NE(recorder, nullptr) << dlerror();
    reinterpret_cast<int (*)()>(dlsym(recorder, "InitializeInjection"))();
    play(launches);
    reinterpret_cast<void (*)()>(dlsym(recorder, "finish_recording"))();
    standin_->reset(kCupti130);
    return path;
  }
  void play(uint32_t launches) {
    for (uint32_t i = 0; i < launches; ++i) {
      standin::Launch launch;
      launch.name = i % 3 == 0 ? "gemm" : "relu";
      launch.stream = 7 + i % 2;
      launch.duration_ns = 1'000 + i % 7 * 100;
      standin_->launch(launch);
      if (i % 100 == 0) standin_->copy({});
      if (i % 500 == 0) {
        standin::Launch graph;
        graph.graph_kernels = 5;
        standin_->launch(graph);
        standin_->fill(7, 64, 1);
        standin_->synchronize(1);
      }
    }
  }
  // To a session that is as old as the machine, and so began before the recording did. Callbacks
  // come when they are replayed: only records say when the calls were.
  format::Ledger replay(standin::Replay replay) {
    sink_ = {};
    Availability why;
    tracer_ =
        make_cupti_tracer(CuptiLibrary::open(why), {.graphs = true, .call_records = true}, {});
    session_start_ns_ = 0;
    EXPECT_TRUE(tracer_->start(session_start_ns_).available);
    replay_(replay, replayed_);
    EXPECT_TRUE(replayed_.is_good) << replay.path;
    return finish();
  }

  standin::CuptiStandinReplayFunction* replay_ = nullptr;
  standin::Replayed replayed_;
};

TEST_F(Recording, IsReplayedWhole) {
  const std::string path = record();
  const format::Ledger ledger = replay({.path = path.c_str()});
  EXPECT_EQ(replayed_.launches, kLaunches);
  EXPECT_EQ(ledger.launches_seen, kLaunches);
  EXPECT_EQ(ledger.graph_launches, 4u);
  EXPECT_EQ(ledger.kernel_records, kLaunches + 20);
  EXPECT_EQ(ledger.launches_missing, 0u);
  EXPECT_EQ(ledger.impossible_times, 0u);
  EXPECT_TRUE(ledger.is_complete());
  EXPECT_EQ(rows(Kind::Kernel).size(), kLaunches + 20);
  EXPECT_EQ(rows(Kind::Memcpy).size(), 20u);
  EXPECT_EQ(rows(Kind::Memset).size(), 4u);
  EXPECT_EQ(rows(Kind::Sync).size(), 4u);
  EXPECT_EQ(rows(Kind::Graph).size(), 4u);
  const auto names = sink_.dictionaries[format::Dict::Name];
  for (const char* name : {"gemm", "relu"}) {
    EXPECT_NE(std::find(names.begin(), names.end(), name), names.end()) << name;
  }
  for (const auto& row : rows(Kind::Kernel)) EXPECT_EQ(row[kernel::kThread], gettid());
}

TEST_F(Recording, WhatIsWithheldIsMissing) {
  const std::string path = record();
  const format::Ledger ledger = replay({.path = path.c_str(), .withhold_every = 1'000});
  EXPECT_EQ(replayed_.withheld, 2u);
  EXPECT_EQ(ledger.vendor_dropped, 0u);
  EXPECT_EQ(ledger.launches_missing, 2u);
  EXPECT_EQ(ledger.completeness(), format::Completeness::Incomplete);
}

TEST_F(Recording, WhatIsDroppedIsCountedTwice) {
  const std::string path = record();
  const format::Ledger ledger = replay({.path = path.c_str(), .drop_every = 1'000});
  EXPECT_EQ(ledger.vendor_dropped, 2u);
  EXPECT_EQ(ledger.launches_missing, 2u);
}

TEST_F(Recording, OrderAndDelayDoNotMatter) {
  const std::string path = record();
  for (const bool reorder : {false, true}) {
    const format::Ledger ledger = replay({.path = path.c_str(), .reorder = reorder, .delay = true});
    EXPECT_TRUE(ledger.is_complete());
    ASSERT_EQ(rows(Kind::Kernel).size(), kLaunches + 20);
    for (const auto& row : rows(Kind::Kernel)) EXPECT_GE(row[kernel::kApiStart], 0);
  }
}

TEST_F(Recording, HalfARecordIsNone) {
  const std::string path = record();
  const format::Ledger ledger = replay({.path = path.c_str(), .truncate = true});
  EXPECT_LT(rows(Kind::Kernel).size(), kLaunches + 20);
  EXPECT_GT(ledger.launches_missing.value_or(0), 0u);
  EXPECT_EQ(ledger.impossible_times, 0u);
}

TEST_F(Recording, WithoutCallbacksNothingIsProven) {
  const std::string path = record();
  const format::Ledger ledger = replay({.path = path.c_str(), .without_callbacks = true});
  EXPECT_EQ(ledger.kernels_unclaimed, kLaunches);
  EXPECT_EQ(rows(Kind::Kernel).size(), kLaunches + 20);
}

// Everything that does not depend on the machine's clock or on how its threads were numbered.
std::string describe(RecordingSink& sink, const format::Ledger& ledger) {
  std::ostringstream text;
  std::map<std::string, std::pair<size_t, int64_t>> kernels;  // count, nanoseconds
  for (const auto& row : sink.rows[Kind::Kernel]) {
    const auto config = base::Json::parse(sink.value(format::Dict::Config, row[kernel::kConfig]));
    auto& [count, ns] =
        kernels[sink.value(format::Dict::Name, (*config)["name"].as_integer()) + " grid " +
                (*config)["grid"].dump() + " block " + (*config)["block"].dump()];
    ++count;
    ns += row[kernel::kDuration];
  }
  for (const auto& [name, sum] : kernels) {
    text << sum.first << " x " << name << ", " << sum.second << " ns\n";
  }
  for (const auto& [kind, rows] : sink.rows) {
    text << format::spec(kind).name << " " << rows.size() << "\n";
  }
  base::Json line = ledger.to_json();
  for (const char* field : {"launches_seen", "kernel_records", "graph_launches",
                            "graph_kernel_records", "launches_missing", "launches_unfinished",
                            "kernels_unclaimed", "vendor_dropped", "impossible_times"}) {
    text << field << " " << line[field].dump() << "\n";
  }
  return text.str();
}

TEST_F(Recording, StoredOnesGiveTheirText) {
  const bool is_update = std::getenv("GPUFL_UPDATE_GOLDEN") != nullptr;
  const fs::path folder = GPUFL_CUPTI_RECORDINGS;
  if (is_update && !fs::exists(folder / "standin.cupti")) {
    fs::create_directories(folder);
    fs::copy_file(record(200), folder / "standin.cupti");
  }
  size_t compared = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".cupti") continue;
    standin_->reset(kCupti130);
    const std::string path = entry.path().string();
    const format::Ledger ledger = replay({.path = path.c_str()});
    const std::string text = describe(sink_, ledger);
    const fs::path expected = fs::path(entry.path()).replace_extension(".txt");
    if (is_update) std::ofstream(expected) << text;
    std::ostringstream stored;
    stored << std::ifstream(expected).rdbuf();
    EXPECT_EQ(text, stored.str()) << path;
    ++compared;
  }
  EXPECT_GT(compared, 0u);
}

}  // namespace
}  // namespace gpufl::backend
