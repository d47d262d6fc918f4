// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// What the stand-in's parts share: its state, under one lock, and how a call of the program is
// played, with its callbacks around it.
namespace gpufl::standin {

constexpr uint64_t kSecondNs = 1'000'000'000;

struct Buffer {
  uint8_t* data = nullptr;
  size_t size = 0, used = 0;
};

struct Library {
  std::mutex mutex;
  std::map<std::string, CUptiResult, std::less<>> failures;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  CUpti_TimestampCallbackFunc timestamp = nullptr;
  CUpti_ActivityThreadIdType thread_ids = CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  std::set<CUpti_ActivityKind> kinds;
  // Functions that a kind of API records leaves out.
  std::set<std::pair<CUpti_ActivityKind, CUpti_CallbackId>> left_out;
  Buffer calls, work, running;
  bool holding = false;
  std::vector<CUpti_ActivityAPI> held;
  size_t dropped = 0;
  uint32_t next_correlation = 1;
  // Times of the newest kernels of a stream, newest last, and of nodes in the newest launches of a
  // graph: what a record with old times has.
  std::map<uint32_t, std::vector<std::pair<uint64_t, uint64_t>>> stream_times;
  std::map<uint32_t, std::vector<std::vector<std::pair<uint64_t, uint64_t>>>> graph_times;
  uint32_t finalized = 0;
  uint32_t surprised = 0;
  std::atomic<uint32_t> launching{0};  // threads, now
  std::atomic<uint32_t> disturbed{0};  // calls that cannot bear one which launches
  std::atomic<uint32_t> entering{0};   // threads at a call's entry
  std::atomic<uint32_t> entry_us{0};   // that each spends there, before the callback
  std::atomic<bool> holds_finalize{false};
  std::atomic<uint32_t> finalizing{0};  // threads
  std::atomic<uint64_t> context{0};     // current to all threads; 0: nobody says
  uint32_t flushes = 0;
  uint64_t unrecorded_kernels = 0;  // that ran while there were no records of kernels
  uint64_t recorded_kernels = 0;    // and while there were
  std::atomic<bool> is_profiler_initialized{false};
  // The hardware serves one of the two at a time.
  std::atomic<uint32_t> pc_sampled{0};  // contexts
  std::atomic<uint32_t> pm_sampled{0};  // GPUs
  std::string chip = "GH100";           // CUPTI's name of each GPU
  std::string other_tool;               // that has subscribed; empty: none

