// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <gpufl/counter.hpp>
#include <gpufl/session.hpp>
#include <string>

#include "capture/counters.hpp"
#include "client/client.hpp"

// The functions of include/gpufl. What they call reports failures as values; what is left to throw
// is the standard library out of memory, and that ends here.
namespace gpufl {

namespace {

using client::Client;

template <typename Call>
auto guarded(Call&& call) noexcept -> decltype(call()) {
  try {
    return call();
  } catch (...) {
    return decltype(call())();
  }
}

}  // namespace

bool init(const InitOptions& opts) {
  return guarded([&] { return Client::instance().init(opts); });
}

void shutdown() {
  guarded([] { Client::instance().shutdown(); });
}

void generateReport(const std::string& output_path) {
  guarded([&] {
    const std::string text = Client::instance().report();
    if (text.empty()) return;
    if (output_path.empty()) {
      std::fwrite(text.data(), 1, text.size(), stdout);
      std::fflush(stdout);
      return;
    }
    std::ofstream(output_path, std::ios::binary) << text;
  });
}

void systemStart(const std::string& name) {
  guarded([&] { Client::instance().system_start(name); });
}

void systemStop(const std::string& name) {
  guarded([&] { Client::instance().system_stop(name); });
}

Counter counter(std::string_view name) noexcept {
  return Counter(capture::counters::find_or_add(name));
}

void tick(std::string_view name, int64_t n) noexcept { counter(name).add(n); }

}  // namespace gpufl
