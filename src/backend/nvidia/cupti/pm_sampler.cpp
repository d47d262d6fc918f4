// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/pm_sampler.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <string>
#include <utility>

#include "backend/nvidia/cupti/counting_worker.hpp"
#include "backend/nvidia/cupti/metric_presets.hpp"
#include "backend/nvidia/cupti/pm_device.hpp"
#include "backend/nvidia/cupti/pm_readings.hpp"
#include "base/clock.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {
namespace {

constexpr int64_t kLongestPause_ns = 20'000'000;
constexpr int64_t kShortestPause_ns = 1'000'000;
// What the program launches waits for none of these calls but the last.
constexpr int64_t kPatience_ns = 5'000'000'000;
// The GPU's clock is measured at growing distances, because its rate is not known at first.
constexpr int64_t kFirstMeasurement_ns = 20'000'000;
constexpr int64_t kLastMeasurement_ns = 5'000'000'000;
// Of the GPU's buffer, in so long.
constexpr size_t kMostFullBuffers = 3;
constexpr int64_t kSpanOfFullBuffers_ns = 10'000'000'000;
constexpr const char* kFullBufferHint =
    "raise pm_sampling_interval_us or pm_sampling_max_samples, or name fewer metrics in "
    "pm_sampling_metrics";

class PmContext final : public AttachedContext {
 public:
  // All of these outlive it.
  PmContext(CUcontext context, uint32_t ordinal, const CudaContexts& contexts_of, PmDevice& gpu)
      : AttachedContext(context, ordinal), contexts_of_(contexts_of), gpu_(gpu) {}

  Availability enable() override {
    gpu_.enter();
    return all_well();
  }
  Availability collect() override {
    return of_the_last([&] { return gpu_.stop(); });
  }
  Availability disable() override {
    Availability made = of_the_last([&] { return gpu_.disable(); });
    gpu_.leave();
    return made;
  }
  const char* enable_call() const override { return "cuptiPmSamplingEnable"; }
  const char* collect_call() const override { return "cuptiPmSamplingStop"; }
  const char* disable_call() const override { return "cuptiPmSamplingDisable"; }

  PmDevice& gpu() const { return gpu_; }
  // CUPTI takes memory of the context that is current.
  template <typename Call>
  Availability within(Call call) const {
    Availability made;
    contexts_of_.run_within(context(), [&] { made = call(); });
    return made;
  }

 private:
  static Availability all_well() { return {true, "", "", ""}; }
  template <typename Call>
  Availability of_the_last(Call call) const {
    if (gpu_.users() != 1 || !gpu_.is_enabled()) return all_well();
    return within(call);
  }

  const CudaContexts& contexts_of_;
  PmDevice& gpu_;
};

class PmSampler final : public CountingWorker {
 public:
  PmSampler(const EnginePlace& place, const PmSamplingOptions& options,
            std::shared_ptr<DeviceClock> clock, const CaptureGate* gate)
      : CountingWorker(place),
        options_(options),
        wanted_(resolve_metrics(pm_option().presets, options.metrics)),
        pause_ns_(std::clamp(options.interval_ns * options.max_samples / 4, kShortestPause_ns,
                             kLongestPause_ns)),
        clock_(std::move(clock)),
        readings_(options.scope_only, clock_, gate, place.session_start_ns) {}

  const char* name() const override { return "PM sampling"; }
  std::string_view engine() const override { return format::kPmEngine; }
  int64_t patience_ns() const override { return kPatience_ns; }
  void gather() override { readings_.gather(state("") == "ended"); }
  void drain(DeviceNumbers& devices, RowSink& sink) override { readings_.drain(devices, sink); }
  void account(format::Ledger& ledger) const override { readings_.account(ledger); }
  void report(TraceStatus& status) const override { status.counting = state("counting"); }

