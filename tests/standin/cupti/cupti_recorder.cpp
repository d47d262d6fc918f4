// SPDX-License-Identifier: Apache-2.0
// Records what CUPTI delivers for a program, as the Trace engine asks for it:
//
//   CUDA_INJECTION64_PATH=.../libgpufl_cupti_recorder.so GPUFL_CUPTI_RECORD=FILE program
//
// The file is for the stand-in libcupti to replay. GPUFL_CUPTI_LIBRARY names a libcupti where none
// is found. Does not work beside a session of gpufl: CUPTI serves one.
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "backend/nvidia/cupti/activity_kinds.hpp"
#include "backend/nvidia/cupti/call_roles.hpp"
#include "backend/nvidia/cupti/cupti_api.hpp"
#include "base/clock.hpp"
#include "tests/standin/cupti/recording.hpp"

namespace gpufl::standin {
namespace {

constexpr size_t kBufferBytes = size_t{1} << 20;

// Never destroyed: CUPTI calls back while the program ends.
struct Recorder {
  std::shared_ptr<backend::CuptiLibrary> cupti;
  RecordingWriter* file = nullptr;
  CUpti_SubscriberHandle subscriber = nullptr;
  backend::ActivityKinds kinds;
  backend::WatchedCalls watched;
};
Recorder* recorder = nullptr;

void CUPTIAPI on_buffer_requested(uint8_t** buffer, size_t* size, size_t* max_records) {
  *buffer = static_cast<uint8_t*>(std::aligned_alloc(8, kBufferBytes));
  *size = *buffer != nullptr ? kBufferBytes : 0;
  *max_records = 0;
}

void CUPTIAPI on_buffer_completed(CUcontext, uint32_t, uint8_t* buffer, size_t, size_t valid) {
  const backend::CuptiApi& api = recorder->cupti->api();
  recorder->file->buffer(buffer, valid, [&](const uint8_t* record) -> const uint8_t* {
    auto* next = reinterpret_cast<CUpti_Activity*>(const_cast<uint8_t*>(record));
    return api.cuptiActivityGetNextRecord(buffer, valid, &next) == CUPTI_SUCCESS
               ? reinterpret_cast<const uint8_t*>(next)
               : buffer + valid;
  });
  std::free(buffer);
}

void CUPTIAPI on_callback(void*, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                          const void* data) {
  const auto& call = *static_cast<const CUpti_CallbackData*>(data);
  const bool is_driver = domain == CUPTI_CB_DOMAIN_DRIVER_API;
  if (!is_driver && domain != CUPTI_CB_DOMAIN_RUNTIME_API) return;
  const bool is_exit = call.callbackSite == CUPTI_API_EXIT;
  const auto& watched = is_driver ? recorder->watched.driver(id) : recorder->watched.runtime(id);
  if (watched.role == backend::CallRole::None) return;
  recorder->file->callback(
      {static_cast<uint32_t>(domain), id, static_cast<uint32_t>(call.callbackSite),
       call.correlationId, call.contextUid, static_cast<uint32_t>(gettid()),
       is_exit ? *static_cast<const int32_t*>(call.functionReturnValue) : 0, 0});
}

uint64_t CUPTIAPI timestamp() { return static_cast<uint64_t>(base::monotonic_ns()); }

void finish() {
  const backend::CuptiApi& api = recorder->cupti->api();
  api.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  recorder->file->flush();
}

bool start(const char* path) {
  backend::Availability why;
  auto cupti = backend::CuptiLibrary::open(why);
  if (cupti == nullptr) {
    std::fprintf(stderr, "cupti_recorder: %s\n", why.detail.c_str());
    return false;
  }
  const backend::CuptiApi& api = cupti->api();
  RecordingWriter* const file = RecordingWriter::create(path, cupti->version());
  if (file == nullptr) {
    std::fprintf(stderr, "cupti_recorder: %s: %s\n", path, std::strerror(errno));
    return false;
  }
  recorder = new Recorder;
  recorder->cupti = std::move(cupti);
  recorder->file = file;
  recorder->watched.look_up(api);
  backend::TraceOptions options;
  options.memory = options.queue_times = options.call_records = true;
  std::vector<backend::Limitation> left_out;
  bool is_good =
      api.cuptiSubscribe(&recorder->subscriber, on_callback, nullptr) == CUPTI_SUCCESS &&
      api.cuptiEnableDomain(1, recorder->subscriber, CUPTI_CB_DOMAIN_DRIVER_API) == CUPTI_SUCCESS &&
      api.cuptiEnableDomain(1, recorder->subscriber, CUPTI_CB_DOMAIN_RUNTIME_API) ==
          CUPTI_SUCCESS &&
      api.cuptiActivityRegisterCallbacks(on_buffer_requested, on_buffer_completed) ==
          CUPTI_SUCCESS &&
      api.cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM) == CUPTI_SUCCESS &&
      api.cuptiActivityRegisterTimestampCallback(timestamp) == CUPTI_SUCCESS;
  is_good = is_good && recorder->kinds.enable(api, options, left_out).available;
  if (!is_good) std::fprintf(stderr, "cupti_recorder: CUPTI refuses\n");
  return is_good;
}

}  // namespace
}  // namespace gpufl::standin

// The driver calls it when CUDA is initialised.
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  const char* const path = std::getenv("GPUFL_CUPTI_RECORD");
  if (path == nullptr || gpufl::standin::recorder != nullptr) return 1;
  if (gpufl::standin::start(path)) std::atexit(gpufl::standin::finish);
  return 1;
}

// For tests, which have no driver.
extern "C" __attribute__((visibility("default"))) void finish_recording() {
  gpufl::standin::finish();
}
