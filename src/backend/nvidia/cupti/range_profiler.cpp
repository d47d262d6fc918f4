// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/range_profiler.hpp"

#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "backend/nvidia/cupti/counting_worker.hpp"
#include "backend/nvidia/cupti/metric_presets.hpp"
#include "backend/nvidia/cupti/range_context.hpp"
#include "backend/nvidia/cupti/range_readings.hpp"
#include "backend/scope_stops.hpp"
#include "base/clock.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {
namespace {

constexpr std::chrono::milliseconds kLook{20};
// The first start takes up to half a second, with the GPU idle.
constexpr int64_t kPatience_ns = 5'000'000'000;
constexpr size_t kScopesTold = 8;

class RangeProfiler final : public CountingWorker {
 public:
  RangeProfiler(const EnginePlace& place, const RangeOptions& options)
      : CountingWorker(place),
        least_ns_(options.least_ns),
        wanted_(resolve_metrics(range_option().presets, options.metrics)) {
    stops_.begin_session();
  }

  const char* name() const override { return "counting by scope"; }
  std::string_view engine() const override { return format::kRangeEngine; }
  int64_t patience_ns() const override { return kPatience_ns; }
  void drain(DeviceNumbers& devices, RowSink& sink) override {
    readings_.drain(session_start_ns_, devices, sink);
  }
  void account(format::Ledger& ledger) const override {
    const RangeProgress progress = stops_.progress();
    ledger.ranges = progress.measured;
    ledger.ranges_skipped = progress.skipped;
  }
  void report(TraceStatus& status) const override {
    status.counting = is_counted_ ? "counted" : state("counting");
  }

 private:
  std::unique_ptr<AttachedContext> make_context(CUcontext context, uint32_t device) override {
    return std::make_unique<RangeContext>(api_, contexts_of_, context, device);
  }
  void on_attached(const AttachedContext&) override { is_prepared_ = false; }
  void on_gone(AttachedContext& one) override;
  void take_turn() override;
  int64_t next_turn_ns() const override {
    return is_counted_ ? std::numeric_limits<int64_t>::max() : 0;
  }
  void before_detaching() override { end_turn(); }
  void end_calls() override {
    gpus_.clear();
    CountingWorker::end_calls();
  }

  bool prepare();
  void throw_away();
  bool open(const RangeRequest& request);
  void close(const RangeRequest& request);
  void read(const RangeContext& context, const RangeRequest& request, int64_t end_ns);
  void wait_for_gpu();
  bool is_done() const;
  void end_turn();
  std::string missing_text(const std::map<std::string, std::vector<size_t>>& missing) const;
  const MetricGroup* group_of(const AttachedContext& one, size_t group) const;
  static RangeContext& ranged(const std::unique_ptr<AttachedContext>& one) {
    return static_cast<RangeContext&>(*one);
  }

