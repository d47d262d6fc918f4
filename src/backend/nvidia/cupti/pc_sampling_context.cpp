// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/cupti/pc_sampling_context.hpp"

#include <algorithm>

namespace gpufl::backend {
namespace {

// Instructions that one read brings at most; more are read in turns.
constexpr size_t kInstructions = 4096;
constexpr size_t kScratchBytes = size_t{8} << 20;
// More reads than any window has instructions for.
constexpr int kMaxReads = 1024;
// Two of the "reasons" are counts of samples.
constexpr std::string_view kNoReasons[] = {"smsp__pcsamp_sample_count",
                                           "smsp__pcsamp_samples_data_dropped"};

bool is_reason(std::string_view name) {
  return std::find(std::begin(kNoReasons), std::end(kNoReasons), name) == std::end(kNoReasons);
}

Availability outcome(const CuptiApi& api, CUptiResult code, const char* call) {
  if (code == CUPTI_SUCCESS) return {true, "", "", ""};
  return cupti_failure(api, code, call);
}

}  // namespace

uint32_t SampledNames::index(std::string_view name) {
  const auto [found, is_new] =
      indices_.try_emplace(std::string(name), static_cast<uint32_t>(names_.size()));
  if (is_new) names_.emplace_back(name);
  return found->second;
}

void PcSamplingContext::Buffer::resize(size_t instruction_count, size_t reason_count) {
  instructions.assign(instruction_count, {});
  reasons.assign(instruction_count * reason_count, {});
  for (size_t i = 0; i < instruction_count; ++i) {
    instructions[i].size = sizeof(CUpti_PCSamplingPCData);
    instructions[i].stallReason = &reasons[i * reason_count];
  }
  data = {};
  data.size = sizeof data;
  data.collectNumPcs = instruction_count;
  data.pPcData = instructions.data();
}

Availability PcSamplingContext::enable(int period_exponent) {
  CUpti_PCSamplingEnableParams enabling{CUpti_PCSamplingEnableParamsSize, nullptr, context_};
  CUptiResult code = api_.cuptiPCSamplingEnable(&enabling);
  if (code != CUPTI_SUCCESS) return outcome(api_, code, "cuptiPCSamplingEnable(&parameters)");
  // Both are refused before.
  const char* call = "cuptiPCSamplingGetStallReasons(&parameters)";
  code = read_reasons();
  if (code == CUPTI_SUCCESS) {
    call = "cuptiPCSamplingSetConfigurationAttribute(&parameters)";
    code = configure(period_exponent);
  }
  if (code == CUPTI_SUCCESS) return {true, "", "", ""};
  disable();
  return outcome(api_, code, call);
}

CUptiResult PcSamplingContext::read_reasons() {
  size_t count = 0;
  CUpti_PCSamplingGetNumStallReasonsParams counting{CUpti_PCSamplingGetNumStallReasonsParamsSize,
                                                    nullptr, context_, &count};
  if (const CUptiResult code = api_.cuptiPCSamplingGetNumStallReasons(&counting);
      code != CUPTI_SUCCESS) {
    return code;
  }
  reason_indices_.assign(count, 0);
  std::vector<char> texts(count * CUPTI_STALL_REASON_STRING_SIZE);
  std::vector<char*> names(count);
  for (size_t i = 0; i < count; ++i) names[i] = &texts[i * CUPTI_STALL_REASON_STRING_SIZE];
  CUpti_PCSamplingGetStallReasonsParams naming{CUpti_PCSamplingGetStallReasonsParamsSize,
                                               nullptr,
                                               context_,
                                               count,
                                               reason_indices_.data(),
                                               names.data()};
  const CUptiResult code = api_.cuptiPCSamplingGetStallReasons(&naming);
  for (size_t i = 0; code == CUPTI_SUCCESS && i < count; ++i) {
    names[i][CUPTI_STALL_REASON_STRING_SIZE - 1] = '\0';
    if (is_reason(names[i])) reason_names_[reason_indices_[i]] = names[i];
  }
  return code;
}

CUptiResult PcSamplingContext::configure(int period_exponent) {
  filled_.resize(kInstructions, reason_indices_.size());
  taken_.resize(kInstructions, reason_indices_.size());
  std::vector<CUpti_PCSamplingConfigurationInfo> attributes;
  const auto attribute = [&](CUpti_PCSamplingConfigurationAttributeType type) -> auto& {
    attributes.push_back({});
    attributes.back().attributeType = type;
    return attributes.back().attributeData;
  };
  attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_COLLECTION_MODE)
      .collectionModeData.collectionMode = CUPTI_PC_SAMPLING_COLLECTION_MODE_CONTINUOUS;
  // Without it no launch gets on for as long as sampling is configured.
  attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_ENABLE_START_STOP_CONTROL)
      .enableStartStopControlData.enableStartStopControl = 1;
  attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_PERIOD)
      .samplingPeriodData.samplingPeriod = static_cast<uint32_t>(period_exponent);
  auto& reasons = attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_STALL_REASON).stallReasonData;
  reasons.stallReasonCount = reason_indices_.size();
  reasons.pStallReasonIndex = reason_indices_.data();
  attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_HARDWARE_BUFFER_SIZE)
      .hardwareBufferSizeData.hardwareBufferSize = kHardwareBufferBytes;
  attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SCRATCH_BUFFER_SIZE)
      .scratchBufferSizeData.scratchBufferSize = kScratchBytes;
  attribute(CUPTI_PC_SAMPLING_CONFIGURATION_ATTR_TYPE_SAMPLING_DATA_BUFFER)
      .samplingDataBufferData.samplingDataBuffer = &filled_.data;
  CUpti_PCSamplingConfigurationInfoParams parameters{CUpti_PCSamplingConfigurationInfoParamsSize,
                                                     nullptr, context_, attributes.size(),
                                                     attributes.data()};
  return api_.cuptiPCSamplingSetConfigurationAttribute(&parameters);
}

