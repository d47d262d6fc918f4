// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "backend/backend.hpp"
#include "backend/synthetic/synthetic_backend.hpp"

// PC samples of made-up GPUs: windows of equal lengths, each with the same few functions, of which
// the first has most of the samples. They depend on seed, options and the number of the window
// alone. The collector's thread; counts on any.
namespace gpufl::backend {

class SyntheticSamples {
 public:
  // `functions` have a name each and outlive this.
  SyntheticSamples(const SyntheticOptions& options, const PcSamplingOptions& sampling,
                   std::span<const std::string_view> functions);

  // Windows begin at `begin_ns`, session time.
  void start(int64_t begin_ns) { next_window_ns_ = begin_ns; }
  // Those that have ended by `until_ns`.
  void drain(int64_t until_ns, RowSink& sink);
  void account(format::Ledger& ledger) const;
  SamplingStatus status(bool is_stopped) const;

 private:
  void write_window(RowSink& sink);
  void add_samples(int64_t device, RowSink& sink);
  int64_t samples_of_window() const;

  const SyntheticOptions options_;
  const PcSamplingOptions sampling_;
  const std::span<const std::string_view> functions_;
  int64_t next_window_ns_ = 0;
  uint64_t samples_ = 0;
  std::atomic<uint64_t> windows_{0};
  format::Batch rows_{format::Kind::PcSample}, coverage_{format::Kind::Coverage};
};

}  // namespace gpufl::backend