  ScopeStops& stops_ = ScopeStops::instance();
  const int64_t least_ns_;
  const std::vector<std::string> wanted_;
  std::map<uint32_t, MetricGroups> gpus_;  // by CUDA's number
  bool is_prepared_ = false;
  bool has_ended_turn_ = false;
  int64_t prepared_ns_ = 0;
  int64_t begin_ns_ = 0;                   // of the range that is open
  std::set<const AttachedContext*> done_;  // that have all passes of the group
  std::atomic<bool> is_counted_{false};
  RangeReadings readings_;
};

// What is open is lost; the rest is prepared again.
void RangeProfiler::on_gone(AttachedContext& one) {
  static_cast<RangeContext&>(one).let_go();
  (void)stops_.stop();
  is_prepared_ = false;
}

const MetricGroup* RangeProfiler::group_of(const AttachedContext& one, size_t group) const {
  const auto gpu = gpus_.find(one.device());
  const bool has_it = gpu != gpus_.end() && group < gpu->second.groups().size();
  return has_it ? &gpu->second.groups()[group] : nullptr;
}

// What the GPUs' metrics need, which takes long and needs no gate; then scopes stop for it.
bool RangeProfiler::prepare() {
  if (is_prepared_) return true;
  std::vector<uint32_t> passes;
  for (const auto& one : attached()) {
    MetricGroups& gpu = gpus_.try_emplace(one->device(), api_, range_option()).first->second;
    if (!gpu.is_made()) {
      const bool is_made = make_or_fail("cuptiProfilerHostInitialize", [&] {
        CountingChip chip;
        Availability named = read_chip_name(api_, one->device(), chip.name);
        return named.available ? gpu.make(std::move(chip), wanted_) : named;
      });
      if (!is_made) return false;
      tell_unknown(one->device(), gpu.unknown(), range_option().name);
    }
    passes.resize(std::max(passes.size(), gpu.groups().size()));
    for (size_t i = 0; i < gpu.groups().size(); ++i) {
      passes[i] = std::max(passes[i], gpu.groups()[i].passes);
    }
  }
  if (!stops_.is_listening()) throw_away();
  stops_.listen(passes);
  if (prepared_ns_ == 0) prepared_ns_ = base::monotonic_ns();
  is_prepared_ = true;
  return true;
}

void RangeProfiler::take_turn() {
  if (!prepare()) return;
  if (const std::optional<RangeRequest> request = stops_.wait(kLook)) {
    if (!request->opens) {
      close(*request);
    } else if (const bool is_open = open(*request); !stops_.opened(is_open)) {
      throw_away();
    }
  }
  if (stops_.has_run_out()) {
    make_or_fail("scope", [] {
      return Availability{false, "scope_waits",
                          "a scope of the program waited for ten seconds for its range to open or "
                          "close, because the GPU or a call of the program was busy",
                          "measure scopes in which less is under way"};
    });
  } else if (is_done()) {
    end_turn();
    is_counted_ = true;
  }
}

bool RangeProfiler::is_done() const {
  const RangeProgress progress = stops_.progress();
  if (progress.is_open || progress.measured == 0) return false;
  const int64_t now_ns = base::monotonic_ns();
  if (progress.is_complete) return now_ns - prepared_ns_ >= least_ns_;
  // What has not come for so long may not come again.
  return now_ns - progress.last_ns >= 2 * least_ns_ + 4 * progress.longest_ns;
}

// For as long as that takes: not one of the calls that are watched. What captures would be
// disturbed.
void RangeProfiler::wait_for_gpu() {
  const BesideCaptures beside_captures(driver_.exchange_capture_mode());
  for (const auto& one : attached()) {
    if (!CallWatch::instance().is_capturing()) ranged(one).wait_for_gpu();
  }
}

bool RangeProfiler::open(const RangeRequest& request) {
  drop_destroyed();
  if (CallWatch::instance().is_capturing()) return false;
  wait_for_gpu();
  if (is_over() || !shut_for_window()) return false;
  if (request.pass == 0) done_.clear();
  bool is_open = false;
  for (const auto& one : attached()) {
    const MetricGroup* const group = group_of(*one, request.group);
    if (is_gone(*one) || group == nullptr || done_.contains(one.get())) continue;
    is_open = make_or_fail("cuptiRangeProfilerStart", [&] {
      return ranged(one).open(request.scope, *group, request.pass == 0);
    });
    if (!is_open) break;
  }
  open_gate();
  begin_ns_ = base::monotonic_ns();
  return is_open;
}

void RangeProfiler::close(const RangeRequest& request) {
  wait_for_gpu();
  const int64_t end_ns = base::monotonic_ns();
  if (!shut_for_stop()) return stops_.closed(std::nullopt);
  bool is_group_done = true;
  std::vector<const RangeContext*> complete;
  for (const auto& one : attached()) {
    RangeContext& context = ranged(one);
    if (is_gone(*one) || !context.is_open()) continue;
    bool is_its_done = false;
    if (!make_or_fail("cuptiRangeProfilerStop", [&] { return context.close(is_its_done); })) break;
    is_group_done = is_group_done && is_its_done;
    if (!is_its_done) continue;
    done_.insert(&context);
    complete.push_back(&context);
  }
  open_gate();
  const bool is_lost = is_over() || request.is_discarded;
  stops_.closed(is_lost ? std::nullopt : std::optional(is_group_done));
  if (is_lost) return;
  for (const RangeContext* context : complete) read(*context, request, end_ns);
}

void RangeProfiler::read(const RangeContext& context, const RangeRequest& request, int64_t end_ns) {
  const MetricGroup& group = *group_of(context, request.group);
  RangeReading reading{begin_ns_,        end_ns,       request.thread, request.inside_ns,
                       context.device(), context.id(), request.pass,   request.scope,
                       group.metrics,    {},           request.beside};
  const bool is_read = make_or_fail("cuptiProfilerHostEvaluateToGpuValues", [&] {
    constexpr size_t kOnlyRange = 0;
    const CUptiResult code =
        group.host->evaluate(group.metrics, context.image(), kOnlyRange, reading.values);
    return cupti_outcome(api_, code, "cuptiProfilerHostEvaluateToGpuValues(&parameters)");
  });
  if (is_read) readings_.put(std::move(reading));
}

// Ranges that nobody waits for any more.
void RangeProfiler::throw_away() {
  const auto is_open = [](const auto& one) { return ranged(one).is_open(); };
  if (std::none_of(attached().begin(), attached().end(), is_open) || !shut_for_stop()) return;
  for (const auto& one : attached()) {
    bool is_group_done = false;
    if (is_gone(*one) || !ranged(one).is_open()) continue;
    make_or_fail("cuptiRangeProfilerStop", [&] { return ranged(one).close(is_group_done); });
  }
  open_gate();
}

// "step: dram__bytes_read.sum, dram__bytes_write.sum; load: all"
std::string RangeProfiler::missing_text(
    const std::map<std::string, std::vector<size_t>>& missing) const {
  const std::vector<MetricGroup>& groups = gpus_.begin()->second.groups();
  std::string text;
  size_t told = 0;
  for (const auto& [scope, its] : missing) {
    if (told++ == kScopesTold) {
      text.append("; and more scopes");
      break;
    }
    text.append(text.empty() ? "" : "; ").append(scope).append(": ");
    if (its.size() >= groups.size()) {
      text.append("all");
      continue;
    }
    bool is_first = true;
    for (const size_t group : its) {
      if (group >= groups.size()) continue;
      for (const std::string& metric : groups[group].metrics) {
        text.append(std::exchange(is_first, false) ? "" : ", ").append(metric);
      }
    }
  }
  return text;
}

void RangeProfiler::end_turn() {
  if (std::exchange(has_ended_turn_, true)) return;
  const auto missing = stops_.stop();
  if (is_over_for_good() || gpus_.empty()) return;
  if (!missing.empty()) {
    tell_lacking({false, "passes_missing",
                  "no pass, or not all of them, for " + missing_text(missing),
                  "let the scope run more often, or name fewer metrics in range_metrics"});
  } else if (stops_.progress().measured == 0) {
    tell_lacking({false, "no_scope",
                  "no scope of the program began and ended while its work could be counted",
                  "mark what is to be measured with a scope"});
  }
}

}  // namespace

std::shared_ptr<ContextWorker> make_range_profiler(const EnginePlace& place,
                                                   const RangeOptions& options) {
  return std::make_shared<RangeProfiler>(place, options);
}

}  // namespace gpufl::backend
