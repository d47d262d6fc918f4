// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch_passes.hpp"

namespace gpufl::python::torch_passes {
namespace {

using torch_layout::g_torch;

constinit uint64_t g_handle = 0;
constinit torch_layout::StartCallback g_start = nullptr;
constinit torch_layout::EndCallback g_end = nullptr;
constinit uint32_t g_passes = 0;
constinit std::atomic<bool> g_is_loud{false};  // no pass is quiet

void end_quiet() {
  if (!g_is_quiet.exchange(false)) return;  // detached, or loud, meanwhile
  g_torch.enable_callback(g_handle);
}

bool is_in_another(const ThreadPasses& seen) { return seen.is_in_pass || seen.is_at_node(); }

// Whether it is quiet, and to be ended.
bool begin(const ThreadPasses& seen, bool is_alone) {
  if (is_in_another(seen)) return false;
  const uint64_t program_thread = g_program_thread.load();
  if (program_thread == 0) return false;
  if (program_thread != g_torch.this_thread()) {
    // One of them would hide the other's operators.
    g_is_loud = true;
    end_quiet();
    return false;
  }
  if (!is_alone) return false;
  const bool looks = g_passes++ % kPassesALook == 0;
  if (looks || g_is_loud || !torch_layout::hears_alone(g_start)) return false;
  g_is_quiet = true;
  g_torch.disable_callback(g_handle);
  return true;
}

}  // namespace

void attach(uint64_t handle, torch_layout::StartCallback start, torch_layout::EndCallback end) {
  g_handle = handle;
  g_start = start;
  g_end = end;
  g_passes = 0;
  g_attachment.fetch_add(1);
  g_program_thread = 0;
  g_is_loud = g_torch.disable_callback == nullptr || g_torch.enable_callback == nullptr;
}

void detach() { g_is_quiet = false; }

Pass::Pass(ThreadPasses& seen, bool is_alone)
    : seen_(seen), around_(seen), is_quiet_(begin(seen, is_alone)) {
  seen_.engine_ranges = seen_.open_nodes = 0;
  seen_.is_before_node = false;
  seen_.is_in_pass = true;
}

Pass::~Pass() {
  if (is_quiet_) end_quiet();
  const uint32_t ran_nodes_in = seen_.ran_nodes_in;
  seen_ = around_;
  seen_.ran_nodes_in = ran_nodes_in;
  // The engine has made the list anew in which the node around it was heard.
  if (is_in_another(seen_) && is_quiet()) torch_layout::hear_operators(g_start, g_end);
}

void on_doubtful_operator(uint64_t thread, bool is_of_hook) noexcept {
  uint64_t none = 0;
  if (is_of_hook || !g_program_thread.compare_exchange_strong(none, thread)) g_is_loud = true;
}

}  // namespace gpufl::python::torch_passes
