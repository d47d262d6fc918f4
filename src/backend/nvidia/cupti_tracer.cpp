// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti_tracer.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>

#include "backend/nvidia/activity_buffers.hpp"
#include "backend/nvidia/activity_decoder.hpp"
#include "backend/nvidia/launch_counter.hpp"
#include "base/clock.hpp"

namespace gpufl::backend {
namespace {

// Flushed this often, a record is at most about two rounds old when it reaches the log.
constexpr int64_t kFlushEveryNs = 50'000'000;
// CUPTI tells GPU time by interpolation: a record may seem to end a little after it was read.
constexpr int64_t kClockSlackNs = 10'000'000;
// The first version that allows several subscribers.
constexpr uint32_t kSharedCupti = 130'300;

// Never destroyed: see ActivityBuffers.
ActivityBuffers& buffers() {
  static auto* const all = new ActivityBuffers;
  return *all;
}

void CUPTIAPI on_buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = buffers().take_empty();
  *size = *buffer != nullptr ? ActivityBuffers::kBufferBytes : 0;
  *max_records = 0;  // as many as fit
}

void CUPTIAPI on_buffer_completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  if (buffer != nullptr) buffers().give_full(buffer, valid);
}

uint64_t CUPTIAPI timestamp() { return static_cast<uint64_t>(base::monotonic_ns()); }

std::atomic_flag tracing = ATOMIC_FLAG_INIT;

// Calls of the driver whose records matter. A program that uses the runtime has them in its
// runtime's records; these serve programs that call the driver itself.
bool wants_driver_call(const CuptiApi& api, CUpti_CallbackId id) {
  const char* name = nullptr;
  if (api.cuptiGetCallbackName(CUPTI_CB_DOMAIN_DRIVER_API, id, &name) != CUPTI_SUCCESS)
    return false;
  return name != nullptr && api_role(name) != ApiRole::Other;
}

class CuptiTracer final : public Tracer {
 public:
  CuptiTracer(std::shared_ptr<CuptiLibrary> cupti, const TraceOptions& options,
              std::vector<std::string> uuids)
      : cupti_(std::move(cupti)),
        api_(cupti_->api()),
        options_(options),
        devices_(driver(), std::move(uuids)) {}
  ~CuptiTracer() override {
    stop();
    detach();
  }

  Availability start(int64_t session_start_ns) override;
  std::vector<Limitation> limitations() const override { return limitations_; }
  void stop() override;
  void drain(int64_t now_ns, RowSink& sink) override;
  void account(format::Ledger& ledger) const override;
  TraceStatus status() const override;

 private:
  enum class State { Idle, Running, Stopped, Detached };

  // Never destroyed: the launch counter's callbacks use it.
  static const CudaDriver& driver() {
    static const auto* const cuda = new CudaDriver;
    return *cuda;
  }
  Availability enable();
  Availability enable_driver_calls();
  void disable();
  int64_t clock_origin(int64_t session_start_ns);
  void read_buffers(int64_t now_ns, RowSink& sink);
  void count_drops();
  void detach();

  const std::shared_ptr<CuptiLibrary> cupti_;
  const CuptiApi& api_;
  const TraceOptions options_;
  DeviceNumbers devices_;

  // stop() comes from the program's thread, drain() from the collector's; CUPTI must not be given
  // up under the other's feet.
  mutable std::mutex mutex_;
  State state_ = State::Idle;
  std::vector<CUpti_ActivityKind> enabled_;
  bool counts_launches_ = false;
  std::vector<Limitation> limitations_;
  std::optional<ActivityDecoder> decoder_;
  int64_t session_start_ns_ = 0;
  int64_t last_flush_ns_ = 0;
  uint64_t refusals_before_ = 0;
  uint64_t dropped_ = 0;
  bool drops_known_ = true;
  uint64_t launches_ = 0, graph_launches_ = 0;
  std::vector<ActivityBuffers::Full> full_;
};

