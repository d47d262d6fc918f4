// SPDX-License-Identifier: Apache-2.0
// The library as a guest: whatever the host does, it behaves, and the log tells what happened.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "analysis/summary/summary.hpp"
#include "child_process.hpp"
#include "format/session_reader.hpp"

namespace gpufl::e2e {
namespace {

using format::ScopeEnding;

struct ScopeRow {
  std::string name, tag;
  ScopeEnding ending;
  int64_t id, parent;
};

struct Gather : format::Visitor {
  void on_batch(const format::Batch& batch, const format::Dictionaries& dictionaries) override {
    namespace column = format::scope_column;
    if (batch.kind() == format::Kind::HostMetric) {
      for (size_t i = 0; i < batch.rows(); ++i) {
        host_times.insert(batch.at(format::host_metric_column::kTime, i));
      }
    }
    if (batch.kind() != format::Kind::Scope) return;
    for (size_t i = 0; i < batch.rows(); ++i) {
      scopes.push_back(
          {std::string(dictionaries.get(format::Dict::Name, batch.at(column::kName, i))),
           std::string(dictionaries.get(format::Dict::Name, batch.at(column::kTag, i), "")),
           static_cast<ScopeEnding>(batch.at(column::kEnding, i)), batch.at(column::kId, i),
           batch.at(column::kParent, i)});
      spans.emplace_back(batch.at(column::kStart, i),
                         batch.at(column::kStart, i) + batch.at(column::kDuration, i));
    }
  }
  void on_object(format::Kind kind, const base::Json& line) override {
    objects += line.dump();
    if (kind == format::Kind::Event) {
      events.push_back(line["name"].as_string());
      event_times.emplace(events.back(), line["time"].as_integer());  // its first
    }
    if (kind == format::Kind::Ledger) ledger = format::Ledger::from_json(line);
    ended = ended || kind == format::Kind::End;
  }
  void on_problem(const format::Problem& problem) override { problems.push_back(problem.text); }

  size_t count(const std::string& name) const {
    return static_cast<size_t>(std::count_if(scopes.begin(), scopes.end(),
                                             [&](const ScopeRow& s) { return s.name == name; }));
  }
  const ScopeRow& scope(const std::string& name) const {
    static const ScopeRow kNone{};
    const auto found = std::find_if(scopes.begin(), scopes.end(),
                                    [&](const ScopeRow& s) { return s.name == name; });
    return found != scopes.end() ? *found : kNone;
  }

  std::vector<ScopeRow> scopes;
  std::vector<std::pair<int64_t, int64_t>> spans;
  std::set<int64_t> host_times;  // one for each sample
  std::string objects;           // all lines that are no batches
  std::vector<std::string> events, problems;
  std::map<std::string, int64_t> event_times;
  format::Ledger ledger;
  bool ended = false;
};

// The allocator of the address sanitizer does not survive a fork beside other threads: one of them
// may hold its lock, and the child waits for it for ever.
#if defined(__SANITIZE_ADDRESS__)
#define GPUFL_SKIP_IN_ASAN() GTEST_SKIP() << "the sanitizer's allocator cannot be forked"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define GPUFL_SKIP_IN_ASAN() GTEST_SKIP() << "the sanitizer's allocator cannot be forked"
#endif
#endif
#ifndef GPUFL_SKIP_IN_ASAN
#define GPUFL_SKIP_IN_ASAN() static_cast<void>(0)
#endif

class GuestTest : public testing::Test {
 protected:
  GuestTest() {
    char pattern[] = "/tmp/gpufl_guest_XXXXXX";
    folder_ = mkdtemp(pattern);
  }
  ~GuestTest() override { std::filesystem::remove_all(folder_); }

