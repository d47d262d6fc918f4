// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "capture/counters.hpp"
#include "capture/scope_recorder.hpp"
#include "capture/vendor_entry.hpp"
#include "client/warpscope_call.hpp"

// One owner of capture per process. Several copies of this library may be in it: injected by the
// driver, linked, in a plugin. Each carries an ELF note that leads to its SessionTable, so copies
// find each other whatever their symbols' visibility. The copy that claims first has the session;
// the others join it. Any thread; no lock of the Client's is taken here.
namespace gpufl::client::joining {

inline constexpr uint32_t kTableVersion = 1;  // also the note's type

// As DeepWindowSpec, in plain C.
struct DeepWindowCall {
  uint32_t size;
  int32_t max_duration_ms, max_launches, cooldown_ms;
  const char* name;  // not null
  size_t name_size;
};

// Plain C: copies may come from different compilers and versions. Of version 1 nothing is ever
// changed; more may be added at the end.
struct SessionTable {
  // 0 until the copy's own constructors run: a module that is still being loaded is in the list of
  // modules already, and cannot be called yet.
  std::atomic<uint32_t> version;
  uint32_t size;
  // Of the copy that was loaded first: whose session it is. Of the others null.
  std::atomic<SessionTable*> owner;

  // The owner's side. join() is true when `member` has joined: from then on it may call the rest,
  // until it leaves or its owner_ended() is called.
  bool (*join)(SessionTable* member);
  void (*leave)(SessionTable* member);
  capture::scope_recorder::ForeignRecorder scopes;
  void (*system_start)(const char* name, size_t name_size);
  void (*system_stop)(const char* name, size_t name_size);
  // Flushes the session and copies its folder's path, without a zero; 0 when it has none, or when
  // `capacity` is too small.
  size_t (*flushed_folder)(char* path, size_t capacity);
  // A vendor's driver has just loaded an injected copy: it begins.
  void (*driver_starts)();
  // A copy of a vendor's annotation API has found a copy of us: its marks and ranges belong to the
  // session.
  int (*annotations_start)(capture::AnnotationTables tables);

  // The member's side, called by the owner: the second also before it is a member.
  void (*owner_ended)();
  void (*pass_annotations)(SessionTable* owner);
  capture::counters::ForeignCounters counters;

  // The owner's side again, of copies whose `size` reaches here: a launch that warpscope profiles
  // is about to be made; its capture is there. The second returns a WarpscopeStatus.
  void (*open_warpscope)();
  int32_t (*record_warpscope)(const WarpscopeCall* call);
  // Likewise: as scopes.begin_scope, of a scope that is marked deep.
  capture::scope_recorder::ForeignBegin begin_deep_scope;
  // Likewise: deep windows of the session.
  bool (*open_deep_window)(const DeepWindowCall* call);
  void (*close_deep_window)();
  bool (*is_deep_window_open)();
  // Likewise: another iteration of a benchmark scope.
  capture::scope_recorder::ForeignIteration next_iteration;
};

// What the owner's side calls in the copy that has the session.
struct OwnerCalls {
  void (*system_start)(const char* name, size_t name_size);
  void (*system_stop)(const char* name, size_t name_size);
  size_t (*flushed_folder)(char* path, size_t capacity);
  void (*driver_starts)();
  int (*annotations_start)(capture::AnnotationTables tables);
  void (*open_warpscope)();
  int32_t (*record_warpscope)(const WarpscopeCall* call);
  bool (*open_deep_window)(const DeepWindowCall* call);
  void (*close_deep_window)();
  bool (*is_deep_window_open)();
};
// Whether that copy knows of warpscope.
inline bool takes_warpscope(const SessionTable& table) {
  return table.size >= offsetof(SessionTable, record_warpscope) + sizeof(table.record_warpscope);
}
inline bool takes_deep_scopes(const SessionTable& table) {
  return table.size >= offsetof(SessionTable, begin_deep_scope) + sizeof(table.begin_deep_scope);
}
inline bool takes_deep_windows(const SessionTable& table) {
  return table.size >=
         offsetof(SessionTable, is_deep_window_open) + sizeof(table.is_deep_window_open);
}
inline bool takes_iterations(const SessionTable& table) {
  return table.size >= offsetof(SessionTable, next_iteration) + sizeof(table.next_iteration);
}
// Before the first claim(); once.
void set_up(const OwnerCalls& calls);

// Null when this copy is the owner from now on, until release(); else the copy that is.
SessionTable* claim();
// Lets members go. The next claim() of any copy succeeds.
void release();

// Becomes a member of `owner`: scopes and counters go there from now on. False when its session has
// just ended.
bool join(SessionTable* owner);
// The copy that this one is a member of; null: none.
SessionTable* joined();
void leave();

// Points a copy of a vendor's annotation API to the copy of us that has the session; where none
// has, to this one, until one has. What the vendor's API gets back.
int annotations_start(capture::AnnotationTables tables);

// In the child of a fork(): no copy has a session there.
void after_fork_in_child();

}  // namespace gpufl::client::joining
