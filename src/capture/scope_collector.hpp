// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "capture/capture_gate.hpp"
#include "capture/scope_history.hpp"
#include "capture/scope_ring.hpp"
#include "capture/step_cost.hpp"
#include "format/batch.hpp"
#include "format/log_writer.hpp"

// Makes rows of scope events: pairs begins with ends, thread by thread, and says how each scope
// came to its end. The collector's thread only; `log` outlives it.
namespace gpufl::capture {

class ScopeCollector {
 public:
  // `session` is what scope_recorder::attach() gave; make this before start_recording().
  // `keeps_history` is for scope_at().
  ScopeCollector(format::LogWriter& log, uint32_t session, int64_t session_start_ns,
                 bool keeps_history);
  // `gate` is told of scopes that have its scope_name(), and outlives this.
  void watch_for(RangeGate& gate);

  // `count` is set to how many scopes are open that are marked deep.
  void count_deep(std::atomic<int32_t>& count) { deep_ = &count; }
  // Outermost scopes that end are appended, while there are fewer than `most`.
  void keep_steps(std::vector<Step>& steps, size_t most);

  // Takes what the threads have recorded and writes the scopes that ended. Returns how full the
  // fullest ring was, in events of a ring of ScopeRing::kEvents.
  uint64_t drain();
  // Writes a scope_open row for every open scope that has none, so that a log which ends here
  // shows it. restate_open() makes them all due again, for files begun since.
  void announce_open();
  void restate_open();
  // Everything still open ends now, with the session. After the last drain().
  void finish(int64_t now_ns);
  // As backend::RowSink::scope_at(), for calls that began before the last drain().
  backend::ScopeRef scope_at(int64_t thread, int64_t time_ns) {
    return history_ ? history_->at(thread, time_ns) : backend::ScopeRef{};
  }
  // As backend::RowSink::is_scope_open().
  bool is_scope_open(int64_t begin_ns, int64_t end_ns) {
    return history_ && history_->is_any_open(begin_ns, end_ns);
  }

  // The name of a scope that is open now; empty: it is not.
  std::string_view name_of_open(int64_t id) const;

  uint64_t dropped() const;  // scopes, since the session began
  uint64_t unclosed() const { return unclosed_; }
  uint64_t names_overflowed() const;
  uint64_t unknown() const { return history_ ? history_->unknown() : 0; }  // of scope_at()

 private:
  struct OpenScope {
    ScopeToken token;
    int64_t id;
    int64_t parent;
    int64_t depth;
    int64_t start_ns;  // session time
    uint32_t name, tag, repeat, warmup;
    bool is_deep;
    bool announced;
  };
  // The end of a scope by a thread that did not open it.
  struct ForeignEnd {
    ScopeToken token;
    int64_t time_ns;
    int drains_left;
  };
  struct ThreadScopes {
    int64_t thread_id = 0;
    ScopeHistory::Thread* history = nullptr;  // of this thread, once it had a scope
    std::vector<OpenScope> open;              // outermost first
    std::vector<ForeignEnd> foreign_ends;
    uint64_t published = 0;
    uint64_t foreign_seen = 0;
    uint64_t dropped_before = 0;
    bool exited = false;

    int64_t innermost() const { return open.empty() ? 0 : open.back().id; }
  };
  int64_t name_id(uint32_t name);
  int64_t tag_id(uint32_t tag);
  int64_t session_time(int64_t monotonic_ns) const;
  void gather_foreign_ends(const ScopeRing& ring, ThreadScopes& thread);
  void take(ScopeRing& ring, ThreadScopes& thread, const ScopeEvent& event);
  void begin(ThreadScopes& thread, const ScopeEvent& event);
  void close(ThreadScopes& thread, std::vector<OpenScope>::iterator scope, int64_t end_ns,
             format::ScopeEnding ending);
  void end(ThreadScopes& thread, const ScopeEvent& event);
  void apply_foreign_ends(ScopeRing& ring, ThreadScopes& thread, int64_t until_ns);
  void expire_foreign_ends(ThreadScopes& thread);
  void close_all(ThreadScopes& thread, int64_t end_ns, format::ScopeEnding ending);
  void write_row(const ThreadScopes& thread, const OpenScope& scope, int64_t end_ns,
                 format::ScopeEnding ending);
  void write_rows();

  format::LogWriter& log_;
  const uint32_t session_;
  const int64_t session_start_ns_;
  std::optional<ScopeHistory> history_;
  RangeGate* gate_ = nullptr;
  uint32_t gate_name_ = 0;  // the recorder's id of the name it waits for
  std::atomic<int32_t>* deep_ = nullptr;
  std::vector<Step>* steps_ = nullptr;
  size_t most_steps_ = 0;
  std::vector<ThreadScopes> threads_;  // by ring
  uint64_t ringless_before_;
  uint64_t names_overflowed_before_;
  std::vector<int64_t> name_ids_;  // of the log, by id of the recorder's names
  std::vector<int64_t> tag_ids_;   // and of its tags
  format::Batch rows_{format::Kind::Scope};
  format::Batch open_rows_{format::Kind::ScopeOpen};
  int64_t next_id_ = 1;  // 0 is "no parent"
  uint64_t unclosed_ = 0;
};

}  // namespace gpufl::capture
