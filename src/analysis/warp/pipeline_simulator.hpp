// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analysis/session/test_tables.hpp"
#include "format/warp_launch.hpp"

// A kernel with one producer and several consumer groups, run on paper: every time in it follows
// from the parameters, so figures can be compared with what they must be. For tests only.
namespace gpufl::analysis::testing {

struct Pipeline {
  int64_t launch = 1;
  int64_t start_ns = 1'000'000;
  int64_t blocks = 4;
  int64_t iterations = 64;
  int64_t stages = 4;
  int64_t consumers = 1;
  int64_t load_ns = 400, mma_ns = 1'000;
  int64_t last_consumer_extra_ns = 0;  // its mma takes longer
  int64_t consumer_gap_ns = 0;         // after each mma, in which nothing is open
  int64_t tick_ns = 1;                 // to which stamps are cut
  bool has_payload = true;
  bool has_flows = true;
  int64_t sms = 2;
  int64_t block_delay_ns = 0;  // each block starts so much after the one before
  std::string kernel = "gemm";
  int64_t correlation = 0;
};

class PipelineSimulator {
 public:
  PipelineSimulator(TestSession& session, const Pipeline& pipeline)
      : session_(session), pipe_(pipeline) {
    rows_ = &session.data.tables.others.try_emplace(format::Kind::WarpSpan, format::Kind::WarpSpan)
                 .first->second;
  }

  // Adds the rows and the line. The time of the last record.
  int64_t run() {
    int64_t end = pipe_.start_ns;
    for (int64_t block = 0; block < pipe_.blocks; ++block) {
      end = std::max(end, run_block(block, pipe_.start_ns + block * pipe_.block_delay_ns));
    }
    add_line(end);
    return end;
  }

 private:
  int64_t run_block(int64_t block, int64_t start) {
    const auto count = static_cast<size_t>(pipe_.iterations);
    std::vector<int64_t> full(count), empty(count);
    int64_t producer = start, end = start;
    std::vector<int64_t> consumers(static_cast<size_t>(pipe_.consumers), start);
    for (size_t i = 0; i < count; ++i) {
      const auto stages = static_cast<size_t>(pipe_.stages);
      const auto stage = static_cast<int64_t>(i % stages);
      const auto phase = static_cast<int64_t>((i / stages) % 2);
      const int64_t before = producer;
      if (i >= stages) producer = std::max(producer, empty[i - stages]);
      // A slot is empty at first: the producer waits for the phase before.
      add(block, 0, "wait_empty", before, producer, stage + (1 - phase) * 65'536);
      add(block, 0, "load", producer, producer + pipe_.load_ns, stage + phase * 65'536);
      producer += pipe_.load_ns;
      full[i] = producer;
      for (size_t c = 0; c < consumers.size(); ++c) {
        int64_t& now = consumers[c];
        const auto group = static_cast<int64_t>(c + 1);
        const int64_t ready = std::max(now, full[i]);
        add(block, group, "wait_full", now, ready, stage + phase * 65'536);
        now = ready + pipe_.mma_ns;
        if (c + 1 == consumers.size()) now += pipe_.last_consumer_extra_ns;
        add(block, group, "mma", ready, now, stage + phase * 65'536);
        empty[i] = std::max(empty[i], now);
        end = std::max(end, now);
        now += pipe_.consumer_gap_ns;
      }
    }
    return std::max(end, producer);
  }

  void add(int64_t block, int64_t group, std::string_view event, int64_t start, int64_t end,
           int64_t payload) {
    const int64_t from = start / pipe_.tick_ns * pipe_.tick_ns;
    const int64_t to = end / pipe_.tick_ns * pipe_.tick_ns;
    rows_->push_row({from, to - from, 0, pipe_.launch, pipe_.correlation, block % pipe_.sms, block,
                     group, static_cast<int64_t>(session_.name(event)), 0,
                     pipe_.has_payload ? payload : -1, 0, 0});
  }

  void add_line(int64_t end) {
    format::WarpLaunch line;
    line.launch = pipe_.launch;
    line.time_ns = pipe_.start_ns;
    line.duration_ns = end - pipe_.start_ns;
    line.kernel = pipe_.kernel;
    line.device = 0;
    line.correlation = pipe_.correlation;
    line.blocks = pipe_.blocks;
    line.groups = 1 + pipe_.consumers;
    line.group_names = {"producer"};
    for (int64_t c = 0; c < pipe_.consumers; ++c) {
      line.group_names.push_back(pipe_.consumers == 1 ? "consumer"
                                                      : "consumer " + std::to_string(c));
    }
    line.waits = {"wait_full", "wait_empty"};
    if (pipe_.has_flows) line.flows = {{"load", "wait_full"}, {"mma", "wait_empty"}};
    line.tick_ps = pipe_.tick_ns * 1'000;
    line.error_ns = 100;
    line.records = pipe_.blocks * pipe_.iterations * (4 + 4 * pipe_.consumers);
    line.offered = line.records;
    line.dropped = 0;
    session_.data.tables.warp_launches.push_back(std::move(line));
  }

  TestSession& session_;
  const Pipeline pipe_;
  format::Batch* rows_;
};

inline int64_t add_pipeline(TestSession& session, const Pipeline& pipeline) {
  return PipelineSimulator(session, pipeline).run();
}

}  // namespace gpufl::analysis::testing
