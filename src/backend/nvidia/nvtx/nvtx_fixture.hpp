// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nvtx3/nvToolsExt.h>

#include "backend/markers/marker_source.hpp"
#include "backend/nvidia/nvtx/nvtx_injection.hpp"
#include "backend/recording_sink.hpp"
#include "base/clock.hpp"
#include "base/decimal.hpp"

// For tests: the program's side of NVTX, its headers, is in this process, linked to the recorder
// the way that NVTX offers for static injection; and a session of markers for each test.
namespace gpufl::backend {

using base::Decimal;
using format::Kind;
using format::MarkerShape;
namespace column = format::marker_column;

struct Marker {
  MarkerShape shape;
  std::string name, domain;
  int64_t start_ns, duration_ns, thread, scope, category, color;
  std::optional<uint64_t> id;
  std::optional<int64_t> end_thread;
  std::optional<Decimal> payload;
};

inline std::optional<int64_t> if_present(int64_t value) {
  if (value == RecordingSink::kAbsent) return {};
  return value;
}

// The text of a marker with what a test wrote into it: "push 'step' in 'NCCL' category 3".
inline std::string describe(const Marker& marker) {
  constexpr const char* kShapes[] = {"mark", "push", "start"};
  std::string text = kShapes[static_cast<size_t>(marker.shape)];
  text += " '" + marker.name + "'";
  if (!marker.domain.empty()) text += " in '" + marker.domain + "'";
  if (marker.category != 0) text += " category " + std::to_string(marker.category);
  if (marker.color != 0) text += " color " + std::to_string(marker.color);
  if (marker.payload) {
    text += " payload " + std::to_string(marker.payload->digits) + "e" +
            std::to_string(marker.payload->exponent);
  }
  return text;
}

inline nvtxEventAttributes_t attributes_of(const char* message) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = message;
  return attributes;
}

class Gate : public CaptureGate {
 public:
  bool is_open(int64_t) const override { return true; }
  void on_profiler_start(int64_t) noexcept override {}
  void on_profiler_stop(int64_t) noexcept override {}
  void on_range(std::string_view name, bool begins, int64_t monotonic_ns) noexcept override {
    edges.push_back((begins ? "+" : "-") + std::string(name));
    times.push_back(monotonic_ns);
  }
  std::vector<std::string> edges;
  std::vector<int64_t> times;
};

// Counts: every stack is another.
class CountedStacks : public StackRecorder {
 public:
  uint32_t record() noexcept override { return ++count; }
  uint32_t count = 0;
};

class NvtxTest : public testing::Test {
 protected:
  void SetUp() override {
    InitializeInjectionNvtx2_fnptr = start_nvtx_injection;
    nvtxInitialize(nullptr);
    begin();
  }
  void begin() {
    source_.reset();
    sink_ = {};
    source_ = make_marker_source(&gate_, &stacks_);
    start_ns_ = base::monotonic_ns();
    const Availability started = source_->start(start_ns_);
    ASSERT_TRUE(started.available) << started.reason;
  }
  int64_t now() const { return base::monotonic_ns() - start_ns_; }
  void drain() { source_->drain(now(), sink_); }
  void finish() {
    source_->stop();
    drain();
  }
  format::Ledger account() {
    format::Ledger ledger;
    source_->account(ledger);
    return ledger;
  }
  std::vector<Marker> markers() {
    std::vector<Marker> out;
    for (const RecordingSink::Row& row : sink_.rows[Kind::Marker]) {
      Marker marker;
      marker.shape = static_cast<MarkerShape>(row[column::kShape]);
      marker.name = sink_.value(format::Dict::Name, row[column::kName]);
      if (row[column::kDomain] != 0) {
        marker.domain = sink_.value(format::Dict::Name, row[column::kDomain]);
      }
      marker.start_ns = row[column::kStart];
      marker.duration_ns = row[column::kDuration];
      marker.thread = row[column::kThread];
      marker.scope = row[column::kScope];
      marker.category = row[column::kCategory];
      marker.color = row[column::kColor];
      if (const auto id = if_present(row[column::kId])) marker.id = static_cast<uint64_t>(*id);
      marker.end_thread = if_present(row[column::kEndThread]);
      if (const auto digits = if_present(row[column::kPayload])) {
        marker.payload = Decimal{*digits, row[column::kPayloadExponent]};
      }
      out.push_back(std::move(marker));
    }
    return out;
  }
  std::vector<std::string> descriptions() {
    std::vector<std::string> out;
    for (const Marker& marker : markers()) out.push_back(describe(marker));
    return out;
  }

  Gate gate_;
  CountedStacks stacks_;
  RecordingSink sink_;
  std::unique_ptr<MarkerSource> source_;
  int64_t start_ns_ = 0;
};

using Texts = std::vector<std::string>;

}  // namespace gpufl::backend
