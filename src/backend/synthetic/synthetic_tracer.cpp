// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <span>

#include "backend/synthetic/random.hpp"
#include "backend/synthetic/synthetic_backend.hpp"
#include "backend/synthetic/synthetic_samples.hpp"
#include "base/clock.hpp"

// Kernel k lives in slot k: slots begin 1/rate apart and go round the lanes (two streams a device),
// so a lane is free for kMaxLaneNs or until its next slot. A kernel keeps to the first three
// quarters of that time, a copy or memset on its heels to the last. The calls come from one thread,
// a few microseconds earlier: a launch in the first half of the period, a companion's call in the
// second. A row depends only on seed,
// rate, device count and k.
namespace gpufl::backend {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kStreamsPerDevice = 2;
constexpr int64_t kFirstStream = 7;          // as CUDA numbers the streams it makes first
constexpr int64_t kLaunchLatencyNs = 6'000;  // from the API call to the kernel
constexpr int64_t kMaxLaneNs = 1'000'000;
constexpr uint64_t kKernelsPerCopy = 16, kKernelsPerMemset = 64, kKernelsPerSync = 128;
constexpr uint32_t kIdsPerKernel = 3;  // correlation ids of a kernel and its companions
constexpr size_t kRowsPerBatch = 4096;
constexpr uint64_t kMaxKernelsPerDrain = uint64_t{1} << 20;
constexpr size_t kConfigCount = 32;
constexpr size_t kSampledNames = 4;  // of kNames: those that samples are found in
constexpr auto kHostToDevice = static_cast<int64_t>(format::CopyDirection::HostToDevice);
constexpr auto kDeviceToHost = static_cast<int64_t>(format::CopyDirection::DeviceToHost);
constexpr auto kPinned = static_cast<int64_t>(format::MemoryKind::Pinned);
constexpr auto kDeviceMemory = static_cast<int64_t>(format::MemoryKind::Device);
constexpr auto kStreamSynchronize = static_cast<int64_t>(format::WaitKind::StreamSynchronize);

constexpr std::string_view kNames[] = {
    "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_stages_64x3_tn",
    "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32",
    "void flash_fwd_kernel<Flash_fwd_kernel_traits<64, 128, 128, 4>>(Flash_fwd_params)",
    "void at::native::vectorized_elementwise_kernel<4, at::native::GeluCUDAKernelImpl>(int)",
    "void at::native::vectorized_layer_norm_kernel<float, float>(int, float const*)",
    "void at::native::softmax_warp_forward<float, float, float, 10, false, false>(float*)",
    "void at::native::multi_tensor_apply_kernel<adam>(at::native::TensorListMetadata<4>)",
    "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>(at::native::ReduceOp)",
    "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgs)",
    "triton_poi_fused_add_mul_3",
};

struct LaunchConfig {
  int64_t id = 0;           // of the Config dictionary
  int64_t duration_ns = 0;  // typical
};

base::Json extent(int64_t x) {
  base::Json json = base::Json::array();
  for (const int64_t size : {x, int64_t{1}, int64_t{1}}) json.push(size);
  return json;
}

class SyntheticTracer : public Tracer {
 public:
  SyntheticTracer(const SyntheticOptions& options, const TraceOptions& trace)
      : options_(options), trace_(trace), lanes_(options.devices * kStreamsPerDevice) {
    if (trace.pc_sampling) {
      samples_.emplace(options, *trace.pc_sampling, std::span(kNames).first(kSampledNames));
    }
  }

  Availability start(int64_t session_start_ns) override;
  void stop() override;
  void drain(int64_t now_ns, RowSink& sink) override;
  void account(format::Ledger& ledger) const override;
  TraceStatus status() const override;

 private:
  struct Place {
    int64_t device, stream;
  };
  // One kernel's slot, and where its parts lie.
  struct Slot {
    int64_t begin_ns;   // the API call cannot begin earlier
    int64_t kernel_ns;  // the kernel cannot begin earlier
    Place place;
    uint64_t random;
  };

