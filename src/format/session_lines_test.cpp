// SPDX-License-Identifier: Apache-2.0
// The lines that are no batches: session line, ledger, manifest entries, and the names of files.
#include <sys/resource.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "format/capability.hpp"
#include "format/capability_words.hpp"
#include "format/ledger.hpp"
#include "format/manifest.hpp"
#include "format/session_files.hpp"
#include "format/session_header.hpp"
#include "format/test_session.hpp"

namespace gpufl::format {
namespace {

using base::Code;
using base::Json;

Json parse(std::string_view text) { return Json::parse(text).value(); }

TEST(SessionHeaderTest, ComesBackAsItWas) {
  SessionHeader header = testing::test_header();
  header.backends = {{"nvidia", "Trace"}, {"amd", "Monitor"}};
  header.rank = 3;
  header.world_size = 8;
  header.command = "python \"train\".py\n";
  const auto back = SessionHeader::from_json(parse(header.to_json().dump()));
  ASSERT_TRUE(back.is_ok());
  EXPECT_EQ(back->to_json().dump(), header.to_json().dump());
  EXPECT_EQ(back->backends, header.backends);
  EXPECT_EQ(back->start_wall_ns, header.start_wall_ns);
  EXPECT_EQ(back->rank, 3);
  EXPECT_EQ(back->local_rank, std::nullopt);
}

TEST(SessionHeaderTest, ALineWithoutAListHasTheOneBackend) {
  const auto backends = [](const std::string& fields) {
    const auto header = SessionHeader::from_json(
        parse(R"({"type":"session","format":1,"session_id":"a","start_wall_ns":"1",)"
              R"("start_monotonic_ns":"1")" +
              fields + "}"));
    EXPECT_TRUE(header.is_ok());
    return header ? header->backends : std::vector<SessionBackend>();
  };
  EXPECT_EQ(backends(R"(,"engine":"Trace","backend":"nvidia")"),
            (std::vector<SessionBackend>{{"nvidia", "Trace"}}));
  EXPECT_TRUE(backends(R"(,"engine":"Monitor","backend":"none")").empty());
  EXPECT_TRUE(backends("").empty());
}

TEST(CapabilityTest, ComesBackAsItWas) {
  const Capability whole{"health", "auto", "none", "no_gpu", "there is none", "buy one", "nvidia"};
  EXPECT_EQ(Capability::from_json(parse(whole.to_json().dump())), whole);
  const Capability least{"health", "nvidia", "nvidia"};
  EXPECT_EQ(least.to_json().dump(), R"({"feature":"health","asked":"nvidia","got":"nvidia"})");
  EXPECT_TRUE(least.is_as_asked());
  EXPECT_EQ(Capability::from_json(least.to_json()), least);
}

TEST(CapabilityTest, SaysInWordsWhatCameOfIt) {
  const auto words = [](const Capability& note) {
    return feature_words(note) + ": " + outcome_words(note);
  };
  EXPECT_EQ(words({"enable_stack_trace", "on", "off"}), "stack trace: asked for, not available");
  EXPECT_EQ(words({"health", "auto", "none"}), "health: asked for, not available");
  EXPECT_EQ(words({"overhead_budget", "1%", "none"}),
            "overhead budget: asked for 1%, not available");
  EXPECT_EQ(words({"enable_stack_trace", "on", "in part"}),
            "stack trace: asked for, available only in part");
  EXPECT_EQ(words({"profiling_engine", "Trace", "Monitor"}),
            "profiling engine: asked for Trace, got Monitor");
}

TEST(SessionHeaderTest, SaysAbsoluteTimesAsStrings) {
  const Json line = testing::test_header().to_json();
  EXPECT_EQ(line["start_wall_ns"].as_string(), "1794714312000000000");
  EXPECT_EQ(line["start_monotonic_ns"].as_string(), "5000000000");
}

TEST(SessionHeaderTest, RefusesWhatItCannotRelyOn) {
  const auto code = [](const char* text) {
    return SessionHeader::from_json(parse(text)).status().code();
  };
  EXPECT_EQ(code(R"({"type":"kernel"})"), Code::Corrupt);
  EXPECT_EQ(code(R"({"type":"session"})"), Code::Corrupt);
  EXPECT_EQ(code(R"({"type":"session","format":2})"), Code::TooNew);
  EXPECT_EQ(code(R"({"type":"session","format":0,"session_id":"a","start_wall_ns":"1",)"
                 R"("start_monotonic_ns":"1"})"),
            Code::Corrupt);
  EXPECT_EQ(code(R"({"type":"session","format":1,"session_id":"a","start_wall_ns":"1x",)"
                 R"("start_monotonic_ns":"1"})"),
            Code::Corrupt);
  EXPECT_EQ(code(R"({"type":"session","format":1,"session_id":"","start_wall_ns":"1",)"
                 R"("start_monotonic_ns":"1"})"),
            Code::Corrupt);
}

TEST(SessionIdTest, SortsByTimeAndIsUnique) {
  const std::string id = make_session_id(1'794'714'312'000'250'000);
  EXPECT_EQ(id.substr(0, 24), "20261115T034512.000250Z-");
  EXPECT_EQ(id.size(), 40u);
  EXPECT_NE(id, make_session_id(1'794'714'312'000'000'000));
  EXPECT_EQ(make_session_id(1'794'714'312'000'250'000, 0x1f2e3d4c5b6a7988),
            "20261115T034512.000250Z-1f2e3d4c5b6a7988");
}

TEST(SessionHeaderTest, TextsAreCutSoThatTheLineStaysReadable) {
  SessionHeader header;
  header.session_id = "s";
  header.app_name = std::string(5'000'000, 'a');
  EXPECT_EQ(header.to_json()["app_name"].as_string().size(), 4096U);
}

TEST(LedgerTest, ComesBackAsItWasAndKeepsUnknownApartFromZero) {
  Ledger ledger;
  ledger.launches_seen = 10;
  ledger.kernel_records = 0;
  ledger.samples_taken = 4;
  ledger.collector_cpu_ns = 99;
  ledger.writer.rows["kernel"] = 7;
  ledger.writer.dropped["spool_full"] = 2;
  ledger.writer.windows_deleted = 1;
  ledger.writer.rows_deleted = 3;
  ledger.callback_ns = 12;
  ledger.by_device[0] = {7, 6, 1};
  ledger.by_device[-1] = {3, std::nullopt, 3};
  ledger.uncounted = {"conditional_graph_nodes", "device_side_launches"};
  const Json line = parse(ledger.to_json().dump());
  EXPECT_EQ(line.find("vendor_dropped"), nullptr);
  const Ledger back = Ledger::from_json(line);
  EXPECT_EQ(back.to_json().dump(), ledger.to_json().dump());
  EXPECT_EQ(back.kernel_records, 0u);
  EXPECT_EQ(back.vendor_dropped, std::nullopt);
}

TEST(LedgerTest, ACountThatIsNotThereIsUnknown) {
  const Ledger ledger = Ledger::from_json(parse(R"({"scopes_dropped":-1,"samples_taken":7})"));
  EXPECT_TRUE(ledger.knows("samples_taken"));
  EXPECT_FALSE(ledger.knows("scopes_dropped"));
  EXPECT_FALSE(ledger.knows("raw_bytes"));
  EXPECT_FALSE(ledger.knows("collector_cpu_ns"));
  EXPECT_TRUE(Ledger().knows("raw_bytes"));
  EXPECT_EQ(ledger.to_json().find("scopes_dropped"), nullptr);
  EXPECT_EQ(ledger.to_json().find("collector_cpu_ns"), nullptr);
}

TEST(LedgerTest, IsCompleteWhenNothingIsKnownToBeLost) {
  EXPECT_TRUE(Ledger().is_complete());
  const auto complete_with = [](auto change) {
    Ledger ledger;
    change(ledger);
    return ledger.is_complete();
  };
  EXPECT_TRUE(complete_with([](Ledger& l) { l.scopes_unclosed = l.samples_missed = 1; }));
  EXPECT_TRUE(complete_with([](Ledger& l) { l.vendor_dropped = 0; }));
  EXPECT_TRUE(complete_with([](Ledger& l) { l.kernels_overlapping = l.most_overlap_ns = 9; }));
  EXPECT_TRUE(complete_with([](Ledger& l) { l.launches_seen = 5; }));
  EXPECT_TRUE(complete_with([](Ledger& l) { l.launches_seen = l.kernel_records = 5; }));
  EXPECT_TRUE(complete_with([](Ledger& l) {
    l.launches_seen = 9, l.kernel_records = 5, l.launches_unfinished = 1;
    l.launches_outside_range = 3, l.launches_missing = 0;
  }));
  EXPECT_FALSE(complete_with([](Ledger& l) {
    l.launches_seen = l.kernel_records = 5, l.launches_missing = l.kernels_unclaimed = 1;
  }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.notes_dropped = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.markers_dropped = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.stacks_dropped = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.warp_records_dropped = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.scopes_forgotten = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.launches_seen = 5, l.kernel_records = 4; }));
  EXPECT_TRUE(complete_with([](Ledger& l) {
    l.launches_seen = 5, l.kernel_records = 25, l.graph_launches = 1, l.graph_kernel_records = 20;
  }));
  // Kernels of a graph do not make up for a launch without a record.
  EXPECT_FALSE(complete_with([](Ledger& l) {
    l.launches_seen = 6, l.kernel_records = 25, l.graph_launches = 1, l.graph_kernel_records = 20;
  }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.graph_kernels_missing = 1; }));
  EXPECT_TRUE(complete_with([](Ledger& l) { l.uncounted = {"device_side_launches"}; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.uncounted = {Ledger::kTruncatedTrace}; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.uncounted = {"full_warp_lanes"}; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.vendor_dropped = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.impossible_times = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.scopes_dropped = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.tracings_refused = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.samplers_stuck = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.rounds_lost = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.events_dropped = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.writer.dropped["io_error"] = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.writer.windows_deleted = 1; }));
  EXPECT_FALSE(complete_with([](Ledger& l) { l.writer.dictionary_overflows = 1; }));
}

