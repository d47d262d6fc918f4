// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "analysis/tables/table_builder.hpp"
#include "base/status.hpp"
#include "format/session_reader.hpp"
#include "sql/table.hpp"

// The rows of one kind of a session, a piece at a time, read by a thread of its own that is never
// more than a few pieces ahead. Made and used by one thread, which may change; ends its thread
// with it.
namespace gpufl::sql {

class PieceReader {
 public:
  // `builder` knows the scopes that rows are linked to. `faults`: what could not be read.
  PieceReader(const format::SessionReader& session, format::Kind kind, const TimeRange& range,
              analysis::TableBuilder builder, const std::atomic<bool>& is_cancelled);
  ~PieceReader();
  PieceReader(const PieceReader&) = delete;
  PieceReader& operator=(const PieceReader&) = delete;

  // Nothing at the end. Cancelled when that was asked for.
  base::Result<std::optional<analysis::TablePiece>> next();
  // Once next() came to the end.
  const std::vector<format::Problem>& problems() const { return problems_; }

 private:
  class Lines;

  void read(const TimeRange& range, analysis::TableBuilder builder);
  bool put(analysis::TablePiece piece);

  const format::SessionReader session_;
  const format::Kind kind_;
  const std::atomic<bool>& is_cancelled_;
  std::vector<format::Problem> problems_;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<analysis::TablePiece> pieces_;
  std::exception_ptr failure_;
  bool is_at_end_ = false, is_closed_ = false;
  std::thread thread_;
};

}  // namespace gpufl::sql