  void define_configs(RowSink& sink);
  void advance_slot();
  void skip_until(int64_t until_ns);
  void add_kernel(const Slot& slot);
  void add_companions(const Slot& slot);
  void submit(RowSink& sink, format::Batch& batch, size_t at_least);
  void add_transfer(format::Batch& batch, const Slot& slot);
  int64_t correlation(uint32_t offset) const {
    return static_cast<uint32_t>(next_kernel_) * kIdsPerKernel + offset;
  }

  const SyntheticOptions options_;
  const TraceOptions trace_;
  const int64_t lanes_;
  int64_t period_ns_ = 0;        // between slots, rounded down
  int64_t period_fraction_ = 0;  // what rounding lost, in 1/rate ns
  int64_t lane_ns_ = 0;          // how long a slot may use its lane
  int64_t session_start_ns_ = 0;
  // Set by stop(), on another thread than drain().
  std::atomic<int64_t> end_ns_{std::numeric_limits<int64_t>::max()};
  int64_t thread_ = 0;
  bool running_ = false;

  uint64_t next_kernel_ = 0;
  std::atomic<uint64_t> launches_{0};  // for status(): as of the last drain
  uint64_t kernel_records_ = 0;
  int64_t next_slot_ns_ = 0;
  int64_t slot_fraction_ = 0;
  int64_t next_lane_ = 0;

  std::array<LaunchConfig, kConfigCount> configs_;
  bool configs_defined_ = false;
  format::Batch kernels_{format::Kind::Kernel};
  format::Batch copies_{format::Kind::Memcpy};
  format::Batch memsets_{format::Kind::Memset};
  format::Batch syncs_{format::Kind::Sync};
  std::optional<SyntheticSamples> samples_;  // none: not asked for
};

Availability SyntheticTracer::start(int64_t session_start_ns) {
  session_start_ns_ = session_start_ns;
  thread_ = gettid();
  next_slot_ns_ = base::monotonic_ns() - session_start_ns;
  if (samples_) samples_->start(next_slot_ns_);
  if (options_.kernels_per_s > 0) {
    period_ns_ = kSecondNs / options_.kernels_per_s;
    period_fraction_ = kSecondNs % options_.kernels_per_s;
    lane_ns_ = std::min(period_ns_ * lanes_, kMaxLaneNs);
    running_ = true;
  }
  return {true, "", "", ""};
}

void SyntheticTracer::stop() {
  int64_t running = std::numeric_limits<int64_t>::max();
  end_ns_.compare_exchange_strong(running, base::monotonic_ns() - session_start_ns_);
}

void SyntheticTracer::define_configs(RowSink& sink) {
  for (size_t i = 0; i < kConfigCount; ++i) {
    const uint64_t random = random_at(~options_.seed, i);
    const int64_t name = sink.intern(format::Dict::Name, kNames[i % std::size(kNames)]);
    base::Json config = base::Json::object();
    config.set("name", name);
    config.set("grid", extent(1 + scaled(random, 4096)));
    config.set("block", extent(int64_t{32} << (random % 6)));
    config.set("registers", static_cast<int64_t>(16 + 8 * (random % 28)));
    config.set("shared_static", static_cast<int64_t>(1024 * (random % 5)));
    config.set("shared_dynamic", static_cast<int64_t>(16384 * (random % 3)));
    configs_[i] = {sink.intern(format::Dict::Config, config.dump()),
                   2'000 + scaled(random << 16, 60'000)};
  }
  configs_defined_ = true;
}

