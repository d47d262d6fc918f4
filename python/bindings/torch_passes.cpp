// SPDX-License-Identifier: Apache-2.0
#include "torch_passes.hpp"

namespace gpufl::python::torch_passes {
namespace {

using torch_layout::g_torch;

constinit uint64_t g_handle = 0;
constinit torch_layout::StartCallback g_start = nullptr;
constinit uint32_t g_passes = 0;
constinit uint64_t g_quiet_thread = 0;         // which began the pass
constinit std::atomic<bool> g_is_loud{false};  // no pass is quiet

}  // namespace

void attach(uint64_t handle, torch_layout::StartCallback start) {
  g_handle = handle;
  g_start = start;
  g_passes = 0;
  g_attachment.fetch_add(1);
  g_program_thread = 0;
  g_is_loud = g_torch.disable_callback == nullptr || g_torch.enable_callback == nullptr;
}

void detach() { g_is_quiet = false; }

bool begin(const ThreadPasses& seen) {
  if (is_quiet()) {
    // Inside of the quiet pass, or beside it.
    if (!seen.runs_nodes() && g_torch.this_thread() != g_quiet_thread) {
      g_is_loud = true;
      end();
    }
    return false;
  }
  const bool looks = g_passes++ % kPassesALook == 0;
  if (looks || g_is_loud || !torch_layout::hears_alone(g_start)) return false;
  g_quiet_thread = g_torch.this_thread();
  g_is_quiet = true;
  g_torch.disable_callback(g_handle);
  return true;
}

void end() {
  if (!g_is_quiet.exchange(false)) return;  // detached, or loud, meanwhile
  g_torch.enable_callback(g_handle);
}

void on_doubtful_operator(uint64_t thread, bool is_of_hook) noexcept {
  uint64_t none = 0;
  if (is_of_hook || !g_program_thread.compare_exchange_strong(none, thread)) g_is_loud = true;
}

}  // namespace gpufl::python::torch_passes
