// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/compare/change.hpp"
#include "analysis/compare/comparison.hpp"
#include "base/json.hpp"
#include "report/page.hpp"

// What the reports of `gpufl diff` and `gpufl gate` share: words, and parts of the page.
namespace gpufl::report {

// What kernels are called next to each other: by their short names, with what sets those apart
// that share one.
using KernelLabels = std::map<std::string, std::string>;
KernelLabels kernel_labels(std::span<const analysis::compare::Entry* const> entries);

// "gemm in train > step, grid 128x1x1, block 256x1x1", with the kernel's short name.
std::string compared_label(const analysis::compare::Key& key, const KernelLabels& names = {});
// Of a launch that changed: "gemm in train", with what is the same on both sides.
std::string compared_label(const analysis::compare::Entry& entry, const KernelLabels& names);
// "grid 128x1x1, block 256x1x1 -> grid 64x1x1, block 256x1x1"; empty: nothing that both sides know
// did change.
std::string launch_change(const analysis::compare::Entry& entry);
// "median", or of all of it "GPU busy time".
std::string figure_label(const analysis::compare::Key& key, analysis::compare::Metric metric,
                         bool is_per_iteration);
// "12.34 us", or "1,200" of a count.
std::string compared_value(analysis::compare::Metric metric, double value);
// "+5.2%".
std::string change_text(double change);
// "+3.1% to +7.3%"; "exact" where nothing varies; empty: there is none.
std::string interval_text(const analysis::compare::Change& change);

// {"scope": ..., "kernel": ..., "config": ...}, what applies.
void set_key(base::Json& object, const analysis::compare::Key& key);
// {"change": 0.05, "low": ..., "high": ...}; null where there is none.
void set_change(base::Json& object, const analysis::compare::Change& change);
// {"a": {"found": "scopes: step", "fewest": 100, "most": 100}, "b": ...}, with the sides' names.
base::Json iterations_json(const analysis::compare::IterationNumbers& numbers, std::string_view a,
                           std::string_view b);
base::Json json_texts(const std::vector<std::string>& texts);

// Rows of a list of so many that are shown; `top` 0: all.
size_t shown_of(size_t all, size_t top);
void write_warnings(Page& page, const std::vector<std::string>& warnings);

}  // namespace gpufl::report
