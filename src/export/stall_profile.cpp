// SPDX-License-Identifier: Apache-2.0
#include "export/stall_profile.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "analysis/code/kernel_name.hpp"
#include "analysis/figures/sample_rows.hpp"
#include "analysis/figures/scope_shares.hpp"
#include "export/frame_texts.hpp"
#include "symbols/demangle.hpp"

namespace gpufl::exporting {
namespace {

using analysis::SampleRow;
using analysis::ScopeShare;

// Scope path of SessionTexts (0: in none), and whether that is an estimate.
using Place = std::pair<uint32_t, bool>;
// Place, function, module, instruction, stall of SampleRows.
using Key = std::tuple<Place, uint32_t, uint64_t, int64_t, uint32_t>;

class StackGatherer {
 public:
  explicit StackGatherer(const timeline::SessionTexts& texts)
      : texts_(texts), rows_(texts.tables(), {}), shares_(texts.session(), {}) {
    const analysis::Scopes& scopes = texts.tables().scopes;
    for (uint32_t row = 0; row < scopes.rows(); ++row) {
      path_of_id_.emplace(scopes.id[row], texts.scope_path(row));
    }
  }

  std::vector<StallStack> gather() {
    rows_.visit([&](const SampleRow& row) {
      if (!row.is_not_issued && row.samples > 0) add(row);
    });
    std::map<Key, uint64_t> divided = std::move(exact_);
    for (const auto& [group, samples_of] : unnamed_) {
      for (const auto& [key, samples] : samples_of) divide(group, key, samples, divided);
    }
    std::vector<StallStack> stacks;
    for (const auto& [key, samples] : divided) stacks.push_back({frames_of(key), samples});
    return stacks;
  }

 private:
  void add(const SampleRow& row) {
    const auto path = path_of_id_.find(row.scope);
    const bool is_named = row.scope != 0 && path != path_of_id_.end();
    const Place place{is_named ? path->second : 0, false};
    auto& samples_of = is_named ? exact_ : unnamed_[shares_.group_of(row)];
    samples_of[{place, row.function, row.module, row.pc, row.stall}] += row.samples;
  }

  // Each part is the difference of two rounded sums, so that nothing is lost or made.
  void divide(size_t group, const Key& key, uint64_t samples, std::map<Key, uint64_t>& to) const {
    const std::vector<ScopeShare>* const parts = shares_.of(group, std::get<1>(key));
    if (parts == nullptr) {
      to[key] += samples;
      return;
    }
    double sum = 0;
    uint64_t given = 0;
    for (const ScopeShare& part : *parts) {
      sum += part.share;
      const uint64_t until = std::min(
          samples, static_cast<uint64_t>(std::llround(sum * static_cast<double>(samples))));
      if (until > given) {
        Key its = key;
        std::get<0>(its) = {part.path == analysis::kNoRow ? 0 : part.path + 1, true};
        to[its] += until - given;
      }
      given = until;
    }
  }

  std::vector<std::string> frames_of(const Key& key) {
    const auto& [place, function, module, pc, stall] = key;
    std::vector<std::string> frames;
    for (uint32_t path = place.first; path != 0; path = texts_.path_parent(path)) {
      frames.push_back(texts_.path_scope(path) + (place.second ? " (estimate)" : ""));
    }
    std::reverse(frames.begin(), frames.end());
    const std::string whole = symbols::demangle(texts_.tables().name(function));
    frames.push_back(timeline::valid_utf8(whole));
    frames.push_back(with_offset(timeline::valid_utf8(analysis::short_kernel_name(whole)),
                                 static_cast<uint64_t>(pc)));
    frames.push_back(timeline::valid_utf8(rows_.reason(stall)));
    return frames;
  }

  const timeline::SessionTexts& texts_;
  const analysis::SampleRows rows_;
  const analysis::ScopeShares shares_;
  std::unordered_map<int64_t, uint32_t> path_of_id_;  // by `id` of a scope
  std::map<Key, uint64_t> exact_;
  std::map<size_t, std::map<Key, uint64_t>> unnamed_;  // by group of ScopeShares
};

}  // namespace

std::vector<StallStack> stall_stacks(const timeline::SessionTexts& texts) {
  return StackGatherer(texts).gather();
}

uint64_t stall_rows(const analysis::Tables& tables) {
  const auto found = tables.others.find(format::Kind::PcSample);
  return found == tables.others.end() ? 0 : found->second.rows();
}

}  // namespace gpufl::exporting
