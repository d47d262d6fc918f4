// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/stall_reasons.hpp"

namespace gpufl::analysis {
namespace {

constexpr std::string_view kLook = "Look at the instructions with the most samples.";
constexpr std::string_view kQueue =
    "The queue of memory instructions is full: use fewer and wider ones.";

constexpr StallReason kReasons[] = {
    {"barrier", "Waits for the other warps of its block at __syncthreads.",
     "Warps wait at __syncthreads: give all warps of a block the same amount of work, or use "
     "smaller blocks."},
    {"branch_resolving", "Waits for the target of a branch.",
     "Unroll short loops, and use predication for short branches."},
    {"dispatch_stall", "The dispatcher holds back an instruction that is ready.", kLook},
    {"drain", "Has ended and waits for its stores to leave.",
     "Store less at the end of the kernel, with coalesced accesses."},
    {"gmma", "Waits for the tensor cores to finish a warpgroup's matrix product.",
     "The tensor cores are busy, which is right for a matrix product. Otherwise keep more "
     "products in flight."},
    {"imc_miss", "Waits for a constant that is not in the constant cache.",
     "Let all threads of a warp read the same constants, and use fewer of them."},
    {"lg_throttle", "Waits for room in the queue of global and local memory instructions.", kQueue},
    {"long_scoreboard", "Waits for data from global or local memory or a texture.",
     "Warps wait for global or local memory: coalesce reads, keep reused data in shared memory, "
     "prefetch, and have more warps or more loads in flight."},
    {"math_pipe_throttle", "Waits for a busy arithmetic unit.",
     "The arithmetic units are the limit: use tensor cores or a smaller type, or compute less."},
    {"membar", "Waits at a memory fence until its writes are visible.",
     "Use fewer fences, or fences with a smaller scope."},
    {"mio_throttle",
     "Waits for room in the queue of shared memory, special function and similar instructions.",
     kQueue},
    {"misc", "Waits for a reason that the hardware does not name.", kLook},
    {"no_instructions", "Waits for instructions that are not in the instruction cache.",
     "The instruction cache misses: make the code smaller, unroll less."},
    {"not_selected", "Could issue, but the scheduler chose another warp.",
     "More warps are ready than can issue: nothing to do here.", false},
    {"selected", "Issued an instruction.", "", false},
    {"short_scoreboard", "Waits for shared memory, a special function or a similar unit.",
     "Warps wait for shared memory or special functions: look for bank conflicts, and use fewer "
     "such instructions."},
    {"sleeping", "Sleeps by its own instruction (nanosleep).",
     "All its threads sleep: sleep for less time, or wait for a barrier instead."},
    {"tex_throttle", "Waits for room in the queue of texture instructions.", kQueue},
    {"wait", "Waits a fixed number of cycles for the instruction before it.",
     "Have more independent instructions or more warps."},
    {"warpgroup_arrive", "Waits for the other warps of its warpgroup to begin a matrix product.",
     "Let the warps of a warpgroup reach the product at the same time."},
};

}  // namespace

StallName parse_stall(std::string_view device_name) {
  constexpr std::string_view kPrefix = "smsp__pcsamp_warps_issue_stalled_";
  constexpr std::string_view kNotIssued = "_not_issued";
  StallName name{device_name, device_name.ends_with(kNotIssued)};
  if (name.is_not_issued) name.reason.remove_suffix(kNotIssued.size());
  if (name.reason.starts_with(kPrefix)) name.reason.remove_prefix(kPrefix.size());
  return name;
}

StallReason stall_reason(std::string_view reason) {
  for (const StallReason& known : kReasons) {
    if (known.name == reason) return known;
  }
  return {reason, "", kLook};
}

}  // namespace gpufl::analysis
