// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "format/problem.hpp"
#include "format/session_reader.hpp"
#include "symbols/symbolize_session.hpp"

// The sessions that a query reads, as they were found when it began, and what of them turned out
// to be unreadable. Outlives the query. Sessions are constant; note() from any thread.
namespace gpufl::sql {

struct QuerySession {
  format::SessionReader reader;
  int64_t offset_ns = 0;  // of its time 0 after that of the earliest session of its run
};

class SessionSet {
 public:
  // `libdw`: to name native frames that have no symbols beside the log; null: they stay modules and
  // offsets.
  SessionSet(std::vector<format::SessionReader> readers, const symbols::LibdwApi* libdw);

  const std::vector<QuerySession>& sessions() const { return sessions_; }
  const symbols::LibdwApi* libdw() const { return libdw_; }

  void note(size_t session, const std::vector<format::Problem>& problems) const;
  // "DIR: 2 problems, the first: device.1.log.zst line 3: ..." of each session that has some.
  std::vector<std::string> faults() const;

 private:
  struct Fault {
    uint64_t count = 0;
    std::string first;
  };

  std::vector<QuerySession> sessions_;
  const symbols::LibdwApi* libdw_;
  mutable std::mutex mutex_;
  mutable std::vector<Fault> faults_;  // by session
};

}  // namespace gpufl::sql
