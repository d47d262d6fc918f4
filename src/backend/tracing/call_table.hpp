// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <new>
#include <unordered_map>

#include "base/page_allocator.hpp"

// What is known of an API call, by correlation id: from the callback's notes of it, from its record
// where there is one, and from the GPU records that it brought, which arrive in any order and in
// different buffers. The collector's thread only. Ids count up, so a call's place is its id's low
// bits and it makes room for one 65,536 ids younger; a call that still waits for something, or is
// waited for, is then put aside, in a table that is searched only while it holds anything. Ids are
// 32 bits and wrap.
namespace gpufl::backend {

struct alignas(64) ApiCall {
  int64_t start = 0;  // session time
  int64_t duration = -1;
  int64_t scope = 0;
  uint64_t external = 0;  // the id that the program or a framework pushed; 0: none
  uint32_t id = 0;        // 0: nothing here
  uint32_t thread = 0;
  uint32_t stack = 0;  // the log's id
  uint32_t context = 0;
  uint32_t result = 0;
  uint32_t launches = 0;  // noted by the callback: kernels, each of which must bring a record
  uint32_t kernels = 0;   // kernel records that came
  uint16_t function = 0;  // the vendor's number within its API
  bool is_driver : 1 = false;
  bool is_told : 1 = false;    // its times are known
  bool has_scope : 1 = false;  // asked for
  bool inherited : 1 = false;
  bool joined : 1 = false;           // some row carries it, or it needs none
  bool outside : 1 = false;          // the program did not want this part recorded
  bool is_graph_launch : 1 = false;  // noted
  bool counts_nodes : 1 = false;     // and `launches` has the kernels of that graph
  bool varies : 1 = false;           // the kernels of that graph are known to be uncountable
  bool has_node : 1 = false;         // a record of a node of a graph came
  bool has_begun : 1 = false;        // noted at its beginning
  bool has_ended : 1 = false;
  bool is_own : 1 = false;  // the recorder made it: it has no row

  // More than GPU records tells of it.
  bool is_noted() const { return launches != 0 || is_graph_launch || has_begun || is_told; }
  // A row waits to carry it.
  bool is_awaited() const { return kernels != 0 && !joined; }
  // Nothing more has to come for what was noted of it.
  bool is_settled() const {
    return kernels >= launches && (!is_graph_launch || counts_nodes || has_node) &&
           (!has_begun || has_ended);
  }
};
static_assert(sizeof(ApiCall) == 64, "one cache line");

class CallTable {
 public:
  static constexpr size_t kCapacity = size_t{1} << 16;
  // The GPU's queues hold some thousands of launches: so many cannot be waiting on it.
  static constexpr size_t kMaxAside = size_t{1} << 16;

  CallTable() : calls_(map_calls()) {}
  // The call, made when it is not known; null for an id of 0. evict(call) is called for those that
  // have to go for it.
  template <typename Evict>
  ApiCall* claim(uint32_t id, Evict evict);
  // The same for a call that is noted for the first time: what was noted and put aside under its id
  // is another's. Records alone are its own: they were quicker.
  template <typename Evict>
  ApiCall* claim_new(uint32_t id, Evict evict);
  ApiCall* find(uint32_t id);  // null: not known
  // After a flush: visits and forgets calls put aside that were settled for a few of them.
  template <typename Visit>
  void sweep(Visit visit) {
    for (auto it = aside_.begin(); it != aside_.end();) {
      Aside& aside = it->second;
      if (aside.call.is_settled() && ++aside.flushes > kFlushesKept) {
        visit(aside.call);
        it = aside_.erase(it);
      } else {
        ++it;
      }
    }
  }
  // Visits and forgets all.
  template <typename Visit>
  void forget_all(Visit visit) {
    for (const auto& [id, aside] : aside_) visit(aside.call);
    aside_.clear();
    for (size_t i = 0; i < kCapacity; ++i) {
      if (calls_[i].id == 0) continue;
      visit(calls_[i]);
      calls_[i] = {};
    }
  }

 private:
  struct Aside {
    ApiCall call;
    uint32_t flushes = 0;  // since it was settled
  };
  static constexpr uint32_t kFlushesKept = 4;
  template <typename Evict>
  ApiCall* put_aside(const ApiCall& call, Evict evict);

  // Not cleared: pages begin as zeros, which is an id of nothing, and few calls touch few pages.
  struct Unmap {
    void operator()(ApiCall* calls) const { munmap(calls, kCapacity * sizeof(ApiCall)); }
  };
  static ApiCall* map_calls() {
    void* const pages = base::map_pages(kCapacity * sizeof(ApiCall));
    if (pages == nullptr) throw std::bad_alloc();
    return static_cast<ApiCall*>(pages);
  }

  std::unique_ptr<ApiCall[], Unmap> calls_;
  std::unordered_map<uint32_t, Aside> aside_;
};

inline ApiCall* CallTable::find(uint32_t id) {
  ApiCall& place = calls_[id & (kCapacity - 1)];
  if (place.id == id) return id != 0 ? &place : nullptr;
  if (aside_.empty()) return nullptr;
  const auto found = aside_.find(id);
  return found != aside_.end() ? &found->second.call : nullptr;
}

template <typename Evict>
ApiCall* CallTable::claim(uint32_t id, Evict evict) {
  if (id == 0) return nullptr;
  if (ApiCall* known = find(id)) return known;
  ApiCall fresh;
  fresh.id = id;
  ApiCall& place = calls_[id & (kCapacity - 1)];
  // Its place was given to a younger one before anything was heard of it. Ids count up and wrap.
  const bool is_older = static_cast<int32_t>(id - place.id) < 0;
  if (place.id != 0 && is_older) return put_aside(fresh, evict);
  if (place.id != 0 && place.is_settled() && !place.is_awaited()) {
    evict(place);
  } else if (place.id != 0) {
    put_aside(place, evict);
  }
  place = fresh;
  return &place;
}

template <typename Evict>
ApiCall* CallTable::claim_new(uint32_t id, Evict evict) {
  if (!aside_.empty()) {
    const auto other = aside_.find(id);
    if (other != aside_.end() && other->second.call.is_noted()) {
      evict(other->second.call);
      aside_.erase(other);
    }
  }
  return claim(id, evict);
}

template <typename Evict>
ApiCall* CallTable::put_aside(const ApiCall& call, Evict evict) {
  if (aside_.size() >= kMaxAside) {
    // First those that owe nothing: as a rule their notes found no room.
    std::erase_if(aside_, [&](const auto& one) {
      const ApiCall& other = one.second.call;
      if (other.is_settled()) evict(other);
      return other.is_settled();
    });
    // More than the GPU can have in hand: their records are lost.
    if (aside_.size() >= kMaxAside / 2) {
      for (const auto& [id, aside] : aside_) evict(aside.call);
      aside_.clear();
    }
  }
  return &aside_.insert_or_assign(call.id, Aside{call, 0}).first->second.call;
}

}  // namespace gpufl::backend
