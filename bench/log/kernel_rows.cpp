// SPDX-License-Identifier: Apache-2.0
#include "bench/log/kernel_rows.hpp"

#include <algorithm>
#include <cmath>

#include "format/batch_codec.hpp"
#include "format/seal.hpp"

namespace gpufl::bench {
namespace {

namespace column = format::kernel_column;

// The GPU's clock as the trace shows it: ticks of 32 ns that are 14 parts in a million short, and
// one stamp in eight a nanosecond off.
constexpr double kTickNs = 32 * (1 - 14.35e-6);
constexpr double kOriginNs = 7.25;
constexpr uint64_t kOffGridPerMille = 120;

}  // namespace

base::Result<KernelRows> KernelRows::load(const std::filesystem::path& trace) {
  KernelRows rows;
  format::BatchCodec codec;
  base::Status decoded;
  const auto outcome = format::read_window(trace, [&](std::string_view line) {
    if (format::line_type(line) == "kernel") {
      decoded = codec.decode(line, rows.recorded_);
    } else {
      rows.dictionary_lines_.emplace_back(line);
    }
    return decoded.is_ok();
  });
  if (!outcome.status) return outcome.status;
  if (!decoded) return decoded;
  if (rows.recorded_.rows() < 2) {
    return base::Status(base::Code::Corrupt, trace.string() + ": no kernels");
  }
  rows.prepare();
  return rows;
}

void KernelRows::prepare() {
  const size_t count = recorded_.rows();
  for (const size_t constant : {column::kDevice, column::kContext, column::kStream}) {
    recorded_.mutable_column(constant).assign(count, constant == column::kStream ? 7 : 1);
  }
  auto& scopes = recorded_.mutable_column(column::kScope);
  const auto& threads = recorded_.column(column::kThread);
  // A training step begins where the first thread takes over from the backward pass's.
  int64_t scope = 1;
  for (size_t row = 0; row < count; ++row) {
    if (row != 0 && threads[row] == threads[0] && threads[row - 1] != threads[0]) ++scope;
    scopes.push_back(scope);
  }
  const auto at = [this](size_t i, size_t row) { return recorded_.column(i)[row]; };
  const auto call_end = [&](size_t row) {
    return at(column::kApiStart, row) + at(column::kApiDuration, row);
  };
  for (size_t row = 0; row < count; ++row) {
    timings_.push_back({row == 0 ? 1000 : at(column::kApiStart, row) - call_end(row - 1),
                        at(column::kApiDuration, row), at(column::kStart, row) - call_end(row),
                        at(column::kDuration, row)});
    const auto config = static_cast<size_t>(at(column::kConfig, row));
    if (rows_of_config_.size() <= config) rows_of_config_.resize(config + 1);
    rows_of_config_[config].push_back(static_cast<uint32_t>(row));
  }
}

// splitmix64
uint64_t KernelRows::random() {
  uint64_t z = random_state_ += 0x9E3779B97F4A7C15;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

// Within 3%.
int64_t KernelRows::shaken(int64_t value) {
  const double share = (static_cast<double>(random() >> 11) / 9007199254740992.0 - 0.5) * 0.06;
  return value + std::llround(static_cast<double>(value) * share);
}

int64_t KernelRows::stamp(int64_t tick) {
  const auto exact =
      static_cast<int64_t>(std::floor(kOriginNs + kTickNs * static_cast<double>(tick) + 0.5));
  const uint64_t dice = random() % 1000;
  if (dice >= kOffGridPerMille) return exact;
  return dice % 2 == 0 ? exact + 1 : exact - 1;
}

format::Batch KernelRows::draw(size_t count) {
  format::Batch out(format::Kind::Kernel);
  for (size_t i = column::kStart; i <= column::kScope; ++i) out.mutable_column(i).resize(count);
  for (size_t row = 0; row < count; ++row) {
    const size_t model = next_;
    next_ = (next_ + 1) % recorded_.rows();
    const auto recorded = [&](size_t i) { return recorded_.column(i)[model]; };
    const auto& alike = rows_of_config_[static_cast<size_t>(recorded(column::kConfig))];
    const Timing& timing = timings_[alike[random() % alike.size()]];

    const int64_t call_start = call_end_ns_ + shaken(timing.call_gap_ns);
    const int64_t call_ns = shaken(timing.call_ns);
    call_end_ns_ = call_start + call_ns;
    const auto launched = static_cast<double>(call_end_ns_ + shaken(timing.latency_ns));
    const int64_t start_tick =
        std::max(std::llround(launched / kTickNs), static_cast<long long>(gpu_free_tick_));
    const int64_t ticks = std::max<int64_t>(
        1, std::llround(static_cast<double>(timing.kernel_ns) / kTickNs) +
               static_cast<int64_t>(random() % 4 == 0) - static_cast<int64_t>(random() % 4 == 0));
    gpu_free_tick_ = start_tick + ticks;

    const int64_t start = stamp(start_tick);
    const int64_t before = recorded_.column(column::kCorrelation)[model == 0 ? 0 : model - 1];
    correlation_ += model == 0 ? 7 : recorded(column::kCorrelation) - before;
    const auto put = [&](size_t i, int64_t value) { out.mutable_column(i)[row] = value; };
    put(column::kStart, start);
    put(column::kDuration, stamp(gpu_free_tick_) - start);
    for (const size_t same :
         {column::kConfig, column::kDevice, column::kContext, column::kStream, column::kThread}) {
      put(same, recorded(same));
    }
    put(column::kCorrelation, correlation_);
    put(column::kApiStart, call_start);
    put(column::kApiDuration, call_ns);
    put(column::kScope, scope_);
    const size_t following = next_;
    if (recorded_.column(column::kScope)[following] != recorded(column::kScope)) ++scope_;
  }
  out.set_rows(count);
  return out;
}

}  // namespace gpufl::bench