void SyntheticTracer::drain(int64_t now_ns, RowSink& sink) {
  if (!running_) return;
  if (!configs_defined_) define_configs(sink);
  const int64_t until_ns = std::min(now_ns, end_ns_.load());
  // Not empty only when memory ran out on the way.
  for (format::Batch* batch : {&kernels_, &copies_, &memsets_, &syncs_}) batch->clear();
  const uint64_t end_kernel = next_kernel_ + kMaxKernelsPerDrain;
  while (next_slot_ns_ + kLaunchLatencyNs + lane_ns_ <= until_ns) {
    if (next_kernel_ == end_kernel) {
      skip_until(until_ns);
      break;
    }
    const Slot slot{next_slot_ns_,
                    next_slot_ns_ + kLaunchLatencyNs,
                    {options_.first_device + next_lane_ / kStreamsPerDevice,
                     kFirstStream + next_lane_ % kStreamsPerDevice},
                    random_at(options_.seed, next_kernel_)};
    add_kernel(slot);
    add_companions(slot);
    advance_slot();
    for (format::Batch* batch : {&kernels_, &copies_, &memsets_, &syncs_}) {
      submit(sink, *batch, kRowsPerBatch);
    }
  }
  for (format::Batch* batch : {&kernels_, &copies_, &memsets_, &syncs_}) submit(sink, *batch, 1);
  if (samples_) samples_->drain(until_ns, sink);
}

// Launches that come faster than they can be taken are lost, as they would be in a vendor's full
// buffers: seen and dropped.
void SyntheticTracer::skip_until(int64_t until_ns) {
  while (next_slot_ns_ + kLaunchLatencyNs + lane_ns_ <= until_ns) advance_slot();
}

void SyntheticTracer::advance_slot() {
  launches_.store(++next_kernel_, std::memory_order_relaxed);
  next_slot_ns_ += period_ns_;
  slot_fraction_ += period_fraction_;
  if (slot_fraction_ >= options_.kernels_per_s) {
    slot_fraction_ -= options_.kernels_per_s;
    ++next_slot_ns_;
  }
  if (++next_lane_ == lanes_) next_lane_ = 0;
}

