// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/status.hpp"

// The first line of every file of a session: who recorded what, when, on which machine.
namespace gpufl::format {

// A backend of a session, and the engine that runs on it, after falling back.
struct SessionBackend {
  std::string name;  // "nvidia", "amd", "synthetic"
  std::string engine;
  bool operator==(const SessionBackend&) const = default;
};

struct SessionHeader {
  std::string session_id;
  std::string run_id;  // one for all processes of a launch
  std::string app_name;
  std::string gpufl_version;
  std::string engine;                    // the highest that runs on any backend, after falling back
  std::string backend;                   // the first on which it runs; "none"
  std::vector<SessionBackend> backends;  // all, in the order of their devices
  int64_t start_wall_ns = 0;             // on disk a string
  int64_t start_monotonic_ns = 0;        // CLOCK_MONOTONIC at session time 0; on disk a string
  int64_t clock_error_ns = 0;
  int64_t pid = 0;
  std::string process;  // command name
  std::string command;  // argv joined, cut at 4 KiB
  std::string host;
  std::string boot_id;
  std::string container;  // id or runtime where one is seen
  std::string os;         // kernel release
  std::optional<int64_t> rank, world_size, local_rank;
  // Of a command that was run several times: which time this is, from 1, and the engine that was
  // asked for in each. Absent and empty: it was run once.
  std::optional<int64_t> pass;
  std::vector<std::string> passes;
  bool source_text = true;                     // may be kept, also afterwards
  std::optional<int64_t> overhead_budget_ppm;  // by how much the program may be slowed down

  base::Json to_json() const;  // with "type" and "format"
  // Corrupt when the fields that readers rely on are missing; TooNew for a newer major format.
  // Where the line lists no backends, as before there could be several, the only one is listed.
  static base::Result<SessionHeader> from_json(const base::Json& line);
};

// "20261115T034512.000250Z-1f2e3d4c5b6a7988": sorts by time, unique by 64 random bits.
std::string make_session_id(int64_t wall_ns);
// With these bits instead: of what was imported, so that the same file gives the same id.
std::string make_session_id(int64_t wall_ns, uint64_t bits);

}  // namespace gpufl::format
