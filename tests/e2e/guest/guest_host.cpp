// SPDX-License-Identifier: Apache-2.0
// `guest_host PLUGIN.so`: loads the plugin, uses it and unloads it, three times, with a thread that
// has been inside it still alive; then ends without telling anyone.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <thread>

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  std::atomic<int> phase{0};
  std::thread bystander;
  for (int round = 0; round < 3; ++round) {
    void* plugin = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
    auto* start = reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_start"));
    auto* work = reinterpret_cast<void (*)()>(dlsym(plugin, "plugin_work"));
    if (start == nullptr || work == nullptr || start() != 0) return 1;
    if (round == 0) {
      bystander = std::thread([&, work] {
        work();
        phase = 1;
        while (phase != 2) std::this_thread::yield();
      });
      while (phase != 1) std::this_thread::yield();
    }
    work();
    if (dlclose(plugin) != 0) return 1;
  }
  phase = 2;  // the thread ends after the plugin it has used was unloaded
  bystander.join();
  return 0;
}