void SyntheticTracer::add_kernel(const Slot& slot) {
  namespace column = format::kernel_column;
  const LaunchConfig& config = configs_[slot.random % kConfigCount];
  const int64_t jitter = scaled(slot.random << 8, std::min(period_ns_ / 2, lane_ns_ / 8));
  const int64_t longest = std::max<int64_t>(1, lane_ns_ * 5 / 8);
  const int64_t duration =
      std::min(longest, config.duration_ns + scaled(slot.random << 16, config.duration_ns / 8));
  auto& b = kernels_;
  b.mutable_column(column::kStart).push_back(slot.kernel_ns + jitter);
  b.mutable_column(column::kDuration).push_back(duration);
  b.mutable_column(column::kConfig).push_back(config.id);
  b.mutable_column(column::kDevice).push_back(slot.place.device);
  b.mutable_column(column::kContext).push_back(slot.place.device + 1);
  b.mutable_column(column::kStream).push_back(slot.place.stream);
  b.mutable_column(column::kCorrelation).push_back(correlation(1));
  b.mutable_column(column::kApiStart).push_back(slot.begin_ns);
  b.mutable_column(column::kApiDuration)
      .push_back(std::min(period_ns_ / 2, 1'200 + scaled(slot.random << 24, 900)));
  b.mutable_column(column::kThread).push_back(thread_);
  b.set_rows(b.rows() + 1);
}

// The columns that a memcpy and a memset begin with; `b` is of either kind.
void SyntheticTracer::add_transfer(format::Batch& b, const Slot& slot) {
  namespace column = format::memcpy_column;
  static_assert(size_t{column::kThread} == format::memset_column::kThread);
  b.mutable_column(column::kStart).push_back(slot.kernel_ns + lane_ns_ * 3 / 4);
  b.mutable_column(column::kDuration).push_back(std::max<int64_t>(1, lane_ns_ / 8));
  b.mutable_column(column::kDevice).push_back(slot.place.device);
  b.mutable_column(column::kContext).push_back(slot.place.device + 1);
  b.mutable_column(column::kStream).push_back(slot.place.stream);
  b.mutable_column(column::kCorrelation).push_back(correlation(2));
  b.mutable_column(column::kApiStart).push_back(slot.begin_ns + period_ns_ / 2);
  b.mutable_column(column::kApiDuration).push_back(std::min<int64_t>(period_ns_ / 4, 900));
  b.mutable_column(column::kThread).push_back(thread_);
  b.set_rows(b.rows() + 1);
}

void SyntheticTracer::add_companions(const Slot& slot) {
  if (next_kernel_ % kKernelsPerMemset == kKernelsPerMemset - 1) {
    namespace column = format::memset_column;
    add_transfer(memsets_, slot);
    memsets_.mutable_column(column::kBytes).push_back(4096 * (1 + scaled(slot.random << 4, 64)));
    memsets_.mutable_column(column::kValue).push_back(0);
  } else if (next_kernel_ % kKernelsPerCopy == kKernelsPerCopy - 1) {
    namespace column = format::memcpy_column;
    const bool upload = (next_kernel_ / kKernelsPerCopy) % 2 == 0;
    add_transfer(copies_, slot);
    copies_.mutable_column(column::kBytes).push_back(4096 * (1 + scaled(slot.random << 4, 1024)));
    copies_.mutable_column(column::kRoute).push_back(upload ? kHostToDevice : kDeviceToHost);
    copies_.mutable_column(column::kSourceMemory).push_back(upload ? kPinned : kDeviceMemory);
    copies_.mutable_column(column::kTargetMemory).push_back(upload ? kDeviceMemory : kPinned);
    copies_.mutable_column(column::kAsync).push_back(1);
  }
  if (trace_.synchronization && next_kernel_ % kKernelsPerSync == kKernelsPerSync / 2) {
    namespace column = format::sync_column;
    syncs_.mutable_column(column::kStart).push_back(slot.begin_ns + period_ns_ / 2);
    syncs_.mutable_column(column::kDuration).push_back(period_ns_ / 4);
    syncs_.mutable_column(column::kDevice).push_back(slot.place.device);
    syncs_.mutable_column(column::kContext).push_back(slot.place.device + 1);
    syncs_.mutable_column(column::kStream).push_back(slot.place.stream);
    syncs_.mutable_column(column::kCorrelation).push_back(correlation(3));
    syncs_.mutable_column(column::kThread).push_back(thread_);
    syncs_.mutable_column(column::kWaitKind).push_back(kStreamSynchronize);
    syncs_.mutable_column(column::kApiStart).push_back(slot.begin_ns + period_ns_ / 2);
    syncs_.mutable_column(column::kApiDuration).push_back(period_ns_ / 4);
    syncs_.set_rows(syncs_.rows() + 1);
  }
}

void SyntheticTracer::submit(RowSink& sink, format::Batch& batch, size_t at_least) {
  if (batch.rows() < at_least) return;
  sink.submit(batch);
  if (batch.kind() == format::Kind::Kernel) kernel_records_ += batch.rows();
  batch.clear();
}

void SyntheticTracer::account(format::Ledger& ledger) const {
  ledger.launches_seen = next_kernel_;
  ledger.kernel_records = kernel_records_;
  ledger.vendor_dropped = next_kernel_ - kernel_records_;
  ledger.impossible_times = 0;
  ledger.kernels_overlapping = ledger.most_overlap_ns = 0;
  ledger.graph_kernels_missing = 0;
  if (samples_) samples_->account(ledger);
}

TraceStatus SyntheticTracer::status() const {
  const bool stopped = end_ns_.load() != std::numeric_limits<int64_t>::max();
  TraceStatus status;
  status.state = stopped ? "stopped" : "recording";
  status.launches = status.kernels = launches_.load(std::memory_order_relaxed);
  if (samples_) status.sampling = samples_->status(stopped);
  return status;
}

}  // namespace

std::unique_ptr<Tracer> make_synthetic_tracer(const SyntheticOptions& options,
                                              const TraceOptions& trace) {
  return std::make_unique<SyntheticTracer>(options, trace);
}

}  // namespace gpufl::backend
