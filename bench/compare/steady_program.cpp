// SPDX-License-Identifier: Apache-2.0
#include "bench/compare/steady_program.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "analysis/compare/repeat_builder.hpp"
#include "analysis/figures/kernel_groups.hpp"
#include "analysis/tables/table_dictionaries.hpp"
#include "base/json.hpp"
#include "bench/log/kernel_rows.hpp"

namespace gpufl::bench {
namespace {

using analysis::SessionData;
using analysis::Tables;
namespace column = format::kernel_column;

constexpr int64_t kTickNs = 32;         // of the GPU's clock
constexpr double kDriftMemory = 0.999;  // how much of the drift the next launch still has

uint32_t append_name(Tables& tables, std::string_view name) {
  tables.names.emplace_back(name);
  return static_cast<uint32_t>(tables.names.size() - 1);
}

// Factors of one run, by configuration.
std::vector<double> run_factors(const Tables& tables, const Noise& noise, const Planted& planted,
                                RandomNoise& random) {
  double run = noise.run * random.heavy_tailed();
  if (random.uniform() < noise.disturbed_runs) run += random.uniform(0.02, 0.08);
  const analysis::KernelNames names(tables);
  std::vector<double> factors;
  for (const analysis::LaunchConfig& config : tables.configs) {
    double factor = std::exp(run + noise.kernel * random.heavy_tailed());
    const std::string& name = names.of(config.name).full_name;
    if (name.find(planted.kernel) != std::string::npos) factor *= planted.factor;
    factors.push_back(factor);
  }
  return factors;
}

}  // namespace

base::Result<SteadyProgram> SteadyProgram::load(const std::filesystem::path& trace) {
  const auto rows = KernelRows::load(trace);
  if (!rows) return rows.status();
  SteadyProgram program;
  analysis::TableDictionaries dictionaries;
  for (const std::string& line : rows->dictionary_lines()) {
    const auto json = base::Json::parse(line);
    if (!json) return json.status();
    dictionaries.define(*json);
  }
  const format::Batch& recorded = rows->recorded();
  std::vector<uint32_t> configs;
  dictionaries.append_configs(recorded.column(column::kConfig), configs);
  dictionaries.finish(program.prototype_);
  program.prototype_.lanes = {{0, 1, 7}};
  program.train_ = append_name(program.prototype_, "train");
  program.step_ = append_name(program.prototype_, "step");

  int64_t free_ns = recorded.at(column::kStart, 0);
  for (size_t row = 0; row < recorded.rows(); ++row) {
    const bool is_first =
        row == 0 || recorded.at(column::kScope, row) != recorded.at(column::kScope, row - 1);
    if (is_first)
      program.steps_.emplace_back().durations_ns.resize(program.prototype_.configs.size());
    Step& step = program.steps_.back();
    const int64_t start = recorded.at(column::kStart, row);
    const int64_t duration = recorded.at(column::kDuration, row);
    step.configs.push_back(configs[row]);
    step.gaps_ns.push_back(std::max<int64_t>(0, start - free_ns));
    step.durations_ns[configs[row]].push_back(duration);
    free_ns = std::max(free_ns, start + duration);
  }
  // While it warms up a program does other things, and the last step may be cut.
  if (program.steps_.size() < 4) {
    return base::Status(base::Code::Corrupt, trace.string() + ": too few steps");
  }
  program.steps_.erase(program.steps_.begin());
  program.steps_.pop_back();
  return program;
}

const SteadyProgram::Step& SteadyProgram::like_first(size_t config, size_t from) const {
  const auto launches = [config](const Step& step) { return step.durations_ns[config].size(); };
  while (launches(steps_[from]) != launches(steps_.front())) from = (from + 1) % steps_.size();
  return steps_[from];
}

SessionData SteadyProgram::run(const Noise& noise, const Planted& planted, size_t steps) {
  SessionData session;
  Tables& tables = session.tables = prototype_;
  const std::vector<double> factors = run_factors(tables, noise, planted, random_);
  const double host = std::exp(noise.host * random_.heavy_tailed());
  const double fresh_drift = noise.drift * std::sqrt(1 - kDriftMemory * kDriftMemory);
  double drift = noise.drift * random_.normal();
  int64_t now_ns = 1'000'000;
  const auto add_scope = [&](uint32_t name, uint32_t parent) {
    analysis::Scopes& scopes = tables.scopes;
    scopes.start.push_back(now_ns);
    scopes.parent.push_back(parent);
    scopes.name.push_back(name);
    scopes.tag.push_back(0);
    scopes.thread.push_back(1);
    scopes.repeat.push_back(0);
    scopes.warmup.push_back(0);
    scopes.ending.push_back(0);
    scopes.id.push_back(static_cast<int64_t>(scopes.rows()));
  };
  std::vector<int64_t> scope_ends;
  const Step& order = steps_.front();
  add_scope(train_, analysis::kNoRow);
  for (size_t i = 0; i < steps; ++i) {
    add_scope(step_, 0);
    tables.callers.push_back({1, static_cast<uint32_t>(i + 1), false});
    std::vector<const Step*> drawn(tables.configs.size());
    for (size_t config = 0; config < drawn.size(); ++config) {
      drawn[config] = &like_first(config, random_.below(steps_.size()));
    }
    std::vector<size_t> next(tables.configs.size());
    for (size_t launch = 0; launch < order.configs.size(); ++launch) {
      const uint32_t config = order.configs[launch];
      const std::vector<int64_t>& recorded = drawn[config]->durations_ns[config];
      drift = kDriftMemory * drift + fresh_drift * random_.normal();
      const double duration =
          static_cast<double>(recorded[next[config]++]) * factors[config] * std::exp(drift);
      now_ns += std::llround(static_cast<double>(order.gaps_ns[launch]) * host);
      tables.kernels.start.push_back(now_ns);
      tables.kernels.duration.push_back(std::llround(duration / kTickNs) * kTickNs);
      tables.kernels.lane.push_back(0);
      tables.kernels.caller.push_back(static_cast<uint32_t>(i));
      tables.kernels.config.push_back(config);
      now_ns = tables.kernels.end(tables.kernels.rows() - 1);
    }
    scope_ends.push_back(now_ns);
  }
  tables.scopes.duration.push_back(now_ns - tables.scopes.start[0]);
  for (size_t i = 0; i < steps; ++i) {
    tables.scopes.duration.push_back(scope_ends[i] - tables.scopes.start[i + 1]);
  }
  session.summary.duration_ns = now_ns + 1'000'000;
  session.summary.ended = true;
  session.summary.ledger.emplace();
  session.summary.header.engine = "Trace";
  session.summary.header.app_name = "gpt";
  session.summary.header.start_wall_ns = wall_ns_;
  wall_ns_ += session.summary.duration_ns;
  return session;
}

analysis::compare::Group SteadyProgram::group(std::string label, size_t repeats, const Noise& noise,
                                              const Planted& planted) {
  analysis::compare::Group group;
  group.label = std::move(label);
  for (size_t i = 0; i < repeats; ++i) {
    analysis::compare::RepeatBuilder builder;
    builder.add(run(noise, planted));
    group.repeats.push_back(builder.finish());
  }
  return group;
}

}  // namespace gpufl::bench
