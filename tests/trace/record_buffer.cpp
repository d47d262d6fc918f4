// SPDX-License-Identifier: Apache-2.0
#include "tests/trace/record_buffer.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

#include <gtest/gtest.h>

#include "tests/standin/cupti/cupti_standin.hpp"

namespace gpufl::backend {
namespace {

constexpr uint32_t kVersion = 130'001;
constexpr size_t kKernelBytes = 216;

}  // namespace

std::shared_ptr<CuptiLibrary> open_standin_cupti() {
  setenv("GPUFL_CUPTI_LIBRARY", GPUFL_STANDIN_CUPTI, 1);
  Availability why;
  auto library = CuptiLibrary::open(why);
  EXPECT_NE(library, nullptr) << why.detail;
  auto* const function = reinterpret_cast<standin::CuptiStandinFunction*>(
      dlsym(dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW), "cupti_standin"));
  function()->reset(kVersion);
  return library;
}

void RecordBuffer::append(const void* record, size_t bytes, size_t size) {
  const size_t at = words_.size();
  words_.resize(at + size / sizeof(uint64_t));
  std::memcpy(&words_[at], record, bytes);
}

void RecordBuffer::kernel(uint32_t id, uint32_t context, int64_t start_ns, int64_t duration_ns,
                          uint64_t node, uint32_t stream) {
  CUpti_ActivityKernel9 record{};
  record.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
  record.start = static_cast<uint64_t>(start_ns);
  record.end = static_cast<uint64_t>(start_ns + duration_ns);
  record.contextId = context;
  record.streamId = stream != 0 ? stream : id;
  record.gridX = record.gridY = record.gridZ = record.blockY = record.blockZ = 1;
  record.blockX = 32;
  record.correlationId = id;
  record.name = "kernel";
  record.graphNodeId = node;
  record.graphId = node != 0 ? 5 : 0;
  add(record, kKernelBytes);
}

void RecordBuffer::call(uint32_t id, uint32_t thread, int64_t start_ns, uint32_t result,
                        CUpti_CallbackId function) {
  CUpti_ActivityAPI record{};
  record.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
  record.cbid = function;
  record.start = static_cast<uint64_t>(start_ns);
  record.end = record.start + 100;
  record.threadId = thread;
  record.correlationId = id;
  record.returnValue = result;
  add(record);
}

void RecordBuffer::decode(ActivityDecoder& decoder, int64_t latest_ns, RowSink& sink) {
  decoder.decode(reinterpret_cast<uint8_t*>(words_.data()), words_.size() * sizeof(uint64_t),
                 latest_ns, sink);
  words_.clear();
}

}  // namespace gpufl::backend
