// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/interner.hpp"
#include "capture/scope_ring.hpp"

// Where scopes are recorded: process-wide, older and younger than any session. A thread gets its
// ring (1 MiB of address space, resident as far as it is used, 64 MiB for all rings together) at
// its first scope of a session and keeps it until it ends; from then on begin and end allocate
// nothing, lock nothing and make no system call. One session at a time owns the consuming side.
namespace gpufl::capture::scope_recorder {

// Becomes the consumer; events of earlier sessions are void. Returns the session's number for
// tokens, or 0 when another session has the recorder.
uint32_t attach();
void start_recording(uint32_t session);
// Threads may still be inside a push. The consumer may drain until release(), which forgets the
// names and gives the memory of all rings back.
void stop_recording();
void release();

// Rings 0 .. ring_count()-1; null for one that is just being made. No lock.
uint32_t ring_count();
ScopeRing* ring(uint32_t number);
// Of the session; without room for one more it is "<overflow>".
inline constexpr uint32_t kMaxNames = 65536;
inline constexpr uint32_t kMaxTags = 65536;
base::Interner& names();
base::Interner& tags();
// Whether any thread is inside a scope of `session`. Walks the rings: for pollers.
bool any_scope_open(uint32_t session);
// Scopes that found no ring, since the process began.
uint64_t ringless_drops();

// Another copy of the library in this process, which has the session: plain C, because copies may
// come from different compilers.
using ForeignBegin = uint64_t (*)(const char* name, size_t name_size, const char* tag,
                                  size_t tag_size, uint32_t repeat, uint32_t warmup);
struct ForeignRecorder {
  ForeignBegin begin_scope;
  void (*end_scope)(uint64_t scope);
};
using ForeignIteration = void (*)(uint64_t scope, const char* name, size_t name_size);
// From here on scopes are recorded there, as long as no session of this copy records; null: no
// more. `other` stays for good. `begin_deep` begins one that is marked deep, and `next_iteration`
// tells of iterations; null: that copy knows no such scopes, or no iterations.
void forward_to(const ForeignRecorder* other, ForeignBegin begin_deep = nullptr,
                ForeignIteration next_iteration = nullptr);

// Around fork(): `before` and `parent` on the forking thread, `child` in the child, where the
// rings of threads that are not there become free.
void before_fork();
void after_fork_in_parent();
void after_fork_in_child();

}  // namespace gpufl::capture::scope_recorder