  // The mode's program must end well and without a word.
  Ran run(const std::string& mode, std::map<std::string, std::string> variables = {}) {
    variables.emplace("GPUFL_LOG_PATH", folder_ / "logs");
    // The thread sanitizer refuses threads in the child of a fork unless asked; the leak checker
    // cannot know what the parent's threads, which are not there, still held.
    variables.emplace("TSAN_OPTIONS", "die_after_fork=0:report_thread_leaks=0");
    if (mode.starts_with("fork")) variables.emplace("ASAN_OPTIONS", "detect_leaks=0");
    Ran ran = run_program({GUEST_PROGRAM, mode}, variables);
    EXPECT_EQ(ran.exit_code, 0) << ran.err;
    return ran;
  }
  Ran run_silently(const std::string& mode, std::map<std::string, std::string> variables = {}) {
    Ran ran = run(mode, std::move(variables));
    EXPECT_EQ(ran.out, "");
    EXPECT_EQ(ran.err, "");
    return ran;
  }
  std::vector<std::filesystem::path> sessions() { return format::find_sessions(folder_ / "logs"); }
  Gather read(const std::filesystem::path& session) {
    Gather gathered;
    auto reader = format::SessionReader::open(session);
    EXPECT_TRUE(reader) << reader.status().text();
    if (reader) reader->read(gathered);
    EXPECT_EQ(gathered.problems, std::vector<std::string>{});
    EXPECT_TRUE(gathered.ended);
    return gathered;
  }
  Gather only_session() {
    const auto all = sessions();
    EXPECT_EQ(all.size(), 1u);
    return all.size() == 1 ? read(all[0]) : Gather{};
  }

