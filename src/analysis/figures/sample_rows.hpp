// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/code/stall_reasons.hpp"
#include "analysis/session/analysis_options.hpp"
#include "analysis/session/selection.hpp"
#include "analysis/tables/tables.hpp"
#include "format/columns.hpp"

// The rows of samples of the program counter, each stall's name taken apart once. Borrows the
// tables. One thread.
namespace gpufl::analysis {

struct SampleRow {
  int64_t time = 0;
  int64_t device = -1;
  uint64_t module = 0;
  uint32_t function = 0;  // id of Tables::names
  int64_t pc = 0;
  uint32_t stall = 0;  // for SampleRows::reason()
  bool is_not_issued = false;
  uint64_t samples = 0;
  int64_t scope = 0;  // `id` of Tables::scopes; 0: not known
};

class SampleRows {
 public:
  // Of the options' device and window.
  SampleRows(const Tables& tables, const AnalysisOptions& options) {
    const auto found = tables.others.find(format::Kind::PcSample);
    if (found == tables.others.end()) return;
    rows_ = &found->second;
    device_ = options.device;
    window_ = options.window.value_or(Selection::kAlways);
    for (uint32_t id = 0; id <= tables.metrics.size(); ++id) {
      const StallName name = parse_stall(tables.metric(id));
      reasons_.emplace_back(name.reason);
      is_not_issued_.push_back(name.is_not_issued);
    }
  }

  // "long_scoreboard"
  const std::string& reason(uint32_t stall) const { return reasons_[stall]; }

  // In the order of the log.
  template <typename Visit>
  void visit(Visit visit) const {
    namespace column = format::pc_sample_column;
    if (rows_ == nullptr) return;
    for (size_t i = 0; i < rows_->rows(); ++i) {
      SampleRow row;
      row.time = rows_->at(column::kTime, i);
      row.device = rows_->at(column::kDevice, i, -1);
      if (device_.value_or(row.device) != row.device) continue;
      if (row.time < window_.start || row.time >= window_.end) continue;
      row.module = static_cast<uint64_t>(rows_->at(column::kModule, i));
      row.function = static_cast<uint32_t>(rows_->at(column::kFunction, i));
      row.pc = rows_->at(column::kPc, i);
      // The last stands for all that nothing defines.
      row.stall = static_cast<uint32_t>(
          std::min(static_cast<uint64_t>(rows_->at(column::kStall, i)), reasons_.size() - 1));
      row.is_not_issued = is_not_issued_[row.stall];
      row.samples = static_cast<uint64_t>(std::max<int64_t>(0, rows_->at(column::kSamples, i)));
      row.scope = rows_->at(column::kScope, i);
      visit(row);
    }
  }

 private:
  const format::Batch* rows_ = nullptr;
  std::optional<int64_t> device_;
  Interval window_;
  std::vector<std::string> reasons_;  // by id of Tables::metrics
  std::vector<bool> is_not_issued_;
};

}  // namespace gpufl::analysis