Availability PcSamplingContext::open_window() {
  filled_.data.hardwareBufferFull = 0;  // of the window before; nobody else clears it
  CUpti_PCSamplingStartParams parameters{CUpti_PCSamplingStartParamsSize, nullptr, context_};
  return outcome(api_, api_.cuptiPCSamplingStart(&parameters), "cuptiPCSamplingStart(&parameters)");
}

Availability PcSamplingContext::close_window(SampleWindow& window) {
  CUpti_PCSamplingStopParams parameters{CUpti_PCSamplingStopParamsSize, nullptr, context_};
  const CUptiResult stopped = api_.cuptiPCSamplingStop(&parameters);
  if (stopped != CUPTI_SUCCESS && stopped != CUPTI_ERROR_OUT_OF_MEMORY) {
    return outcome(api_, stopped, "cuptiPCSamplingStop(&parameters)");
  }
  const CUptiResult code = take(window);
  // The hardware's buffer was full: this window brings nothing.
  if (code == CUPTI_ERROR_OUT_OF_MEMORY || window.is_buffer_full) {
    window = {};
    window.is_buffer_full = true;
    return {true, "", "", ""};
  }
  return outcome(api_, code, "cuptiPCSamplingGetData(&parameters)");
}

// CUPTI has filled the buffer that it was configured with. Reading moves that to ours, and empties
// it.
CUptiResult PcSamplingContext::take(SampleWindow& window) {
  window.is_buffer_full = filled_.data.hardwareBufferFull != 0;
  for (int reads = 0; reads < kMaxReads; ++reads) {
    CUpti_PCSamplingGetDataParams parameters{CUpti_PCSamplingGetDataParamsSize, nullptr, context_,
                                             &taken_.data};
    const CUptiResult code = api_.cuptiPCSamplingGetData(&parameters);
    if (code != CUPTI_SUCCESS) return code;
    const CUpti_PCSamplingData& data = taken_.data;
    window.total += data.totalSamples;
    window.dropped += data.droppedSamples;
    window.unlocated += data.nonUsrKernelsTotalSamples;
    const size_t count = std::min(data.totalNumPcs, taken_.instructions.size());
    for (const CUpti_PCSamplingPCData* pc = data.pPcData; pc != data.pPcData + count; ++pc) {
      const uint32_t function =
          window.functions.index(pc->functionName != nullptr ? pc->functionName : "");
      const size_t reasons = std::min(pc->stallReasonCount, reason_indices_.size());
      for (size_t i = 0; i < reasons; ++i) {
        const CUpti_PCSamplingStallReason& reason = pc->stallReason[i];
        const auto name = reason_names_.find(reason.pcSamplingStallReasonIndex);
        if (reason.samples == 0 || name == reason_names_.end()) continue;
        window.samples.push_back({pc->cubinCrc, pc->pcOffset, function,
                                  window.stalls.index(name->second), reason.samples});
      }
    }
    if (data.remainingNumPcs == 0) break;
  }
  return CUPTI_SUCCESS;
}

Availability PcSamplingContext::disable() {
  CUpti_PCSamplingDisableParams parameters{CUpti_PCSamplingDisableParamsSize, nullptr, context_};
  return outcome(api_, api_.cuptiPCSamplingDisable(&parameters),
                 "cuptiPCSamplingDisable(&parameters)");
}

}  // namespace gpufl::backend
