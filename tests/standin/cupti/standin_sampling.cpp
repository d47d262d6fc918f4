// SPDX-License-Identifier: Apache-2.0
#include "tests/standin/cupti/standin_sampling.hpp"

#include <cupti_pcsampling.h>
#include <cupti_profiler_target.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <utility>

#include "tests/standin/cupti/standin_library.hpp"

namespace gpufl::standin {
namespace {

// By the number that the device has for them.
constexpr const char* kReasons[] = {
    "smsp__pcsamp_sample_count", "smsp__pcsamp_samples_data_dropped",
    "smsp__pcsamp_warps_issue_stalled_wait", "smsp__pcsamp_warps_issue_stalled_wait_not_issued",
    "smsp__pcsamp_warps_issue_stalled_long_scoreboard"};

struct Context {
  bool is_configured = false, is_started = false;
  CUpti_PCSamplingData* buffer = nullptr;
  std::vector<SampledPc> late;  // rows of the window before
};

struct Sampling {
  std::mutex mutex;
  std::condition_variable cv;
  std::map<CUcontext, Context> contexts;
  std::vector<SampledPc> samples;
  std::deque<std::string> names;  // of functions, which CUPTI never frees
  uint32_t unlocated = 0, windows = 0, period = 0, read_limit = 0, misplaced = 0;
  uint64_t reads = 0;
  bool are_rows_late = false;
  bool is_full = false;
  std::string hanging;
  CuptiStandinRefusal refusal = CuptiStandinRefusal::None;
  size_t support_size = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
};

Sampling& sampling() {
  static auto* const one = new Sampling;
  return *one;
}

// Begins a call that cannot be made while a launch is under way: it hangs until that returns.
std::unique_lock<std::mutex> begin_call(const char* function) {
  Sampling& state = sampling();
  std::unique_lock lock(state.mutex);
  if (library().launching != 0) ++library().disturbed;
  state.cv.wait(lock, [&] { return library().launching == 0 && state.hanging != function; });
  return lock;
}

std::map<CUcontext, Context>::iterator find_context(CUcontext context) {
  const auto found = sampling().contexts.find(context);
  if (found == sampling().contexts.end()) ++sampling().misplaced;
  return found;
}

#define STANDIN_SAMPLING_CALL(function)    \
  {                                        \
    STANDIN_MAY_FAIL(function);            \
  }                                        \
  const auto call = begin_call(#function); \
  const auto found = find_context(parameters->ctx)

uint32_t reason_number(const char* name) {
  const auto* const found = std::find_if(std::begin(kReasons), std::end(kReasons),
                                         [&](const char* one) { return !std::strcmp(one, name); });
  return static_cast<uint32_t>(found - std::begin(kReasons));
}

// What a window leaves in the buffer that was configured.
void fill(Sampling& state, Context& context) {
  CUpti_PCSamplingData& data = *context.buffer;
  // Who reads it clears it.
  if (state.is_full) data.hardwareBufferFull = 1;
  if (state.is_full) return;
  data.nonUsrKernelsTotalSamples += state.unlocated;
  data.totalSamples += state.unlocated;
  for (const SampledPc& sample : state.samples) data.totalSamples += sample.samples;
  std::vector<SampledPc> rows = std::exchange(context.late, {});
  auto& when = state.are_rows_late ? context.late : rows;
  when.insert(when.end(), state.samples.begin(), state.samples.end());
  for (const SampledPc& sample : rows) {
    if (data.totalNumPcs == data.collectNumPcs) continue;
    CUpti_PCSamplingPCData& pc = data.pPcData[data.totalNumPcs++];
    pc.cubinCrc = sample.module;
    pc.pcOffset = sample.pc;
    state.names.emplace_back(sample.function);
    pc.functionName = state.names.back().data();
    pc.stallReasonCount = 1;
    pc.stallReason[0] = {reason_number(sample.stall), sample.samples};
  }
}

void reset() {
  const std::lock_guard lock(sampling().mutex);
  Sampling& state = sampling();
  state.contexts.clear();
  state.samples.clear();
  state.unlocated = state.windows = state.period = state.read_limit = state.misplaced = 0;
  state.reads = 0;
  state.are_rows_late = false;
  library().disturbed = 0;
  library().pc_sampled = 0;
  state.is_full = false;
  library().is_profiler_initialized = false;
  state.hanging.clear();
  state.refusal = CuptiStandinRefusal::None;
  state.support_size = CUpti_Profiler_DeviceSupported_Params_STRUCT_SIZE;
}

void set_samples(const SampledPc* samples, uint32_t count) {
  const std::lock_guard lock(sampling().mutex);
  sampling().samples.assign(samples, samples + count);
}

void set_unlocated(uint32_t samples) {
  const std::lock_guard lock(sampling().mutex);
  sampling().unlocated = samples;
}

void fill_buffer(bool is_full) {
  const std::lock_guard lock(sampling().mutex);
  sampling().is_full = is_full;
}

void limit_reads(uint32_t instructions) {
  const std::lock_guard lock(sampling().mutex);
  sampling().read_limit = instructions;
}

void delay_rows(bool is_late) {
  const std::lock_guard lock(sampling().mutex);
  sampling().are_rows_late = is_late;
}

uint64_t reads() {
  const std::lock_guard lock(sampling().mutex);
  return sampling().reads;
}

void hang(const char* function) {
  const std::lock_guard lock(sampling().mutex);
  sampling().hanging = function != nullptr ? function : "";
  sampling().cv.notify_all();
}

void refuse(CuptiStandinRefusal refusal) {
  const std::lock_guard lock(sampling().mutex);
  sampling().refusal = refusal;
}

void set_support_size(uint32_t bytes) {
  const std::lock_guard lock(sampling().mutex);
  sampling().support_size = bytes;
}

void answer(CuptiStandinRefusal refusal, CUpti_Profiler_DeviceSupported_Params& answer) {
  constexpr auto kUnsupported = CUPTI_PROFILER_CONFIGURATION_UNSUPPORTED;
  answer.isSupported =
      refusal == CuptiStandinRefusal::None ? CUPTI_PROFILER_CONFIGURATION_SUPPORTED : kUnsupported;
  answer.architecture = answer.sli = answer.vGpu = answer.confidentialCompute = answer.cmp =
      CUPTI_PROFILER_CONFIGURATION_SUPPORTED;
  switch (refusal) {
    case CuptiStandinRefusal::ConfidentialComputing:
      answer.confidentialCompute = kUnsupported;
      break;
    case CuptiStandinRefusal::VirtualGpu: answer.vGpu = kUnsupported; break;
    case CuptiStandinRefusal::VirtualGpuOff:
      answer.vGpu = CUPTI_PROFILER_CONFIGURATION_DISABLED;
      break;
    case CuptiStandinRefusal::Architecture: answer.architecture = kUnsupported; break;
    case CuptiStandinRefusal::Sli: answer.sli = kUnsupported; break;
    case CuptiStandinRefusal::Mining: answer.cmp = kUnsupported; break;
    case CuptiStandinRefusal::None:
    case CuptiStandinRefusal::Unnamed: break;
  }
}

template <uint32_t Sampling::* kCount>
uint32_t count() {
  const std::lock_guard lock(sampling().mutex);
  return sampling().*kCount;
}

uint32_t enabled() {
  const std::lock_guard lock(sampling().mutex);
  return static_cast<uint32_t>(sampling().contexts.size());
}

uint32_t disturbed() { return library().disturbed; }

bool is_initialized() { return library().is_profiler_initialized; }

void write_late() {
  const std::lock_guard lock(sampling().mutex);
  for (auto& [context, one] : sampling().contexts) {
    if (one.buffer == nullptr) continue;
    CUpti_PCSamplingPCData& last = one.buffer->pPcData[one.buffer->collectNumPcs - 1];
    last.stallReason[0] = {0, 1};
  }
}

void forget_contexts() {
  const std::lock_guard lock(sampling().mutex);
  sampling().contexts.clear();
  library().pc_sampled = 0;
}

void launch(void (*inside)(void*), void* data) {
  PlayedCall played(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1, nullptr,
                    0);
  played.enter();
  {
    const std::lock_guard lock(sampling().mutex);
    ++library().launching;
  }
  if (inside != nullptr) inside(data);
  {
    const std::lock_guard lock(sampling().mutex);
    --library().launching;
    sampling().cv.notify_all();
  }
  played.exit([](Library&, uint64_t) {});
}

constexpr CuptiStandinSampling kSampling = {reset,
                                            set_samples,
                                            set_unlocated,
                                            fill_buffer,
                                            limit_reads,
                                            delay_rows,
                                            reads,
                                            hang,
                                            refuse,
                                            set_support_size,
                                            count<&Sampling::windows>,
                                            enabled,
                                            count<&Sampling::period>,
                                            disturbed,
                                            count<&Sampling::misplaced>,
                                            is_initialized,
                                            forget_contexts,
                                            write_late,
                                            launch};

}  // namespace
}  // namespace gpufl::standin

using namespace gpufl::standin;

#define STANDIN_EXPORT extern "C" __attribute__((visibility("default")))

STANDIN_EXPORT const CuptiStandinSampling* cupti_standin_sampling() { return &kSampling; }

STANDIN_EXPORT CUptiResult cuptiProfilerInitialize(CUpti_Profiler_Initialize_Params* parameters) {
  STANDIN_MAY_FAIL(cuptiProfilerInitialize);
  if (parameters->structSize != CUpti_Profiler_Initialize_Params_STRUCT_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  library().is_profiler_initialized = true;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiProfilerDeInitialize(CUpti_Profiler_DeInitialize_Params* parameters) {
  if (parameters->structSize != CUpti_Profiler_DeInitialize_Params_STRUCT_SIZE) {
    return CUPTI_ERROR_INVALID_PARAMETER;
  }
  const auto call = begin_call("cuptiProfilerDeInitialize");
  library().is_profiler_initialized = false;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiProfilerDeviceSupported(CUpti_Profiler_DeviceSupported_Params* parameters) {
  {
    STANDIN_MAY_FAIL(cuptiProfilerDeviceSupported);
  }
  const auto call = begin_call("cuptiProfilerDeviceSupported");
  if (!library().is_profiler_initialized) return CUPTI_ERROR_NOT_INITIALIZED;
  if (parameters->structSize != sampling().support_size) return CUPTI_ERROR_INVALID_PARAMETER;
  answer(sampling().refusal, *parameters);
  return CUPTI_SUCCESS;
}

// Whoever enables it asks the driver for things as well: a call of its thread, with callbacks,
// while launches are held.
STANDIN_EXPORT CUptiResult cuptiPCSamplingEnable(CUpti_PCSamplingEnableParams* parameters) {
  gpufl::standin::call(CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuDevicePrimaryCtxRetain,
                       0, nullptr, 0, [](Library&, uint32_t, uint64_t) {});
  {
    STANDIN_MAY_FAIL(cuptiPCSamplingEnable);
  }
  const auto lock = begin_call("cuptiPCSamplingEnable");
  if (library().pm_sampled != 0) return CUPTI_ERROR_HARDWARE_BUSY;
  const bool is_new = sampling().contexts.try_emplace(parameters->ctx).second;
  if (!is_new) return CUPTI_ERROR_INVALID_OPERATION;
  ++library().pc_sampled;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPCSamplingDisable(CUpti_PCSamplingDisableParams* parameters) {
  STANDIN_SAMPLING_CALL(cuptiPCSamplingDisable);
  if (found == sampling().contexts.end()) return CUPTI_ERROR_INVALID_OPERATION;
  sampling().contexts.erase(found);
  --library().pc_sampled;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiPCSamplingGetNumStallReasons(CUpti_PCSamplingGetNumStallReasonsParams* parameters) {
  STANDIN_SAMPLING_CALL(cuptiPCSamplingGetNumStallReasons);
  if (found == sampling().contexts.end()) return CUPTI_ERROR_INVALID_OPERATION;
  *parameters->numStallReasons = std::size(kReasons);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiPCSamplingGetStallReasons(CUpti_PCSamplingGetStallReasonsParams* parameters) {
  STANDIN_SAMPLING_CALL(cuptiPCSamplingGetStallReasons);
  if (found == sampling().contexts.end()) return CUPTI_ERROR_INVALID_OPERATION;
  // In no order, as the device's.
  for (size_t i = 0; i < parameters->numStallReasons && i < std::size(kReasons); ++i) {
    const size_t number = std::size(kReasons) - 1 - i;
    parameters->stallReasonIndex[i] = static_cast<uint32_t>(number);
    std::strncpy(parameters->stallReasons[i], kReasons[number], CUPTI_STALL_REASON_STRING_SIZE - 1);
  }
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult
cuptiPCSamplingSetConfigurationAttribute(CUpti_PCSamplingConfigurationInfoParams* parameters) {
  STANDIN_SAMPLING_CALL(cuptiPCSamplingSetConfigurationAttribute);
  if (found == sampling().contexts.end()) return CUPTI_ERROR_INVALID_OPERATION;
  for (size_t i = 0; i < parameters->numAttributes; ++i) {
    const CUpti_PCSamplingConfigurationInfo& one = parameters->pPCSamplingConfigurationInfo[i];
    switch (one.attributeType) {
      case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD:
        sampling().period = one.attributeData.samplingPeriodData.samplingPeriod;
        break;
      case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER:
        found->second.buffer = static_cast<CUpti_PCSamplingData*>(
            one.attributeData.samplingDataBufferData.samplingDataBuffer);
        break;
      case CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL:
        found->second.is_configured =
            one.attributeData.enableStartStopControlData.enableStartStopControl != 0;
        break;
      default: break;
    }
  }
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPCSamplingStart(CUpti_PCSamplingStartParams* parameters) {
  STANDIN_SAMPLING_CALL(cuptiPCSamplingStart);
  if (found == sampling().contexts.end() || !found->second.is_configured) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  found->second.is_started = true;
  ++sampling().windows;
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPCSamplingStop(CUpti_PCSamplingStopParams* parameters) {
  STANDIN_SAMPLING_CALL(cuptiPCSamplingStop);
  if (found == sampling().contexts.end() || !found->second.is_started) {
    return CUPTI_ERROR_INVALID_OPERATION;
  }
  found->second.is_started = false;
  fill(sampling(), found->second);
  return CUPTI_SUCCESS;
}

STANDIN_EXPORT CUptiResult cuptiPCSamplingGetData(CUpti_PCSamplingGetDataParams* parameters) {
  STANDIN_SAMPLING_CALL(cuptiPCSamplingGetData);
  if (found == sampling().contexts.end()) return CUPTI_ERROR_INVALID_OPERATION;
  auto& out = *static_cast<CUpti_PCSamplingData*>(parameters->pcSamplingData);
  CUpti_PCSamplingData& filled = *found->second.buffer;
  if (filled.hardwareBufferFull != 0) return CUPTI_ERROR_OUT_OF_MEMORY;
  out.totalSamples = filled.totalSamples;
  out.droppedSamples = filled.droppedSamples;
  out.nonUsrKernelsTotalSamples = filled.nonUsrKernelsTotalSamples;
  const size_t limit = sampling().read_limit != 0 ? sampling().read_limit : out.collectNumPcs;
  out.totalNumPcs = std::min({filled.totalNumPcs, out.collectNumPcs, limit});
  out.remainingNumPcs = filled.totalNumPcs - out.totalNumPcs;
  ++sampling().reads;
  for (size_t i = 0; i < out.totalNumPcs; ++i) {
    const CUpti_PCSamplingPCData& from = filled.pPcData[i];
    CUpti_PCSamplingPCData& to = out.pPcData[i];
    CUpti_PCSamplingStallReason* const reasons = to.stallReason;
    to = from;
    to.stallReason = reasons;
    std::copy(from.stallReason, from.stallReason + from.stallReasonCount, reasons);
  }
  filled.totalSamples = filled.droppedSamples = filled.nonUsrKernelsTotalSamples = 0;
  // What is left moves up; each place keeps its own reasons.
  for (size_t i = 0; i < out.remainingNumPcs; ++i) {
    CUpti_PCSamplingPCData& to = filled.pPcData[i];
    CUpti_PCSamplingPCData& from = filled.pPcData[out.totalNumPcs + i];
    std::swap(to, from);
  }
  filled.totalNumPcs = out.remainingNumPcs;
  return CUPTI_SUCCESS;
}