  std::filesystem::path folder_;
};

TEST_F(GuestTest, InitAndShutdownTwice) {
  run_silently("twice");
  const Gather log = only_session();
  EXPECT_EQ(log.count("work"), 1u);
  EXPECT_TRUE(log.ledger.is_complete());
}

TEST_F(GuestTest, ScopesBeforeAndAfterASession) {
  run_silently("scopes_around_a_session");
  const Gather log = only_session();
  ASSERT_EQ(log.scopes.size(), 2u);
  EXPECT_EQ(log.scope("inside").ending, ScopeEnding::Normal);
  EXPECT_EQ(log.scope("open at shutdown").ending, ScopeEnding::Shutdown);
  EXPECT_EQ(log.ledger.scopes_unclosed, 1u);
  const auto summary = analysis::summarize(sessions()[0]);
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->counters.size(), 1u);
  EXPECT_EQ(summary->counters[0].first, 5);
  EXPECT_EQ(summary->counters[0].last, 7);
}

TEST_F(GuestTest, ScopesAcrossThreads) {
  run_silently("across_threads");
  const Gather log = only_session();
  EXPECT_EQ(log.scope("thread ended inside").ending, ScopeEnding::ThreadExit);
  EXPECT_EQ(log.scope("ended elsewhere").ending, ScopeEnding::OtherThread);
  EXPECT_EQ(log.count("worker"), 400u);
  EXPECT_EQ(log.ledger.scopes_dropped, 0u);
}

TEST_F(GuestTest, ExitWithoutShutdown) {
  run_silently("exit_without_shutdown");
  EXPECT_EQ(only_session().count("work"), 1u);
}

TEST_F(GuestTest, ExitFromAnotherThread) {
  run_silently("exit_from_a_thread");
  EXPECT_EQ(only_session().count("work"), 1u);
}

TEST_F(GuestTest, ScopesInDestructorsOfStatics) {
  run_silently("scopes_in_static_destructors");
  const Gather log = only_session();
  EXPECT_EQ(log.count("destroyed before the session's end"), 1u);
  EXPECT_EQ(log.count("destroyed after the session"), 0u);
}

TEST_F(GuestTest, ExceptionsThroughScopes) {
  run_silently("exceptions");
  const Gather log = only_session();
  ASSERT_EQ(log.scopes.size(), 3u);
  for (const ScopeRow& scope : log.scopes) EXPECT_EQ(scope.ending, ScopeEnding::Normal);
  EXPECT_EQ(log.scope("inner").parent, log.scope("outer").id);
}

TEST_F(GuestTest, ForkLeavesTheChildInertAndTheParentUntouched) {
  GPUFL_SKIP_IN_ASAN();
  run_silently("fork_plain");
  const Gather log = only_session();
  EXPECT_EQ(log.count("in the child"), 0u);
  EXPECT_EQ(log.count("in the parent"), 1u);
  EXPECT_EQ(log.count("open at fork"), 1u);
  EXPECT_EQ(log.scope("open at fork").ending, ScopeEnding::Normal);
  EXPECT_EQ(std::count(log.events.begin(), log.events.end(), "system_start"), 0);
}

TEST_F(GuestTest, ForkedChildHasASessionOfItsOwn) {
  GPUFL_SKIP_IN_ASAN();
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer cannot follow new threads in a forked child";
#endif
  run_silently("fork_and_init");
  const auto all = sessions();
  ASSERT_EQ(all.size(), 2u);
  Gather parent = read(all[0]), child = read(all[1]);
  if (parent.count("parent before") == 0) std::swap(parent, child);
  EXPECT_EQ(parent.count("parent before"), 1u);
  EXPECT_EQ(parent.count("parent after"), 1u);
  EXPECT_EQ(parent.scopes.size(), 2u);
  EXPECT_EQ(child.count("child work"), 1u);
  EXPECT_EQ(child.count("child thread"), 1u);
  EXPECT_EQ(child.scopes.size(), 2u);
}

TEST_F(GuestTest, ForkAndExec) {
  run_silently("fork_and_exec");
  EXPECT_EQ(only_session().count("work"), 1u);
}

TEST_F(GuestTest, ForkWhileThreadsRecord) {
  GPUFL_SKIP_IN_ASAN();
  run_silently("fork_under_load");
}

TEST_F(GuestTest, InitRaces) {
  run_silently("race_to_init");
  for (const auto& session : sessions()) read(session);
}

TEST_F(GuestTest, ThousandCyclesLeakNothing) {
  // In memory: every session's end waits for the disk, which is not what this is about.
  char pattern[] = "/dev/shm/gpufl_guest_XXXXXX";
  const char* folder = mkdtemp(pattern);
  ASSERT_NE(folder, nullptr);
  run("cycles", {{"GPUFL_LOG_PATH", folder}});
  EXPECT_EQ(format::find_sessions(folder).size(), 1100u);
  std::filesystem::remove_all(folder);
}

TEST_F(GuestTest, ForkBeforeTheFirstInit) {
  GPUFL_SKIP_IN_ASAN();
  run_silently("fork_before_init");
}

TEST_F(GuestTest, NoSessionBeginsAtExit) {
  run_silently("init_at_exit");
  only_session();
}

TEST_F(GuestTest, BusyThreadsGiveTheirMemoryBack) {
  run("busy_threads");
  only_session();
}

TEST_F(GuestTest, TheKeyOfAServerIsInNoLog) {
  run_silently("twice", {{"GPUFL_API_KEY", "gpfl_secret"}, {"GPUFL_LOG_PAHT", "x"}});
  const Gather log = only_session();
  EXPECT_EQ(log.events, (std::vector<std::string>{"host_facts", "option_warning"}));
  EXPECT_NE(log.objects.find("GPUFL_LOG_PAHT"), std::string::npos);
  EXPECT_EQ(log.objects.find("gpfl_secret"), std::string::npos);
}

TEST_F(GuestTest, DisabledIsInert) {
  run_silently("disabled");
  run_silently("disabled", {{"GPUFL_DISABLED", "1"}});
  EXPECT_FALSE(std::filesystem::exists(folder_ / "logs"));
}

TEST_F(GuestTest, SignalsStayTheHosts) { run_silently("signals"); }

TEST_F(GuestTest, FolderThatCannotBeMade) {
  run_silently("unwritable");
  only_session();
}

TEST_F(GuestTest, StatusHasTheReasonWhyNothingIsRecorded) { run_silently("statuses"); }

TEST_F(GuestTest, AnInitThatFailsSaysWhyInDebugOutput) {
  const auto says = [&](const char* mode, const char* line, const char* disabled = "0") {
    const Ran ran = run(mode, {{"GPUFL_ENABLE_DEBUG_OUTPUT", "1"}, {"GPUFL_DISABLED", disabled}});
    EXPECT_NE(ran.err.find(line), std::string::npos) << mode << ": " << ran.err;
  };
  says("unwritable", "gpufl: no session: cannot make /proc/nowhere/logs");
  says("init_at_exit", "gpufl: no session: the program is ending\n");
  says("disabled", "gpufl: no session: the option enabled is false\n");
  says("disabled", "gpufl: no session: GPUFL_DISABLED is set\n", "1");
}

TEST_F(GuestTest, ReportsWhileRunningAndAfter) {
  const std::string file = folder_ / "report.txt";
  const Ran ran = run("reports", {{"GUEST_REPORT", file}});
  EXPECT_EQ(ran.err, "");
  std::ostringstream after;
  after << std::ifstream(file).rdbuf();
  for (const std::string& text : {ran.out, after.str()}) {
    EXPECT_NE(text.find("reported phase / live"), std::string::npos) << text;
    EXPECT_NE(text.find("reported counter"), std::string::npos) << text;
  }
}

TEST_F(GuestTest, SamplesInsideScopesOnly) {
  run_silently("sampling");
  const Gather log = only_session();
  ASSERT_EQ(log.spans.size(), 1u);
  ASSERT_FALSE(log.host_times.empty());
  EXPECT_GE(*log.host_times.begin(), log.spans[0].first);
  const auto after = log.host_times.upper_bound(log.spans[0].second);
  EXPECT_LE(std::distance(after, log.host_times.end()), 1) << "one was under way at its end";
}

TEST_F(GuestTest, SystemStartSamplesEvery100Ms) {
  run_silently("system_start_stop");
  const Gather log = only_session();
  EXPECT_EQ(std::count(log.events.begin(), log.events.end(), "system_start"), 2);
  EXPECT_EQ(std::count(log.events.begin(), log.events.end(), "system_stop"), 2);
  EXPECT_EQ(std::count(log.events.begin(), log.events.end(), "system_stop_without_start"), 1);
  ASSERT_GE(log.host_times.size(), 2u);
  EXPECT_GE(*log.host_times.begin(), 200'000'000);
  // A busy machine may miss ticks, and be late for others; there are no more than these.
  const int64_t lasted_ns = *log.host_times.rbegin() - log.event_times.at("system_start");
  EXPECT_LE(log.host_times.size(), static_cast<size_t>(lasted_ns / 100'000'000 + 2));
}

TEST_F(GuestTest, DebugOutputNeverShowsTheKey) {
  const Ran ran = run("twice", {{"GPUFL_API_KEY", "gpfl_secret"},
                                {"GPUFL_ENABLE_DEBUG_OUTPUT", "1"},
                                {"GPUFL_SYSTEM_SAMPLE_RATE_MS", "often"}});
  EXPECT_NE(ran.err.find("GPUFL_SYSTEM_SAMPLE_RATE_MS"), std::string::npos);
  EXPECT_EQ(ran.err.find("secret"), std::string::npos);
  EXPECT_EQ(ran.out, "");
  const Gather log = only_session();
  EXPECT_EQ(std::count(log.events.begin(), log.events.end(), "option_warning"), 1);
}

TEST_F(GuestTest, LogPathLeftEmptyIsNamedAfterTheApp) {
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(folder_);
  run("twice", {{"GPUFL_LOG_PATH", ""}});
  std::filesystem::current_path(here);
  EXPECT_EQ(format::find_sessions(folder_ / "guest").size(), 1u);
}

TEST_F(GuestTest, PluginUnloadedAndLoadedAgain) {
  const Ran ran = run_program({GUEST_HOST, GUEST_PLUGIN}, {{"GPUFL_LOG_PATH", folder_ / "logs"}});
  EXPECT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_EQ(ran.err, "");
  const Gather log = only_session();
  EXPECT_EQ(log.count("plugin work"), 4u);
  EXPECT_EQ(log.count("plugin thread"), 4u);
}

}  // namespace
}  // namespace gpufl::e2e
