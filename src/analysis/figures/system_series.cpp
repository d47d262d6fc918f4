// SPDX-License-Identifier: Apache-2.0
#include "analysis/figures/system_series.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "analysis/figures/busy.hpp"
#include "analysis/math/saturating.hpp"
#include "analysis/session/selection.hpp"

namespace gpufl::analysis {

namespace {

Interval span_of(const SessionData& session, const AnalysisOptions& options) {
  const Interval whole{0, session.summary.duration_ns};
  if (!options.window) return whole;
  return {std::max(options.window->start, whole.start), std::min(options.window->end, whole.end)};
}

// What grows by increases, as rates between samples.
class RateBuilder {
 public:
  RateBuilder(Interval span, size_t points) : series_(span, points) {}
  void add(int64_t time_ns, int64_t value) {
    const int64_t passed_ns = saturating_subtract(time_ns, last_ns_);
    if (has_any_ && passed_ns > 0) {
      series_.hold(last_ns_, time_ns,
                   static_cast<double>(saturating_subtract(value, last_)) * 1e9 /
                       static_cast<double>(passed_ns));
    }
    has_any_ = true;
    last_ns_ = time_ns;
    last_ = value;
  }
  Series finish() const { return series_.finish(); }

 private:
  SeriesBuilder series_;
  bool has_any_ = false;
  int64_t last_ns_ = 0, last_ = 0;
};

struct MetricGathering {
  MetricGathering(Interval span, size_t points) : levels(span, points), rates(span, points) {}
  MetricFigures figures;
  SeriesBuilder levels;
  RateBuilder rates;
};

}  // namespace

std::vector<MetricFigures> system_metrics(const SessionData& session,
                                          const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  const Selection selection(tables, options);
  const Interval span = span_of(session, options);
  using Key = std::tuple<std::optional<int64_t>, std::string_view, int64_t>;
  std::map<Key, MetricGathering> groups;
  const auto add = [&](const Samples& samples, size_t row, std::optional<int64_t> device) {
    if (!selection.has_window(samples.time[row])) return;
    const Key key{device, tables.metric(samples.metric[row]), samples.index[row]};
    const auto [place, is_new] = groups.try_emplace(key, span, options.series_points);
    MetricGathering& group = place->second;
    if (is_new) std::tie(group.figures.device, group.figures.metric, group.figures.index) = key;
    group.figures.add(samples.time[row], samples.value[row]);
    if (is_cumulative(group.figures.metric)) {
      group.rates.add(samples.time[row], samples.value[row]);
    } else {
      group.levels.add(samples.time[row], static_cast<double>(samples.value[row]));
    }
  };
  for (size_t row = 0; row < tables.host_metrics.rows(); ++row) {
    add(tables.host_metrics, row, std::nullopt);
  }
  const Samples& gpus = tables.device_metrics;
  for (size_t row = 0; row < gpus.rows(); ++row) {
    if (selection.has_device(gpus.device[row])) add(gpus, row, gpus.device[row]);
  }
  std::vector<MetricFigures> out;
  for (auto& [key, group] : groups) {
    MetricFigures& figures = out.emplace_back(std::move(group.figures));
    figures.series = is_cumulative(figures.metric) ? group.rates.finish() : group.levels.finish();
  }
  return out;
}

std::vector<CounterFigures> counter_figures(const SessionData& session,
                                            const AnalysisOptions& options) {
  const Tables& tables = session.tables;
  const Samples& samples = tables.counters;
  const Interval span = span_of(session, options);
  struct Gathering {
    Gathering(Interval span, size_t points) : rate(span, points) {}
    CounterFigures figures;
    RateBuilder rate;
  };
  std::map<std::string_view, Gathering> groups;
  for (size_t row = 0; row < samples.rows(); ++row) {
    if (samples.time[row] > span.end) continue;
    Gathering& group =
        groups.try_emplace(tables.name(samples.metric[row]), span, options.series_points)
            .first->second;
    CounterFigures& figures = group.figures;
    if (options.window && samples.time[row] < span.start) {
      // The value that it still has when the window begins.
      static_cast<CounterTotal&>(figures) = {};
      figures.add(span.start, samples.value[row]);
    } else {
      figures.add(samples.time[row], samples.value[row]);
    }
    group.rate.add(samples.time[row], samples.value[row]);
  }
  std::vector<CounterFigures> out;
  for (auto& [name, group] : groups) {
    CounterFigures& figures = out.emplace_back(std::move(group.figures));
    figures.name = name;
    figures.span_ns = span.length();
    // The summary knows whether the log's beginning is gone.
    const auto& totals = session.summary.counters;
    const auto total = std::find_if(totals.begin(), totals.end(), [&](const CounterTotal& of) {
      return of.name == figures.name;
    });
    if (!options.window && total != totals.end()) figures.span_ns = total->span_ns;
    figures.rate = group.rate.finish();
  }
  return out;
}

}  // namespace gpufl::analysis