 private:
  struct Gpu {
    PmDevice device;
    bool is_refused = false;
    std::deque<int64_t> full_buffers = {};  // when; of late
    bool has_told_of_full_buffer = false;
    int64_t measured_ns = 0, next_measurement_ns = 0;
    int64_t distance_ns = kFirstMeasurement_ns;
  };

  std::unique_ptr<AttachedContext> make_context(CUcontext context, uint32_t device) override;
  void on_attached(const AttachedContext& one) override {
    readings_.note_gpu();
    measure_clock(sampled(one), gpus_.at(one.device()));
  }
  void on_gone(AttachedContext& one) override;
  void take_turn() override;
  int64_t next_turn_ns() const override { return next_turn_ns_; }
  void end_calls() override;

  void start(const PmContext& one);
  bool read(const PmContext& one, Gpu& gpu);
  void restart(const PmContext& one, Gpu& gpu);
  bool make_or_refuse(uint32_t device, const char* call,
                      const std::function<Availability()>& made_by);
  void refuse(uint32_t device, Availability why);
  void stop_without_context(PmDevice& gpu);
  void measure_clock(const PmContext& one, Gpu& gpu);
  static const PmContext& sampled(const AttachedContext& one) {
    return static_cast<const PmContext&>(one);
  }

  const PmSamplingOptions options_;
  const std::vector<std::string> wanted_;
  const int64_t pause_ns_;
  const std::shared_ptr<DeviceClock> clock_;
  PmReadings readings_;
  std::map<uint32_t, Gpu> gpus_;  // by CUDA's number
  int64_t next_turn_ns_ = 0;
};

std::unique_ptr<AttachedContext> PmSampler::make_context(CUcontext context, uint32_t device) {
  auto gpu = gpus_.find(device);
  if (gpu == gpus_.end()) {
    gpu = gpus_.emplace(device, Gpu{PmDevice(api_, device, options_, readings_)}).first;
  }
  return std::make_unique<PmContext>(context, device, contexts_of_, gpu->second.device);
}

// One context of each GPU will do.
void PmSampler::take_turn() {
  std::map<uint32_t, const PmContext*> contexts;
  for (const auto& one : attached()) contexts.try_emplace(one->device(), &sampled(*one));
  bool has_more = false;
  for (const auto& [device, one] : contexts) {
    Gpu& gpu = gpus_.at(device);
    if (gpu.is_refused) continue;
    if (base::monotonic_ns() >= gpu.next_measurement_ns) measure_clock(*one, gpu);
    if (!gpu.device.is_enabled()) {
      start(*one);
    } else if (read(*one, gpu)) {
      has_more = true;
    }
    if (is_over()) return;
  }
  next_turn_ns_ = base::monotonic_ns() + (has_more ? 0 : pause_ns_);
}

// False: that GPU is sampled no more, and others are.
bool PmSampler::make_or_refuse(uint32_t device, const char* call,
                               const std::function<Availability()>& made_by) {
  Availability made = make(call, made_by);
  if (made.available) return true;
  if (!is_over_for_good()) refuse(device, std::move(made));
  return false;
}

void PmSampler::refuse(uint32_t device, Availability why) {
  Gpu& gpu = gpus_.at(device);
  gpu.is_refused = true;
  const auto refused = std::count_if(gpus_.begin(), gpus_.end(),
                                     [](const auto& one) { return one.second.is_refused; });
  if (static_cast<uint32_t>(refused) >= contexts_of_.device_count()) return fail(std::move(why));
  why.detail = "CUDA device " + std::to_string(device) + ": " + why.detail;
  tell_lacking(std::move(why));
  if (gpu.device.is_enabled()) stop_without_context(gpu.device);
}

// Launches go on meanwhile: CUPTI does not wait for them here.
void PmSampler::start(const PmContext& one) {
  PmDevice& gpu = one.gpu();
  if (!gpu.is_planned()) {
    const bool is_planned =
        make_or_refuse(one.device(), "cuptiPmSamplingGetCounterAvailability",
                       [&] { return one.within([&] { return gpu.plan(wanted_); }); });
    if (!is_planned) return;
    tell_unknown(one.device(), gpu.unknown(), pm_option().name);
  }
  make_or_refuse(one.device(), "cuptiPmSamplingStart",
                 [&] { return one.within([&] { return gpu.start(); }); });
}

// Whether there is more.
bool PmSampler::read(const PmContext& one, Gpu& gpu) {
  PmDevice::Rest rest = PmDevice::Rest::None;
  const bool is_read = make_or_refuse(one.device(), "cuptiPmSamplingDecodeData", [&] {
    return one.within([&] { return gpu.device.read(rest); });
  });
  if (is_read && rest == PmDevice::Rest::Lost) restart(one, gpu);
  return is_read && rest == PmDevice::Rest::Some;
}

// What the buffer holds is lost.
void PmSampler::restart(const PmContext& one, Gpu& gpu) {
  const int64_t now_ns = base::monotonic_ns();
  std::erase_if(gpu.full_buffers,
                [&](int64_t time_ns) { return now_ns - time_ns > kSpanOfFullBuffers_ns; });
  gpu.full_buffers.push_back(now_ns);
  if (gpu.full_buffers.size() == kMostFullBuffers) {
    return refuse(one.device(),
                  {false, "buffer_full",
                   "the GPU's buffer of samples was full three times within ten seconds before it "
                   "was read",
                   kFullBufferHint});
  }
  if (!std::exchange(gpu.has_told_of_full_buffer, true)) {
    tell_lacking({false, "buffer_full",
                  "CUDA device " + std::to_string(one.device()) +
                      ": the GPU's buffer of samples was full before it was read, so that some are "
                      "missing",
                  kFullBufferHint});
  }
  make_or_refuse(one.device(), "cuptiPmSamplingDisable", [&] {
    return one.within([&] {
      (void)gpu.device.stop();
      return gpu.device.disable();
    });
  });
}

// With the last of its contexts, nobody would read what the GPU samples.
void PmSampler::on_gone(AttachedContext& one) {
  PmDevice& gpu = sampled(one).gpu();
  gpu.leave();
  if (gpu.users() == 0 && gpu.is_enabled()) stop_without_context(gpu);
}

void PmSampler::stop_without_context(PmDevice& gpu) {
  make_or_fail("cuptiPmSamplingDisable", [&] {
    (void)gpu.stop();
    return gpu.disable();
  });
}

// By a kernel of ours (docs/design/warpscope-clock.md), which is loaded when a context is attached.
// Where that is not possible, the wall clock has to do.
void PmSampler::measure_clock(const PmContext& one, Gpu& gpu) {
  if (clock_ == nullptr || is_over()) return;
  make_or_fail("cuLaunchKernel", [&] {
    while_it_exists(
        one, [&] { contexts_of_.run_within(one.context(), [&] { (void)clock_->measure(0); }); });
    return Availability{true, "", "", ""};
  });
  gpu.next_measurement_ns = base::monotonic_ns() + gpu.distance_ns;
  gpu.distance_ns = std::min(2 * gpu.distance_ns, kLastMeasurement_ns);
}

// A GPU that could not be stopped when its last context went has another chance.
void PmSampler::end_calls() {
  for (auto& [device, gpu] : gpus_) {
    if (gpu.device.is_enabled()) stop_without_context(gpu.device);
  }
  gpus_.clear();
  CountingWorker::end_calls();
}

}  // namespace

std::shared_ptr<ContextWorker> make_pm_sampler(const EnginePlace& place,
                                               const PmSamplingOptions& options,
                                               std::shared_ptr<DeviceClock> clock,
                                               const CaptureGate* gate) {
  return std::make_shared<PmSampler>(place, options, std::move(clock), gate);
}

}  // namespace gpufl::backend
