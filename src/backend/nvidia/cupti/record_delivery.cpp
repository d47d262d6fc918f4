// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/record_delivery.hpp"

#include <algorithm>
#include <atomic>
#include <numeric>

#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

// Never destroyed: see ActivityBuffers.
ActivityBuffers& buffers() {
  static auto* const all = new ActivityBuffers;
  return *all;
}

// When CUPTI last gave us a buffer, or was refused one: until then the records were ours.
std::atomic<int64_t> g_heard_ns{0};
std::atomic<bool> g_is_registered{false};  // the last to register, to our knowledge

void CUPTIAPI on_buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = buffers().take_empty();
  if (*buffer == nullptr) g_heard_ns.store(base::monotonic_ns(), std::memory_order_relaxed);
  *size = *buffer != nullptr ? ActivityBuffers::kBufferBytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI on_buffer_completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  g_heard_ns.store(base::monotonic_ns(), std::memory_order_relaxed);
  if (buffer != nullptr) buffers().give_full(buffer, valid);
}

uint64_t CUPTIAPI timestamp() { return static_cast<uint64_t>(base::monotonic_ns()); }

// CUPTI's times are the monotonic clock's where it takes our callback, else its own, which run at
// the same rate from another zero.
ClockOrigins register_clock(const CuptiApi& api, int64_t session_start_ns) {
  if (api.cuptiActivityRegisterTimestampCallback(timestamp) == CUPTI_SUCCESS) {
    return {session_start_ns, session_start_ns};
  }
  uint64_t cupti_ns = 0;
  const int64_t before_ns = base::monotonic_ns();
  api.cuptiGetTimestamp(&cupti_ns);
  const int64_t middle_ns = before_ns + (base::monotonic_ns() - before_ns) / 2;
  return {session_start_ns + (static_cast<int64_t>(cupti_ns) - middle_ns), session_start_ns};
}

}  // namespace

bool RecordDelivery::may_register(const CuptiApi& api, bool is_subscribed) {
  if (is_subscribed || g_is_registered) return true;
  // CUPTI's text says that it refuses to flush where nobody has registered. That of CUDA 13.0 does
  // not: then whoever has the callbacks is taken to have the records as well.
  return api.cuptiActivityFlushAll(0) != CUPTI_SUCCESS;
}

void RecordDelivery::on_finalize() { g_is_registered = false; }

Availability RecordDelivery::open(const CuptiApi& api, const TraceOptions& options,
                                  int64_t session_start_ns, std::vector<Limitation>& left_out) {
  buffers().begin();
  buffers().refill();
  before_ = buffers().counts();
  taken_ = before_.delivered;
  opened_ns_ = base::monotonic_ns();
  // Beside records of whatever kind, counters by instruction stay zero; hardware counters are
  // wrong.
  if (options.counts()) {
    clock_origins_ = {session_start_ns, session_start_ns};
    return {true, "", "", ""};
  }
  if (const CUptiResult code =
          api.cuptiActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed);
      code != CUPTI_SUCCESS) {
    return cupti_failure(api, code, "cuptiActivityRegisterCallbacks(requested, completed)");
  }
  g_is_registered = true;
  // The default is a cut-off pthread_t, which is no thread of the log's.
  if (const CUptiResult code = api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
      code != CUPTI_SUCCESS) {
    return cupti_failure(api, code, "cuptiSetThreadIdType(SYSTEM)");
  }
  // CUPTI goes on counting while nobody records: what it dropped when an earlier recording was
  // given up is not this one's.
  size_t stale = 0;
  api.cuptiActivityGetNumDroppedRecords(nullptr, 0, &stale);
  clock_origins_ = register_clock(api, session_start_ns);
  Availability enabled = kinds_.enable(api, options, left_out);
  if (!enabled.available) kinds_.disable(api);
  return enabled;
}

void RecordDelivery::gather() {
  if (full_.empty()) return buffers().take_full(full_);
  // In hand since a round that did not come to decode them: recording was stopped meanwhile.
  std::vector<ActivityBuffers::Full> more;
  buffers().take_full(more);
  full_.insert(full_.end(), more.begin(), more.end());
}

size_t RecordDelivery::gathered_bytes() const {
  return std::accumulate(full_.begin(), full_.end(), size_t{0},
                         [](size_t sum, const auto& buffer) { return sum + buffer.valid_bytes; });
}

void RecordDelivery::decode(const CuptiApi& api, uint64_t portions, int64_t latest_ns,
                            ActivityDecoder& decoder, RowSink& sink) {
  const size_t kept = full_.size() - (full_.size() + portions - 1) / portions;
  while (full_.size() > kept) {
    const ActivityBuffers::Full buffer = full_.front();
    full_.erase(full_.begin());
    // Also when there is no memory to go on: what is in hand is lost then, the buffer is not.
    struct Returning {
      uint8_t* data;
      ~Returning() { buffers().give_empty(data); }
    } const returning{buffer.data};
    if (++taken_ > unforced_) decoder.account().expect_unfinished();
    decoder.decode(buffer.data, buffer.valid_bytes, latest_ns, sink);
  }
  size_t dropped = 0;
  if (api.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    dropped_ += dropped;
  } else {
    drops_known_ = false;
  }
}

void RecordDelivery::refill() { buffers().refill(); }

bool RecordDelivery::close(const CuptiApi& api, int64_t last_launch_ns, Running running) {
  const uint32_t flags = running == Running::Forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0;
  // First what is complete; then, forced, also kernels that still run: these come without times.
  api.cuptiActivityFlushAll(0);
  unforced_ = delivered();
  if (flags != 0) api.cuptiActivityFlushAll(flags);
  // All that there is has come: a launch whose kernel has not has told another tool.
  if (running != Running::Left && last_launch_ns > std::max(g_heard_ns.load(), opened_ns_)) {
    kinds_.disable_uncommon(api);
    g_is_registered = false;
    return false;
  }
  kinds_.disable(api);
  api.cuptiActivityFlushAll(flags);
  return true;
}

void RecordDelivery::release() { buffers().release_spare(); }

uint64_t RecordDelivery::delivered() const { return buffers().counts().delivered; }

uint64_t RecordDelivery::refusals() const { return buffers().counts().refusals - before_.refusals; }

void RecordDelivery::account(format::Ledger& ledger) const {
  const ActivityBuffers::Counts now = buffers().counts();
  ledger.activity_buffers = now.delivered - before_.delivered;
  ledger.activity_bytes = now.delivered_bytes - before_.delivered_bytes;
  // A refusal of ours makes CUPTI drop; that it says so is not taken for granted.
  if (drops_known_) ledger.vendor_dropped = std::max(dropped_, refusals());
}

}  // namespace gpufl::backend
