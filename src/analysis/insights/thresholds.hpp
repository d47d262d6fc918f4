// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

#include "base/json.hpp"
#include "base/status.hpp"

// From where on something is worth telling. Each rule has a struct of its own; in a file a value is
// called "<rule>.<name>". Shares are of 1, times carry their unit. Every value is documented on the
// page of its rule. Plain data.
namespace gpufl::analysis {

struct Thresholds {
  // Of every rule whose severity follows from the gain.
  struct {
    double high_share = 0.10, medium_share = 0.02;
    double max_per_rule = 5;
    double vendor_call_us = 1;
  } insights;
  struct {
    double high_share = 0.50, medium_share = 0.10;
  } sync_attribution;
  struct {
    double min_syncs = 3, min_kernels = 3;
  } in_loop_sync;
  struct {
    double min_gap_us = 10, min_share = 0.01, host_code_us = 200, queued_us = 10;
  } idle_gaps;
  struct {
    double min_kernels = 50, min_idle_share = 0.2, min_share = 0.02;
    double graph_node_gap_us = 1, graph_launch_us = 10;
  } launch_bound;
  struct {
    double max_kernel_us = 5, min_run = 10, min_share = 0.02;
  } tiny_kernels;
  struct {
    double min_share = 0.01, pinned_gb_per_s = 0, fixed_us = 8;
  } pageable_copies;
  struct {
    double max_kib = 64, min_copies = 100, min_share = 0.01;
  } small_copies;
  struct {
    double min_share = 0.02;
  } unoverlapped_copies;
  struct {
    double min_calls = 10, min_share = 0.005;
  } allocation_in_loop;
  struct {
    double max_occupancy = 0.25, target_occupancy = 0.5, min_share = 0.05;
  } low_occupancy;
  struct {
    double min_bytes = 16, min_share = 0.02, min_sector_share = 0.05;
  } register_spill;
  struct {
    double min_idle_share = 0.2, min_share = 0.02;
  } tail_effect;
  struct {
    double max_filled_share = 0.5, min_share = 0.02;
  } partial_wave;
  struct {
    double min_share = 0.02;
  } exposed_communication;
  struct {
    double min_stall_share = 0.4, min_samples = 1000, min_share = 0.05;
  } warp_stalls;
  struct {
    double min_path_share = 0.5, min_share = 0.02;
  } warp_group_bound;
  struct {
    double min_path_share = 0.05, min_share = 0.02;
  } warp_bubbles;
  struct {
    double max_active_share = 0.75, min_share = 0.05;
  } thread_divergence;
  struct {
    double min_excess_share = 0.25, min_share = 0.05;
  } uncoalesced_access;
  struct {
    double min_excess_share = 0.2, min_share = 0.05;
  } bank_conflicts;
  struct {
    double min_time_share = 0.01;
  } throttling;
  struct {
    double min_time_share = 0.05;
  } power_cap;
  struct {
    double min_drop = 0.1, min_time_share = 0.05;
  } clock_drop;
  struct {
    double min_used_share = 0.95, high_used_share = 0.99;
  } memory_nearly_full;
  struct {
    double min_corrected = 10;
  } ecc_errors;
  struct {
    double min_share = 0.1;
  } gpu_imbalance;
  struct {
    double min_share = 0.05;
  } rank_imbalance;
  struct {
    double high_missing_share = 0.01;
  } trace_losses;
};

// One value by the name that it has in a file: "in_loop_sync.min_syncs".
struct ThresholdName {
  std::string_view name;
  double& (*value)(Thresholds& thresholds);
};
std::span<const ThresholdName> threshold_names();

// An object of such names and numbers; what is not named keeps its default. Names that do not exist
// are mistakes, told with their line and what was probably meant; so are negative numbers.
base::Result<Thresholds> thresholds_from_json(const base::Json& document);
base::Result<Thresholds> load_thresholds(const std::filesystem::path& file);

}  // namespace gpufl::analysis
