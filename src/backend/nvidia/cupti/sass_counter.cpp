// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/sass_counter.hpp"

#include <limits>
#include <map>
#include <string>
#include <utility>

#include "backend/nvidia/cupti/counting_worker.hpp"
#include "backend/nvidia/cupti/metric_presets.hpp"
#include "backend/nvidia/cupti/sass_context.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {
namespace {

// Counting makes kernels take up to twenty times as long, and the GPU's queue is waited for.
constexpr int64_t kPatience_ns = 10'000'000'000;

class SassCounter final : public CountingWorker {
 public:
  SassCounter(const EnginePlace& place, const SassOptions& options)
      : CountingWorker(place), wanted_(resolve_metrics(sass_option().presets, options.metrics)) {}

  const char* name() const override { return "counting by instruction"; }
  std::string_view engine() const override { return format::kSassEngine; }
  int64_t patience_ns() const override { return kPatience_ns; }
  void drain(DeviceNumbers& devices, RowSink& sink) override {
    readings_.drain(session_start_ns_, devices, sink);
  }
  void account(format::Ledger& ledger) const override { readings_.account(ledger); }
  void report(TraceStatus& status) const override { status.counting = state("counting"); }

 private:
  std::unique_ptr<AttachedContext> make_context(CUcontext context, uint32_t device) override {
    SassDevice& counted = counted_.try_emplace(device, api_, device).first->second;
    return std::make_unique<SassContext>(api_, contexts_of_, context, device, counted, wanted_,
                                         readings_);
  }
  void on_attached(const AttachedContext& one) override;
  void on_gone(AttachedContext& one) override;
  void take_turn() override {}
  int64_t next_turn_ns() const override { return std::numeric_limits<int64_t>::max(); }
  void before_detaching() override;
  static SassContext& counting(AttachedContext& one) { return static_cast<SassContext&>(one); }

  const std::vector<std::string> wanted_;
  std::map<uint32_t, SassDevice> counted_;  // by CUDA's number
  SassReadings readings_;
};

// Metrics that the GPU does not have, once for each GPU.
void SassCounter::on_attached(const AttachedContext& one) {
  tell_unknown(one.device(), counted_.at(one.device()).take_unknown(), sass_option().name);
}

void SassCounter::on_gone(AttachedContext& one) {
  counting(one).let_go();
  tell_lacking({false, "counts_lost",
                "the program destroyed a context of CUDA device " + std::to_string(one.device()) +
                    " while its instructions were counted: those counts are lost",
                "keep the context until counting has ended"});
}

// Before launches are held, so that they are held only for what is launched meanwhile.
void SassCounter::before_detaching() {
  for (const auto& one : attached()) {
    make_or_fail("cuCtxSynchronize", [&] {
      counting(*one).wait_for_gpu();
      return Availability{true, "", "", ""};
    });
  }
}

}  // namespace

std::shared_ptr<ContextWorker> make_sass_counter(const EnginePlace& place,
                                                 const SassOptions& options) {
  return std::make_shared<SassCounter>(place, options);
}

}  // namespace gpufl::backend
