// SPDX-License-Identifier: Apache-2.0
#include "export/stack_profile.hpp"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "analysis/math/saturating.hpp"

namespace gpufl::exporting {
namespace {

using Key = std::array<uint32_t, 3>;  // stack, path, and what tells the work apart
struct KeyHash {
  size_t operator()(const Key& key) const {
    return ((size_t{key[0]} * 0x9E3779B97F4A7C15U) ^ key[1]) * 0x9E3779B97F4A7C15U ^ key[2];
  }
};

class Samples {
 public:
  explicit Samples(const timeline::SessionTexts& texts) : texts_(texts) {}

  StackSample& at(const analysis::Work& work, size_t row, uint32_t what) {
    const uint32_t stack = work.stack.empty() ? 0 : work.stack[row];
    uint32_t path = 0;
    if (!work.caller.empty()) {
      path = texts_.scope_path(texts_.tables().callers[work.caller[row]].scope);
    }
    const auto [known, is_new] = index_.try_emplace(Key{stack, path, what}, samples.size());
    if (is_new) {
      samples.emplace_back();
      samples.back().stack = stack;
      samples.back().path = path;
    }
    ++samples[known->second].count;
    return samples[known->second];
  }
  void forget_keys() { index_.clear(); }

  std::vector<StackSample> samples;

 private:
  const timeline::SessionTexts& texts_;
  std::unordered_map<Key, size_t, KeyHash> index_;
};

void add_time(int64_t& total, int64_t duration) {
  total = analysis::saturating_add(total, std::max<int64_t>(duration, 0));
}

}  // namespace

std::vector<StackSample> stack_samples(const timeline::SessionTexts& texts) {
  const analysis::Tables& tables = texts.tables();
  Samples gathered(texts);
  for (size_t row = 0; row < tables.kernels.rows(); ++row) {
    const uint32_t config = tables.kernels.config[row];
    StackSample& sample = gathered.at(tables.kernels, row, tables.config(config).name);
    sample.config = config;
    add_time(sample.gpu_ns, tables.kernels.duration[row]);
  }
  gathered.forget_keys();
  for (uint32_t row = 0; row < tables.waits.rows(); ++row) {
    const uint32_t call = tables.waits.wait_kind.empty() ? 0 : tables.waits.wait_kind[row];
    StackSample& sample = gathered.at(tables.waits, row, call);
    if (sample.wait == 0) sample.wait = row + 1;
    add_time(sample.blocked_ns, tables.waits.duration[row]);
  }
  return std::move(gathered.samples);
}

}  // namespace gpufl::exporting
