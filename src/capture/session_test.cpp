// SPDX-License-Identifier: Apache-2.0
#include "capture/session.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <gpufl/scope.hpp>
#include <map>
#include <thread>

#include "base/eventually.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"

namespace gpufl::capture {
namespace {

using base::eventually;
using namespace std::chrono_literals;

struct Lines : format::Visitor {
  void on_batch(const format::Batch& batch, const format::Dictionaries&) override {
    rows[batch.kind()] += batch.rows();
  }
  void on_object(format::Kind kind, const base::Json& line) override {
    ++rows[kind];
    if (kind == format::Kind::Event) events.push_back(line["name"].as_string());
    if (kind == format::Kind::Clock) clocks.push_back(line);
  }
  std::map<format::Kind, uint64_t> rows;
  format::SessionHeader header;
  std::vector<std::string> events;
  std::vector<base::Json> clocks;
};

class SessionTest : public testing::Test {
 protected:
  SessionTest() {
    char pattern[] = "/tmp/gpufl_session_XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~SessionTest() override { std::filesystem::remove_all(folder_); }

  SessionConfig config(const std::string& backend) {
    SessionConfig config;
    config.app_name = "session_test";
    config.log_root = folder_;
    config.backend = backend;
    return config;
  }
  static std::unique_ptr<Session> start(SessionConfig config) {
    auto session = Session::start(std::move(config));
    EXPECT_TRUE(session) << session.status().text();
    return session ? std::move(*session) : nullptr;
  }
  static Lines read(const Session& session) {
    Lines lines;
    const auto reader = format::SessionReader::open(session.dir());
    EXPECT_TRUE(reader);
    if (reader) reader->read(lines);
    if (reader) lines.header = reader->header();
    return lines;
  }
  static const format::Capability* note(const Session& session, const std::string& feature) {
    for (const format::Capability& note : session.capabilities()) {
      if (note.feature == feature) return &note;
    }
    return nullptr;
  }

  std::filesystem::path folder_;
};

TEST_F(SessionTest, SyntheticTraceIsCompleteAndVerified) {
  SessionConfig config = this->config("synthetic");
  config.engine = "Trace";
  config.continuous_sampling = true;
  config.sample_interval_ms = 10;
  const auto session = start(config);
  ASSERT_TRUE(session);
  EXPECT_EQ(note(*session, "profiling_engine")->got, "Trace");
  EXPECT_EQ(note(*session, "health")->got, "synthetic");
  GFL_SCOPE("work") {
    EXPECT_TRUE(eventually([&] { return session->status()["rows"]["kernel"].as_integer() > 0; }));
  }
  EXPECT_TRUE(eventually([&] {
    const MetricBoard board = session->board();
    return board.samples_taken >= 3 && !board.device_values.empty() && !board.host_values.empty() &&
           !board.processes.empty();
  }));
  EXPECT_EQ(session->board().devices.size(), 1u);
  EXPECT_TRUE(session->stop());
  EXPECT_TRUE(session->stop());

  const Lines lines = read(*session);
  for (const format::Kind kind :
       {format::Kind::Kernel, format::Kind::Scope, format::Kind::DeviceMetric,
        format::Kind::HostMetric, format::Kind::Process, format::Kind::Device, format::Kind::Ledger,
        format::Kind::End}) {
    EXPECT_TRUE(lines.rows.contains(kind)) << format::spec(kind).name;
  }
  const format::VerifyResult verified = format::verify_session(session->dir());
  EXPECT_EQ(verified.verdict, format::Verdict::Complete)
      << (verified.reasons.empty() ? "" : verified.reasons[0]);
}

TEST_F(SessionTest, ClockIsAnchoredAtBothEnds) {
  const auto session = start(config("none"));
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->stop());
  const Lines lines = read(*session);
  ASSERT_GE(lines.clocks.size(), 2u);
  EXPECT_LT(lines.clocks.front()["time"].as_integer(), lines.clocks.back()["time"].as_integer());
  EXPECT_TRUE(lines.clocks[0]["wall"].is_string());
  EXPECT_TRUE(lines.clocks[0]["error"].is_integer());
}

// Without them the log of a quiet program that is killed would end at its beginning.
TEST_F(SessionTest, AQuietSessionShowsSignsOfLife) {
  const auto session = start(config("none"));
  ASSERT_TRUE(session);
  // Anchors of the clock alone are ten seconds apart.
  const auto are_close = [](const base::Json& a, const base::Json& b) {
    return b["time"].as_integer() - a["time"].as_integer() < 5'000'000'000;
  };
  EXPECT_TRUE(eventually([&] {
    const std::vector<base::Json> clocks = read(*session).clocks;
    return std::adjacent_find(clocks.begin(), clocks.end(), are_close) != clocks.end();
  }));
  EXPECT_TRUE(session->stop());
}

TEST_F(SessionTest, FlushPutsEverythingIntoTheFiles) {
  const auto session = start(config("none"));
  ASSERT_TRUE(session);
  {
    ScopedMonitor scope("flushed");
  }
  ScopedMonitor open("open");
  session->flush();
  const Lines lines = read(*session);
  EXPECT_EQ(lines.rows.at(format::Kind::Scope), 1u);
  EXPECT_EQ(lines.rows.at(format::Kind::ScopeOpen), 1u);
  EXPECT_TRUE(session->stop());
  session->flush();  // after the end: nothing to do, and no waiting
}

TEST_F(SessionTest, BackendNoneOpensNothingAndStillRecords) {
  SessionConfig config = this->config("none");
  config.engine = "Deep";
  config.features = {"enable_stack_trace"};
  const auto session = start(config);
  ASSERT_TRUE(session);
  EXPECT_EQ(note(*session, "health")->asked, "none");
  EXPECT_EQ(note(*session, "health")->reason, "");
  EXPECT_EQ(note(*session, "profiling_engine")->got, "Monitor");
  EXPECT_EQ(note(*session, "profiling_engine")->reason, "no_backend");
  EXPECT_EQ(note(*session, "enable_stack_trace")->reason, "engine_too_low");
  EXPECT_TRUE(session->stop());
}

TEST_F(SessionTest, OneSessionAtATimeHasTheScopes) {
  const auto first = start(config("none"));
  const auto second = start(config("none"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(note(*first, "scopes"), nullptr);
  ASSERT_NE(note(*second, "scopes"), nullptr);
  EXPECT_EQ(note(*second, "scopes")->reason, "taken");
  {
    ScopedMonitor scope("whose");
  }
  EXPECT_TRUE(second->stop());
  {
    ScopedMonitor scope("still the first's");
  }
  EXPECT_TRUE(first->stop());
  EXPECT_EQ(read(*first).rows.at(format::Kind::Scope), 2u);
  EXPECT_FALSE(read(*second).rows.contains(format::Kind::Scope));
}

TEST_F(SessionTest, SystemStartSamplesWithoutARate) {
  const auto session = start(config("none"));
  ASSERT_TRUE(session);
  std::this_thread::sleep_for(50ms);
  EXPECT_EQ(session->board().samples_taken, 0u);
  session->system_start("phase");
  EXPECT_TRUE(eventually([&] { return session->board().samples_taken >= 2; }));
  session->system_stop("phase");
  session->system_stop("phase");
  EXPECT_TRUE(session->stop());
  const Lines lines = read(*session);
  EXPECT_EQ(std::count(lines.events.begin(), lines.events.end(), "system_start"), 1);
  EXPECT_EQ(std::count(lines.events.begin(), lines.events.end(), "system_stop_without_start"), 1);
}

TEST_F(SessionTest, EventsOfTheCallerStandInTheLog) {
  SessionConfig config = this->config("none");
  config.events.push_back(base::Json::object().set("name", "from_the_caller"));
  const auto session = start(config);
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->stop());
  const Lines lines = read(*session);
  EXPECT_EQ(std::count(lines.events.begin(), lines.events.end(), "from_the_caller"), 1);
}

TEST_F(SessionTest, DormantUntilResumedAndPausedAgain) {
  SessionConfig config = this->config("synthetic");
  config.engine = "Trace";
  config.dormant = true;
  const auto session = start(config);
  ASSERT_TRUE(session);
  const base::Json dormant = session->status();
  EXPECT_EQ(dormant["state"].as_string(), "dormant");
  EXPECT_EQ(dormant["engine"].as_string(), "Trace");
  EXPECT_EQ(dormant["dir"].as_string(), session->dir().string());
  EXPECT_EQ(dormant["session_id"].as_string(), session->dir().filename().string());
  EXPECT_EQ(dormant["pid"].as_integer(), getpid());
  EXPECT_EQ(dormant["app"].as_string(), "session_test");
  EXPECT_EQ(dormant.find("tracer"), nullptr);
  EXPECT_EQ(dormant["rows"].find("kernel"), nullptr);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(session->resume());
    EXPECT_EQ(session->status()["state"].as_string(), "recording");
    const int64_t before = session->status()["rows"]["kernel"].as_integer();
    EXPECT_TRUE(
        eventually([&] { return session->status()["rows"]["kernel"].as_integer() > before; }));
    EXPECT_TRUE(session->pause());
    session->flush();
    const base::Json paused = session->status();
    EXPECT_EQ(paused["state"].as_string(), "paused");
    session->flush();
    EXPECT_EQ(session->status()["rows"]["kernel"].as_integer(),
              paused["rows"]["kernel"].as_integer());
  }
  EXPECT_TRUE(session->stop());
  EXPECT_EQ(session->status()["state"].as_string(), "ended");
  EXPECT_EQ(session->status().find("collector"), nullptr);
  EXPECT_FALSE(session->resume());
  const Lines lines = read(*session);
  EXPECT_EQ(std::count(lines.events.begin(), lines.events.end(), "recording_resumed"), 2);
  EXPECT_EQ(std::count(lines.events.begin(), lines.events.end(), "recording_paused"), 2);
  EXPECT_EQ(format::verify_session(session->dir()).verdict, format::Verdict::Complete);
}

// The rate is such that hardly anything is within the budget.
TEST_F(SessionTest, ADeepScopeIsRecordedWhateverTheBudgetSays) {
  setenv("GPUFL_SYNTHETIC_KERNELS_PER_S", "20000", 1);
  SessionConfig asked = config("synthetic");
  asked.engine = "PcSampling";
  asked.trace.pc_sampling.emplace();
  asked.overhead_budget = 0.001;
  const auto session = start(asked);
  unsetenv("GPUFL_SYNTHETIC_KERNELS_PER_S");
  ASSERT_TRUE(session);
  const auto is_soon = [&](const char* state) {
    return eventually([&] { return session->status()["state"].as_string() == state; });
  };
  EXPECT_TRUE(is_soon("detached"));
  {
    ScopedMonitor deep("interesting", ScopeMeta{}.setDeep());
    EXPECT_TRUE(is_soon("recording"));
  }
  EXPECT_TRUE(is_soon("detached"));
  EXPECT_TRUE(session->stop());
  const Lines lines = read(*session);
  EXPECT_EQ(lines.header.overhead_budget_ppm, 1000);
  EXPECT_GT(lines.rows.at(format::Kind::PcSample), 0u);
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.verdict, format::Verdict::Complete) << result.to_json().dump();
  EXPECT_EQ(result.ledger->phases, 2u);
  EXPECT_LT(*result.ledger->attached_ns, 60'000'000'000u);
  EXPECT_EQ(lines.rows.at(format::Kind::Coverage), 2 + *result.ledger->sampling_windows);
}

TEST_F(SessionTest, WithoutABudgetOnePhaseIsTheSession) {
  SessionConfig asked = config("synthetic");
  asked.engine = "Trace";
  const auto session = start(asked);
  ASSERT_TRUE(session);
  EXPECT_TRUE(session->stop());
  const Lines lines = read(*session);
  EXPECT_EQ(lines.header.overhead_budget_ppm, std::nullopt);
  EXPECT_EQ(lines.rows.at(format::Kind::Coverage), 1u);
  const format::VerifyResult result = format::verify_session(session->dir());
  EXPECT_EQ(result.ledger->phases, 1u);
}

TEST_F(SessionTest, SessionsOfARunShareAFolder) {
  SessionConfig config = this->config("none");
  config.run_id = "run-1";
  for (int i = 0; i < 2; ++i) {
    const auto session = start(config);
    ASSERT_TRUE(session);
    EXPECT_EQ(session->dir().parent_path(), folder_ / "run-1");
    EXPECT_TRUE(session->stop());
    const auto reader = format::SessionReader::open(session->dir());
    ASSERT_TRUE(reader);
    EXPECT_EQ(reader->header().run_id, "run-1");
  }
  for (const char* id : {"..", "a/b"}) {
    config.run_id = id;
    EXPECT_FALSE(Session::start(config)) << id;
  }
}

TEST_F(SessionTest, ACaptureRangeThatNeverOpensIsSaid) {
  SessionConfig config = this->config("synthetic");
  config.engine = "Trace";
  config.capture_range = "scope:step";
  const auto quiet = start(config);
  ASSERT_TRUE(quiet);
  GFL_SCOPE("other") {}
  EXPECT_TRUE(quiet->stop());
  const auto events = read(*quiet).events;
  EXPECT_EQ(std::count(events.begin(), events.end(), "capture_range_never_opened"), 1);

  const auto met = start(config);
  ASSERT_TRUE(met);
  GFL_SCOPE("step") {}
  EXPECT_TRUE(met->stop());
  const auto met_events = read(*met).events;
  EXPECT_EQ(std::count(met_events.begin(), met_events.end(), "capture_range"), 1);

  config.capture_range = "somewhere";
  const auto misspelt = start(config);
  ASSERT_TRUE(misspelt);
  EXPECT_EQ(note(*misspelt, "capture_range")->reason, "bad_value");
  EXPECT_TRUE(misspelt->stop());
}

TEST_F(SessionTest, HostFactsOutliveTheirWindow) {
  SessionConfig config = this->config("none");
  config.continuous_sampling = true;
  config.sample_interval_ms = 1;
  config.log.spool_bytes = 64 << 10;
  config.log.window_bytes = 4 << 10;
  config.log.on_full = format::SpoolPolicy::DropOldest;
  const auto session = start(config);
  ASSERT_TRUE(session);
  const auto is_first_window_there = [&] {
    for (const auto& file : std::filesystem::directory_iterator(session->dir())) {
      if (file.path().filename().string().starts_with("system.1.")) return true;
    }
    return false;
  };
  // The first window closes at a flush that the rows of the sampler cause, and goes when the
  // others have filled the spool.
  EXPECT_TRUE(eventually([&] { return is_first_window_there(); }));
  EXPECT_TRUE(eventually([&] { return !is_first_window_there(); }));
  EXPECT_TRUE(session->stop());
  const std::vector<std::string> events = read(*session).events;
  EXPECT_EQ(std::count(events.begin(), events.end(), "host_facts"), 1);
}

TEST_F(SessionTest, FolderThatCannotBeMade) {
  SessionConfig config = this->config("none");
  config.log_root = "/proc/nowhere";
  EXPECT_FALSE(Session::start(config));
  EXPECT_TRUE(start(this->config("none")));  // nothing is left behind that stands in the way
}

}  // namespace
}  // namespace gpufl::capture
