// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <cupti.h>

#include "tests/standin/cupti/standin_sampling.hpp"
#include "tests/trace/tracer_fixture.hpp"

// A tracer that is asked for samples of the program counter.
namespace gpufl::backend {

constexpr PcSamplingOptions kQuick{
    .period_exponent = 12, .window_ns = 100'000, .pause_ns = 100'000};

class SamplingFixture : public TracerFixture {
 protected:
  void SetUp() override {
    TracerFixture::SetUp();
    void* handle = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW);
    sampling_ = reinterpret_cast<standin::CuptiStandinSamplingFunction*>(
        dlsym(handle, "cupti_standin_sampling"))();
    sampling_->reset();
    for (const char* function : {"cuptiPCSamplingEnable", "cuptiPCSamplingStart"}) {
      standin_->fail(function, 0);
    }
  }
  void TearDown() override {
    sampling_->hang(nullptr);
    tracer_.reset();
  }

  void begin(const PcSamplingOptions& options = kQuick) {
    ASSERT_TRUE(start({.pc_sampling = options}).available);
    callbacks_->resource(CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
  }
  // What the session says of PC sampling that it asked for and does not have.
  std::string lacking() {
    for (const base::Json& line : sink_.lines[format::Kind::Capability]) {
      if (line["asked"].as_string() == "PcSampling") return line["reason"].as_string();
    }
    return "";
  }

  const standin::CuptiStandinSampling* sampling_ = nullptr;
};

}  // namespace gpufl::backend
