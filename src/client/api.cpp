// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <gpufl/counter.hpp>
#include <gpufl/deep_window.hpp>
#include <gpufl/scope.hpp>
#include <gpufl/session.hpp>
#include <gpufl/upload.hpp>
#include <gpufl/warpscope.hpp>
#include <string>
#include <vector>

#include "base/clock.hpp"
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

SessionStatus status() {
  return guarded([] { return Client::instance().session_status(); });
}

void shutdown() {
  guarded([] { Client::instance().shutdown(); });
}

bool pause() {
  return guarded([] { return Client::instance().pause().is_ok(); });
}

bool resume() {
  return guarded([] { return Client::instance().resume().is_ok(); });
}

bool deepWindow(const DeepWindowSpec& spec) noexcept {
  return guarded([&] { return Client::instance().open_deep_window(spec).is_ok(); });
}

bool deepWindow(int max_duration_ms, int max_launches) noexcept {
  return guarded([&] { return deepWindow(DeepWindowSpec{max_duration_ms, max_launches, 0, ""}); });
}

void deepWindowClose() noexcept {
  guarded([] { (void)Client::instance().close_deep_window(); });
}

bool deepWindowActive() noexcept { return Client::is_deep_window_open(); }

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

UploadResult uploadLogs(const UploadOptions& options) noexcept {
  return guarded([&] { return Client::instance().upload(options); });
}

Counter counter(std::string_view name) noexcept {
  return Counter(capture::counters::find_or_add(name));
}

void tick(std::string_view name, int64_t n) noexcept { counter(name).add(n); }

namespace {

std::vector<client::WarpscopeName> name_list(const std::map<uint32_t, std::string>& names) {
  std::vector<client::WarpscopeName> list;
  for (const auto& [id, text] : names) list.push_back({id, text.data(), text.size()});
  return list;
}

WarpscopeStatus record_warpscope(const void* words, bool is_on_device, size_t count,
                                 const WarpscopeInfo& info, int64_t opened_ns) noexcept {
  if (detail::active_session.load(std::memory_order_relaxed) == 0) {
    return WarpscopeStatus::NoSession;
  }
  try {
    const auto events = name_list(info.event_names), groups = name_list(info.group_names);
    const client::WarpscopeCall call{sizeof call,
                                     is_on_device ? 1u : 0u,
                                     static_cast<const uint64_t*>(words),
                                     count,
                                     events.data(),
                                     events.size(),
                                     groups.data(),
                                     groups.size(),
                                     info.kernel_name.data(),
                                     info.kernel_name.size(),
                                     info.device,
                                     info.correlation,
                                     gettid(),
                                     opened_ns};
    return Client::instance().record_warpscope(call);
  } catch (...) {
    return WarpscopeStatus::OutOfMemory;
  }
}

}  // namespace

const char* to_string(WarpscopeStatus status) noexcept {
  switch (status) {
    case WarpscopeStatus::Recorded: return "recorded";
    case WarpscopeStatus::NoSession: return "no_session";
    case WarpscopeStatus::Empty: return "empty";
    case WarpscopeStatus::TooLarge: return "too_large";
    case WarpscopeStatus::Full: return "full";
    case WarpscopeStatus::CopyFailed: return "copy_failed";
    case WarpscopeStatus::OutOfMemory: return "out_of_memory";
  }
  return "unknown";
}

WarpscopeStatus recordWarpscope(const uint64_t* words, size_t count,
                                const WarpscopeInfo& info) noexcept {
  return record_warpscope(words, false, count, info, 0);
}

WarpscopeStatus recordWarpscopeDevice(const void* device_words, size_t count,
                                      const WarpscopeInfo& info) noexcept {
  return record_warpscope(device_words, true, count, info, 0);
}

WarpscopeCapture::WarpscopeCapture() noexcept {
  if (detail::active_session.load(std::memory_order_relaxed) == 0) return;
  guarded([] { Client::instance().open_warpscope(); });
  opened_ns_ = base::monotonic_ns();
}

WarpscopeStatus WarpscopeCapture::record(const uint64_t* words, size_t count,
                                         const WarpscopeInfo& info) const noexcept {
  return record_warpscope(words, false, count, info, opened_ns_);
}

WarpscopeStatus WarpscopeCapture::recordDevice(const void* device_words, size_t count,
                                               const WarpscopeInfo& info) const noexcept {
  return record_warpscope(device_words, true, count, info, opened_ns_);
}

}  // namespace gpufl
