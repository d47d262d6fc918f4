// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cupti/standin_replay.hpp"

#include <cupti.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <deque>
#include <map>
#include <tuple>

#include "tests/standin/cupti/recording.hpp"
#include "tests/standin/cupti/standin_library.hpp"

namespace gpufl::standin {

extern uint32_t cupti_version;

namespace {

bool is_kernel(uint32_t kind) {
  return kind == CUPTI_ACTIVITY_KIND_KERNEL || kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
}

bool is_launch(const RecordedCallback& call) {
  return call.domain == CUPTI_CB_DOMAIN_DRIVER_API && call.site == CUPTI_API_EXIT &&
         call.result == 0 &&
         (call.id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel ||
          call.id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel_ptsz ||
          call.id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
          call.id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz ||
          call.id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel ||
          call.id == CUPTI_DRIVER_TRACE_CBID_cuLaunchCooperativeKernel_ptsz);
}

// A function that the stand-in cannot name, and the tool so would not know.
bool has_unnamed_call(Recording& recording) {
  bool has_unnamed = false;
  const auto look_up = [&](CUpti_CallbackDomain domain, uint32_t id) {
    if (function_name(domain, id) != nullptr) return;
    has_unnamed = true;
    std::fprintf(stderr, "standin_names.cpp lacks function %u of domain %d\n", id, domain);
  };
  for (Recording::Step& step : recording.steps) {
    for (const RecordedCallback& call : step.callbacks) {
      look_up(static_cast<CUpti_CallbackDomain>(call.domain), call.id);
    }
    recording.for_each(step.buffer, [&](const uint8_t* record, uint32_t kind, size_t) {
      const bool is_driver = kind == CUPTI_ACTIVITY_KIND_DRIVER;
      if (!is_driver && kind != CUPTI_ACTIVITY_KIND_RUNTIME) return;
      CUpti_ActivityAPI call{};
      std::memcpy(&call, record, sizeof call);
      look_up(is_driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API, call.cbid);
    });
  }
  return has_unnamed;
}

// What is passed along from the beginning of a call to its end lives here.
class CallbackPlayer {
 public:
  void play(const RecordedCallback& call) {
    Library& lib = library();
    const auto domain = static_cast<CUpti_CallbackDomain>(call.domain);
    CUpti_CallbackFunc function = nullptr;
    void* user = nullptr;
    {
      const std::lock_guard lock(lib.mutex);
      if (lib.domains.count(domain) == 0 && lib.callbacks.count({domain, call.id}) == 0) return;
      function = lib.callback;
      user = lib.callback_data;
    }
    if (function == nullptr) return;
    // Functions differ in their parameters: each gets enough zeros, and a configuration.
    CUlaunchConfig config{};
    cuLaunchKernelEx_params ex{};
    ex.config = &config;
    std::byte zeros[512]{};
    const bool has_config = call.id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx ||
                            call.id == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx_ptsz;
    CUpti_CallbackData data{};
    data.callbackSite = static_cast<CUpti_ApiCallbackSite>(call.site);
    data.functionName = "";
    data.functionParams = has_config ? static_cast<const void*>(&ex) : zeros;
    data.functionReturnValue = const_cast<int32_t*>(&call.result);
    data.contextUid = call.context;
    data.correlationId = call.correlation;
    const auto key = std::tuple(call.thread, call.domain, call.id, call.correlation);
    data.correlationData = &passed_along_[key];
    function(user, domain, call.id, &data);
    if (call.site == CUPTI_API_EXIT) passed_along_.erase(key);
  }

 private:
  std::map<std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>, uint64_t> passed_along_;
};

// One buffer, as the tool is to find it: times moved, faults done. Records stay where their
// neighbours are, so that what is left out closes up.
std::vector<uint64_t> prepare(const Recording& recording, std::vector<uint64_t>& buffer,
                              uint64_t shift, const Replay& replay, Replayed& result) {
  std::vector<uint64_t> out;
  recording.for_each(buffer, [&](uint8_t* record, uint32_t kind, size_t size) {
    if (is_kernel(kind)) {
      ++result.kernels;
      if (replay.withhold_every != 0 && result.kernels % replay.withhold_every == 0) {
        ++result.withheld;
        return;
      }
      if (replay.drop_every != 0 && result.kernels % replay.drop_every == 0) {
        ++result.dropped;
        return;
      }
    }
    for (const size_t offset : time_offsets(kind)) {
      uint64_t ns = 0;
      std::memcpy(&ns, record + offset, sizeof ns);
      if (ns != 0) ns += shift;
      std::memcpy(record + offset, &ns, sizeof ns);
    }
    const size_t at = out.size();
    out.resize(at + size / sizeof(uint64_t));
    std::memcpy(&out[at], record, size);
  });
  if (replay.truncate && !out.empty()) out.pop_back();
  return out;
}

void deliver(const std::vector<uint64_t>& records) {
  Library& lib = library();
  const std::lock_guard lock(lib.mutex);
  if (lib.request == nullptr || records.empty()) return;
  uint8_t* data = nullptr;
  size_t size = 0, max_records = 0;
  lib.request(&data, &size, &max_records);
  const size_t bytes = records.size() * sizeof(uint64_t);
  if (data == nullptr || size < bytes) {
    ++lib.dropped;
    if (data != nullptr) lib.complete(nullptr, 0, data, size, 0);
    return;
  }
  std::memcpy(data, records.data(), bytes);
  lib.complete(nullptr, 0, data, size, bytes);
}

}  // namespace
}  // namespace gpufl::standin

using namespace gpufl::standin;

// Recordings are kept: kernels' names are in them, and CUPTI's names live as long as the process.
extern "C" __attribute__((visibility("default"))) void cupti_standin_replay(const Replay& replay,
                                                                            Replayed& result) {
  result = {};
  static auto* const kept = new std::deque<Recording>;
  Recording* const recording = &kept->emplace_back();
  if (!Recording::read(replay.path, *recording)) return;
  {
    const std::lock_guard lock(library().mutex);
    cupti_version = recording->cupti_version;
  }
  for (const auto& [kind, size] : recording->sizes) {
    if (record_size(static_cast<CUpti_ActivityKind>(kind)) != size) return;
  }
  if (has_unnamed_call(*recording)) return;
  result.is_good = true;
  result.duration_ns = recording->last_ns - recording->first_ns;
  uint64_t shift = 0;
  {
    const std::lock_guard lock(library().mutex);
    shift = now(library()) - recording->last_ns;
  }
  CallbackPlayer player;
  std::vector<std::vector<uint64_t>> buffers;
  const bool at_end = replay.delay || replay.reorder;
  for (Recording::Step& step : recording->steps) {
    for (const RecordedCallback& call : step.callbacks) {
      if (replay.without_callbacks) break;
      if (is_launch(call)) ++result.launches;
      player.play(call);
    }
    buffers.push_back(prepare(*recording, step.buffer, shift, replay, result));
    if (!at_end) deliver(buffers.back());
  }
  if (replay.reorder) std::reverse(buffers.begin(), buffers.end());
  for (const auto& buffer : buffers) {
    if (at_end) deliver(buffer);
  }
  const std::lock_guard lock(library().mutex);
  library().dropped += result.dropped;
}