TEST(LedgerTest, WithoutLaunchesCountedNothingIsProven) {
  Ledger ledger;
  ledger.kernel_records = 5;
  EXPECT_EQ(ledger.completeness(), Completeness::NotProven);
  EXPECT_FALSE(ledger.is_complete());
  ledger.vendor_dropped = 1;
  EXPECT_EQ(ledger.completeness(), Completeness::Incomplete);
}

TEST(LedgerTest, PartsAddUp) {
  Ledger ledger, part;
  ledger.kernel_records = 5;
  ledger.by_device[0].launches = 5;
  part.kernel_records = 2;
  part.markers_dropped = 1;
  ledger.kernels_overlapping = 3, ledger.most_overlap_ns = 900;
  part.kernels_overlapping = 2, part.most_overlap_ns = 400;
  part.by_device[0].launches = 1;
  part.by_device[1].launches = 1;
  part.uncounted = {"device_side_launches"};
  ledger.add(part);
  EXPECT_EQ(ledger.kernel_records, 7u);
  EXPECT_EQ(ledger.markers_dropped, 1u);
  EXPECT_EQ(ledger.kernels_overlapping, 5u);
  EXPECT_EQ(ledger.most_overlap_ns, 900u);
  part.most_overlap_ns = 1'000;
  ledger.add(part);
  EXPECT_EQ(ledger.most_overlap_ns, 1'000u);
  ledger.add(Ledger());
  EXPECT_EQ(ledger.most_overlap_ns, 1'000u);
  EXPECT_EQ(ledger.launches_seen, std::nullopt);
  EXPECT_EQ(ledger.by_device[0].launches, 7u);
  EXPECT_EQ(ledger.by_device[1].launches, 2u);
  EXPECT_TRUE(ledger.uncounted.contains("device_side_launches"));
}

TEST(LedgerTest, WhatWasNotCountedAllTheTimeIsUnknown) {
  Ledger first, second;
  first.kernel_records = first.launches_seen = 5;
  first.by_device[0] = {5, 5, std::nullopt};
  second.kernel_records = 2;
  second.vendor_dropped = 0;
  second.kernels_overlapping = second.most_overlap_ns = 1;
  first.add_later(second);
  EXPECT_EQ(first.kernel_records, 7u);
  EXPECT_EQ(first.launches_seen, std::nullopt);
  EXPECT_EQ(first.vendor_dropped, std::nullopt);
  EXPECT_EQ(first.kernels_overlapping, std::nullopt);
  EXPECT_EQ(first.most_overlap_ns, std::nullopt);
  EXPECT_EQ(first.by_device[0].launches, std::nullopt);
  EXPECT_EQ(first.by_device[0].kernel_records, 5u);
  EXPECT_EQ(first.completeness(), Completeness::NotProven);
}

TEST(ManifestTest, ReadsWhatItWrites) {
  const testing::TempDir dir;
  ManifestEntry sealed{ManifestEntry::Event::Sealed, Channel::Device, 3, {}, {}, 0, 0};
  sealed.sealed = {10, 2000, 300, 99, 5, 77, "xxh64:0123456789abcdef"};
  ManifestEntry deleted{ManifestEntry::Event::Deleted, Channel::Scope, 1, {}, "keep_last", 0, 0};
  deleted.sealed.rows = 12;
  testing::write_text(dir.path() / kManifestName, testing::test_header().to_json().dump() + "\n" +
                                                      sealed.to_line() +
                                                      R"({"type":"later"})"
                                                      "\n"
                                                      R"({"type":"window","channel":"x"})"
                                                      "\n"
                                                      "no json\n" +
                                                      deleted.to_line() + R"({"type":"wind)");
  const Manifest manifest = read_manifest(dir.path() / kManifestName);
  EXPECT_TRUE(manifest.status.is_ok());
  ASSERT_EQ(manifest.entries.size(), 2u);
  EXPECT_EQ(manifest.entries[0].to_line(), sealed.to_line());
  EXPECT_EQ(manifest.entries[1].to_line(), deleted.to_line());
  EXPECT_EQ(manifest.bad_lines, 2u);
  EXPECT_EQ(manifest.unknown_lines, 1u);
  EXPECT_TRUE(manifest.torn);
  ASSERT_TRUE(manifest.session_line.has_value());
  EXPECT_TRUE(SessionHeader::from_json(*manifest.session_line).is_ok());
}

TEST(FileNameTest, TellsTheThreeFormsApart) {
  EXPECT_EQ(live_file_name(Channel::Code), "code.log");
  const auto sealed = parse_file_name(sealed_file_name(Channel::Device, 12));
  ASSERT_TRUE(sealed);
  EXPECT_EQ(sealed->form, FileName::Form::Sealed);
  EXPECT_EQ(sealed->channel, Channel::Device);
  EXPECT_EQ(sealed->window, 12u);
  EXPECT_EQ(parse_file_name("scope.1.log")->form, FileName::Form::Raw);
  EXPECT_EQ(parse_file_name("system.log")->form, FileName::Form::Live);
  EXPECT_EQ(parse_file_name("later.log")->channel, std::nullopt);
  for (const char* name : {"device.0.log", "device.01.log", "device.-1.log", "device..log", ".log",
                           "device.log.zst", "device.1.log.zst.tmp", "device.1.2.log", "lock",
                           "device.99999999999999999999.log", "Device.log", "device.1x.log"}) {
    EXPECT_FALSE(parse_file_name(name)) << name;
  }
}

// What is taken for a session that nobody writes is sent as final, and may be deleted.
TEST(SessionLockTest, IsHeldWhereItCannotBeKnown) {
  const testing::TempDir dir;
  {
    std::ofstream(dir.path() / "lock");
  }
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit few{64, before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &few), 0);
  std::vector<int> taken;
  for (int fd = ::dup(STDIN_FILENO); fd >= 0; fd = ::dup(STDIN_FILENO)) taken.push_back(fd);
  const bool is_held = is_locked(dir.path());
  for (const int fd : taken) ::close(fd);
  ::setrlimit(RLIMIT_NOFILE, &before);
  EXPECT_TRUE(is_held);
  EXPECT_FALSE(is_locked(dir.path()));
}

TEST(SessionLockTest, IsSeenFromTheSameProcessAndGoesAway) {
  const testing::TempDir dir;
  EXPECT_FALSE(is_locked(dir.path()));
  {
    SessionLock lock;
    ASSERT_TRUE(lock.acquire(dir.path()).is_ok());
    EXPECT_TRUE(is_locked(dir.path()));
    EXPECT_TRUE(is_locked(dir.path())) << "looking must not release it";
    SessionLock second;
    EXPECT_EQ(second.acquire(dir.path()).code(), Code::Unavailable);
    EXPECT_TRUE(is_locked(dir.path()));
  }
  EXPECT_FALSE(is_locked(dir.path())) << "a lock file that nobody holds";
  SessionLock again;
  ASSERT_TRUE(again.acquire(dir.path()).is_ok());
  again.release();
  EXPECT_TRUE(testing::file_names(dir.path()).empty());
}

}  // namespace
}  // namespace gpufl::format
