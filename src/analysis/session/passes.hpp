// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/math/figure.hpp"
#include "format/session_header.hpp"

// A program that ran several times, each time with another engine (`gpufl trace --passes`): which
// sessions belong together, and what is known of each pass once they are merged
// (figures/merge_passes.hpp). Plain data and pure functions.
namespace gpufl::analysis {

struct SessionData;

// Whether it is of such a program, and says of which pass.
bool is_pass(const format::SessionHeader& header);

// The places in `headers` of one process's sessions, by pass; none: it has none there.
using ProcessSessions = std::vector<std::optional<size_t>>;
// Of the sessions of one run. Sessions of two passes are one process where rank, command and order
// of start are the same; of those left over, where rank, name and order are. Sessions that are no
// passes are left out.
std::vector<ProcessSessions> match_processes(std::span<const format::SessionHeader> headers);

// The passes that have sessions among these of one run, as places in `passes`, by what their
// engines cost: those that record no GPU work last, and an engine that fell back behind one that
// did not. The first is the one whose times say most about the program.
std::vector<size_t> passes_by_cost(std::span<const format::SessionHeader> headers);

// One process in one pass.
struct SessionPass {
  std::string asked;  // the engine
  std::string got;    // that ran; empty: the process has no session in this pass
  Unknown why = {};   // where `got` is another one than asked
  std::string session_id = {};
  std::filesystem::path dir = {};
  int64_t duration_ns = 0;
  bool has_end = false;
  std::optional<uint64_t> kernels = {};   // recorded; none: GPU work was not
  std::optional<uint64_t> launches = {};  // as counted, of kernels; none: nobody counted
  int64_t kernel_ns = 0;
};

// Kernels of one name, launched in scopes of one path, that differ between passes.
struct LaunchMismatch {
  std::string kernel, full_name, scope;                // scope: its path; empty: in none
  std::vector<std::optional<uint64_t>> launches = {};  // by pass; none: not to be told
};

// The first launch of a thread that is another kernel than in the pass of times.
struct OrderMismatch {
  size_t pass = 0;              // place
  uint64_t launch = 0;          // of the thread, from 1, in the pass of times
  std::string expected, found;  // kernels, with the path of their scope; "nothing": no more
};

// What is known of a process by several passes. The session that has it is the one of the pass of
// times.
struct MergedPasses {
  std::vector<SessionPass> list;
  // Whose figures are shown: places in `list`.
  size_t times = 0;
  Figure<size_t> stalls, counts, ranges;
  std::vector<LaunchMismatch> launches;  // the greatest difference first
  std::vector<OrderMismatch> order;
  std::vector<std::string> uncompared;  // sentences: why launches of a pass could not be compared
  // The sessions of those passes, where they are others than that of times.
  std::shared_ptr<const SessionData> sampled, counted;

  bool has_mismatch() const { return !launches.empty() || !order.empty() || lacks_session(); }
  bool lacks_session() const;  // in one of the passes
};

}  // namespace gpufl::analysis
