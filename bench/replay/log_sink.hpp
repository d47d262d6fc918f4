// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/backend.hpp"
#include "bench/replay/record_stream.hpp"
#include "capture/scope_history.hpp"
#include "format/log_writer.hpp"

// Rows of a decoder to a log, with the scopes of a history: what the collector does with them. One
// thread; borrows both.
namespace gpufl::bench {

class LogSink final : public backend::RowSink {
 public:
  LogSink(format::LogWriter& log, capture::ScopeHistory& scopes) : log_(log), scopes_(scopes) {}
  int64_t intern(format::Dict dict, std::string_view value) override {
    return log_.intern(dict, value);
  }
  void submit(const format::Batch& rows) override { log_.write(rows); }
  void write(format::Kind kind, const base::Json& line) override { log_.write(kind, line); }
  backend::ScopeRef scope_at(int64_t thread, int64_t time_ns) override {
    return scopes_.at(thread, time_ns);
  }
  int64_t stack(uint32_t recorded) override { return recorded; }

 private:
  format::LogWriter& log_;
  capture::ScopeHistory& scopes_;
};

inline void tell_scopes(const RecordStream::Round& round, capture::ScopeHistory& history) {
  for (const auto& scope : round.scopes) {
    auto& thread = history.enter(scope.thread);
    history.change(thread, scope.start_ns, 0, scope.id);
    history.change(thread, scope.end_ns, scope.id, 0);
  }
  history.settle(round.last_ns);
}

}  // namespace gpufl::bench
