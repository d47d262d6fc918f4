// SPDX-License-Identifier: Apache-2.0
#include <nvtx3/nvtx3.hpp>
#include <thread>

namespace {

// NOLINTBEGIN(readability-identifier-naming): the wrapper looks for these names
struct SharedDomain {
  static constexpr const char* name{"shared domain"};
};

struct PluginMessage {
  static constexpr const char* message{"registered in C++"};
};
// NOLINTEND(readability-identifier-naming)

}  // namespace

extern "C" __attribute__((visibility("default"))) void run_plugin() {
  const nvtx3::scoped_range range{"plugin", nvtx3::payload{7}, nvtx3::rgb{0, 0, 255}};
  std::thread([] {
    const nvtx3::scoped_range_in<SharedDomain> on_thread{
        nvtx3::registered_string_in<SharedDomain>::get<PluginMessage>()};
    nvtx3::mark_in<SharedDomain>("on a thread");
  }).join();
}
