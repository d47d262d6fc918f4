// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <gtest/gtest.h>

#include "backend/nvidia/cupti/activity_decoder.hpp"
#include "backend/recording_sink.hpp"
#include "tests/trace/record_buffer.hpp"

// A decoder by itself: notes and records in, those of calls too, rows and counts out. Times are
// session time.
namespace gpufl::backend {

constexpr int64_t kSecondNs = 1'000'000'000;

class Decoder : public testing::Test {
 public:
  static constexpr uint32_t kThread = 4711, kContext = 1;

 protected:
  explicit Decoder(const TraceOptions& options = {.call_records = true})
      : cupti_(open_standin_cupti()), decoder_(cupti_->api(), devices_, {}, options) {}

  void note(CallNoteKind kind, uint32_t id, int64_t time_ns = kSecondNs, uint32_t stack = 0) {
    CallNote note{};
    note.time_ns = time_ns;
    note.correlation = id;
    note.context = kContext;
    note.stack = stack;
    note.function = kind == CallNoteKind::CallBegin ? CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize
                                                    : CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel;
    note.kind = kind;
    decoder_.joiner().note(note, kThread, sink_);
  }
  void launch(uint32_t id, int64_t time_ns = kSecondNs) {
    note(CallNoteKind::Launch, id, time_ns);
    records_.call(id, kThread, time_ns);
  }
  void decode(bool flushed = true, int64_t now_ns = kSecondNs) {
    records_.decode(decoder_, 3'600 * kSecondNs, sink_);
    decoder_.joiner().submit(flushed, now_ns, sink_);
  }
  const CallCounts& finish() {
    records_.decode(decoder_, 3'600 * kSecondNs, sink_);
    decoder_.joiner().finish(sink_);
    return decoder_.account().counts();
  }

  CudaDriver driver_;
  DeviceNumbers devices_{driver_, {}};
  std::shared_ptr<CuptiLibrary> cupti_;
  RecordBuffer records_;
  RecordingSink sink_;
  ActivityDecoder decoder_;
};

// Asks for stacks; those that rows get are the notes'.
class Stacks : public StackRecorder {
 public:
  uint32_t record() noexcept override { return 0; }
};
inline Stacks stacks;

}  // namespace gpufl::backend