  CUpti_CallbackFunc callback = nullptr;
  void* callback_data = nullptr;
  std::set<std::pair<CUpti_CallbackDomain, CUpti_CallbackId>> callbacks;
  std::set<CUpti_CallbackDomain> domains;
};

// Never destroyed: threads of the test may outlive main().
inline Library& library() {
  static auto* const one = new Library;
  return *one;
}

inline CUptiResult failure(Library& lib, std::string_view function) {
  const auto found = lib.failures.find(function);
  return found != lib.failures.end() ? found->second : CUPTI_SUCCESS;
}

// Tenths of kernels as the hardware counts them: what takes their times is counted with them.
inline uint64_t tenths_of_kernels() {
  const std::lock_guard lock(library().mutex);
  return 10 * library().unrecorded_kernels + 18 * library().recorded_kernels;
}

#define STANDIN_MAY_FAIL(function)       \
  Library& lib = library();              \
  const std::lock_guard lock(lib.mutex); \
  if (const CUptiResult code = failure(lib, #function); code != CUPTI_SUCCESS) return code

inline uint64_t now(const Library& lib) {
  if (lib.timestamp != nullptr) return lib.timestamp();
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<uint64_t>(t.tv_sec) * kSecondNs + static_cast<uint64_t>(t.tv_nsec);
}

// Handles of graphs are numbers here.
inline CUgraphExec graph_exec_handle(uint64_t number) {
  return reinterpret_cast<CUgraphExec>(number << 4);  // NOLINT(performance-no-int-to-ptr)
}

// Of the version that is played; 0 for a kind that the stand-in does not know.
size_t record_size(CUpti_ActivityKind kind);

// As CUPTI calls it, with its version; null: it is not known here.
const char* function_name(CUpti_CallbackDomain domain, CUpti_CallbackId id);

void write_call(Library& lib, CUpti_ActivityKind kind, CUpti_CallbackId id, uint64_t start,
                uint32_t correlation, int result);

// Calls the subscriber, if it has asked for that, with `context` and what `descriptor` points to.
void notify_resource(CUpti_CallbackId id, void* descriptor, uint64_t context = 1);

inline uint32_t take_correlation(Library& lib) {
  const uint32_t id = lib.next_correlation++;
  if (lib.next_correlation == 0) lib.next_correlation = 1;
  return id;
}

// One call of the program, with its callbacks around it. Inside it others can be played.
class PlayedCall {
 public:
  // `correlation` 0: an id of its own.
  PlayedCall(CUpti_CallbackDomain domain, CUpti_CallbackId id, int result, const void* parameters,
             uint32_t correlation)
      : domain_(domain), id_(id), returned_(static_cast<CUresult>(result)) {
    data_.functionName = "";
    data_.functionParams = parameters;
    data_.functionReturnValue = &returned_;
    data_.correlationData = &passed_along_;
    const uint64_t context = library().context;
    data_.context = reinterpret_cast<CUcontext>(context);  // NOLINT(performance-no-int-to-ptr)
    data_.contextUid = context != 0 ? static_cast<uint32_t>(context) : 1;
    const std::lock_guard lock(library().mutex);
    data_.correlationId = correlation != 0 ? correlation : take_correlation(library());
  }

  void set_symbol(const char* name) { data_.symbolName = name; }
  uint32_t correlation() const { return data_.correlationId; }
  uint64_t start() const { return start_; }
  void enter() {
    notify(CUPTI_API_ENTER);
    const std::lock_guard lock(library().mutex);
    start_ = now(library());
  }
  // `body(library, start)` runs under the lock, before the call's own record is written.
  template <typename Body>
  void exit(Body body) {
    {
      Library& lib = library();
      const std::lock_guard lock(lib.mutex);
      body(lib, start_);
      const bool is_driver = domain_ == CUPTI_CB_DOMAIN_DRIVER_API;
      write_call(lib, is_driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME, id_,
                 start_, data_.correlationId, static_cast<int>(returned_));
    }
    notify(CUPTI_API_EXIT);
  }

 private:
  void notify(CUpti_ApiCallbackSite site) {
    Library& lib = library();
    CUpti_CallbackFunc function = nullptr;
    void* user = nullptr;
    {
      const std::lock_guard lock(lib.mutex);
      if (lib.domains.count(domain_) != 0 || lib.callbacks.count({domain_, id_}) != 0) {
        function = lib.callback;
        user = lib.callback_data;
      }
    }
    data_.callbackSite = site;
    const uint32_t enters = site == CUPTI_API_ENTER ? 1 : 0;
    lib.entering += enters;
    if (enters != 0 && lib.entry_us != 0) usleep(lib.entry_us);
    if (function != nullptr) function(user, domain_, id_, &data_);
    lib.entering -= enters;
  }

  const CUpti_CallbackDomain domain_;
  const CUpti_CallbackId id_;
  CUresult returned_;
  uint64_t passed_along_ = 0;
  uint64_t start_ = 0;
  CUpti_CallbackData data_{};
};

// A call with nothing inside. `body(library, correlation, start)` runs under the lock.
template <typename Body>
uint32_t call(CUpti_CallbackDomain domain, CUpti_CallbackId id, int result, const void* parameters,
              uint32_t correlation, Body body) {
  PlayedCall played(domain, id, result, parameters, correlation);
  played.enter();
  played.exit([&](Library& lib, uint64_t start) { body(lib, played.correlation(), start); });
  return played.correlation();
}

}  // namespace gpufl::standin