Availability CuptiTracer::start(int64_t session_start_ns) {
  const std::lock_guard lock(mutex_);
  if (tracing.test_and_set()) {
    return {false, "taken", "another session of this process records the GPU", ""};
  }
  session_start_ns_ = session_start_ns;
  buffers().begin();
  buffers().refill();
  refusals_before_ = buffers().refusals();
  Availability counting = LaunchCounter::instance().subscribe(api_, driver());
  counts_launches_ = counting.available;
  Availability enabled = enable();
  if (!enabled.available) {
    disable();
    state_ = State::Stopped;
    detach();
    return enabled;
  }
  // Counting begins after recording has, so that every launch counted has a record.
  if (counts_launches_) {
    LaunchCounter::instance().start();
  } else {
    limitations_.push_back({"launch_count", std::move(counting)});
  }
  state_ = State::Running;
  return enabled;
}

Availability CuptiTracer::enable() {
  if (const CUptiResult code =
          api_.cuptiActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed);
      code != CUPTI_SUCCESS) {
    return cupti_failure(api_, code, "cuptiActivityRegisterCallbacks(requested, completed)");
  }
  // The default is a cut-off pthread_t, which is no thread of the log's.
  if (const CUptiResult code = api_.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
      code != CUPTI_SUCCESS) {
    return cupti_failure(api_, code, "cuptiSetThreadIdType(SYSTEM)");
  }
  decoder_.emplace(api_, devices_, clock_origin(session_start_ns_));
  std::vector<CUpti_ActivityKind> kinds = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                                           CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2,
                                           CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_RUNTIME};
  if (options_.synchronization) kinds.push_back(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
  if (api_.cuptiActivityEnableDriverApi == nullptr) kinds.push_back(CUPTI_ACTIVITY_KIND_DRIVER);
  for (const CUpti_ActivityKind kind : kinds) {
    const CUptiResult code = api_.cuptiActivityEnable(kind);
    if (code != CUPTI_SUCCESS) return cupti_failure(api_, code, "cuptiActivityEnable(kind)");
    enabled_.push_back(kind);
  }
  return enable_driver_calls();
}

Availability CuptiTracer::enable_driver_calls() {
  if (api_.cuptiActivityEnableDriverApi != nullptr) {
    for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
      if (!wants_driver_call(api_, id)) continue;
      const CUptiResult code = api_.cuptiActivityEnableDriverApi(id, 1);
      if (code != CUPTI_SUCCESS) {
        return cupti_failure(api_, code, "cuptiActivityEnableDriverApi(id, 1)");
      }
    }
  }
  return {true, "", "", ""};
}

// CUPTI's times are the monotonic clock's where it takes our callback, else its own, which run at
// the same rate from another zero.
int64_t CuptiTracer::clock_origin(int64_t session_start_ns) {
  if (api_.cuptiActivityRegisterTimestampCallback(timestamp) == CUPTI_SUCCESS) {
    return session_start_ns;
  }
  uint64_t cupti_ns = 0;
  const int64_t before_ns = base::monotonic_ns();
  api_.cuptiGetTimestamp(&cupti_ns);
  const int64_t middle_ns = before_ns + (base::monotonic_ns() - before_ns) / 2;
  return session_start_ns + (static_cast<int64_t>(cupti_ns) - middle_ns);
}

void CuptiTracer::stop() {
  const std::lock_guard lock(mutex_);
  if (state_ != State::Running) return;
  state_ = State::Stopped;
  // Counting ends before recording does, for the same reason that it began later.
  LaunchCounter& counter = LaunchCounter::instance();
  counter.stop();
  launches_ = counter.launches();
  graph_launches_ = counter.graph_launches();
  // First what is complete; then, forced, also kernels that still run: these come without an end
  // and are counted as what they are.
  api_.cuptiActivityFlushAll(0);
  disable();
  api_.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
}

void CuptiTracer::disable() {
  for (const CUpti_ActivityKind kind : enabled_) api_.cuptiActivityDisable(kind);
  enabled_.clear();
  if (api_.cuptiActivityEnableDriverApi == nullptr) return;
  for (CUpti_CallbackId id = 1; id < CUPTI_DRIVER_TRACE_CBID_SIZE; ++id) {
    if (wants_driver_call(api_, id)) api_.cuptiActivityEnableDriverApi(id, 0);
  }
}

void CuptiTracer::drain(int64_t now_ns, RowSink& sink) {
  const std::lock_guard lock(mutex_);
  if (state_ == State::Idle || state_ == State::Detached) return;
  const bool flush_now = state_ == State::Running && now_ns - last_flush_ns_ >= kFlushEveryNs;
  if (flush_now) {
    last_flush_ns_ = now_ns;
    api_.cuptiActivityFlushAll(0);
  }
  read_buffers(now_ns, sink);
  if (state_ == State::Running) {
    decoder_->submit(flush_now, sink);
    buffers().refill();
  } else {
    decoder_->finish(sink);
    detach();
  }
}

void CuptiTracer::read_buffers(int64_t now_ns, RowSink& sink) {
  buffers().take_full(full_);
  const int64_t latest_ns =
      std::max(now_ns, base::monotonic_ns() - session_start_ns_) + kClockSlackNs;
  for (const ActivityBuffers::Full& buffer : full_) {
    decoder_->decode(buffer.data, buffer.valid_bytes, latest_ns, sink);
    buffers().give_empty(buffer.data);
  }
  if (!full_.empty() || state_ == State::Stopped) count_drops();
}

void CuptiTracer::count_drops() {
  size_t dropped = 0;
  if (api_.cuptiActivityGetNumDroppedRecords(nullptr, 0, &dropped) == CUPTI_SUCCESS) {
    dropped_ += dropped;
  } else {
    drops_known_ = false;
  }
}

void CuptiTracer::detach() {
  if (state_ != State::Stopped) return;
  state_ = State::Detached;
  LaunchCounter& counter = LaunchCounter::instance();
  if (counts_launches_ && cupti_->version() < kSharedCupti) {
    counter.finalize();
  } else {
    counter.unsubscribe();
  }
  buffers().release_spare();
  tracing.clear();
}

TraceStatus CuptiTracer::status() const {
  const std::lock_guard lock(mutex_);
  TraceStatus status;
  status.state = state_ == State::Running ? "recording" : "stopped";
  if (decoder_) status.kernels = decoder_->counts().kernels;
  status.dropped = dropped_;
  return status;
}

void CuptiTracer::account(format::Ledger& ledger) const {
  const std::lock_guard lock(mutex_);
  if (!decoder_) return;
  const ActivityCounts& counts = decoder_->counts();
  ledger.kernel_records = counts.kernels;
  ledger.graph_kernel_records = counts.graph_kernels;
  ledger.impossible_times = counts.impossible_times;
  // A refusal of ours makes CUPTI drop; that it says so is not taken for granted.
  const uint64_t refused = buffers().refusals() - refusals_before_;
  if (drops_known_) ledger.vendor_dropped = std::max(dropped_, refused);
  if (!counts_launches_) return;
  const bool running = state_ == State::Running;
  const LaunchCounter& counter = LaunchCounter::instance();
  ledger.launches_seen = running ? counter.launches() : launches_;
  ledger.graph_launches = running ? counter.graph_launches() : graph_launches_;
}

}  // namespace

std::unique_ptr<Tracer> make_cupti_tracer(std::shared_ptr<CuptiLibrary> cupti,
                                          const TraceOptions& options,
                                          std::vector<std::string> uuids) {
  return std::make_unique<CuptiTracer>(std::move(cupti), options, std::move(uuids));
}

}  // namespace gpufl::backend
