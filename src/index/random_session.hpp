// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "format/test_session.hpp"

// Sessions of awkward shapes, drawn by chance: kernels that overlap on a stream, branches of
// graphs that share one call, a scope as long as the session, ranges that do not nest, bursts and
// pauses, instants, tracks with a single event. For tests only.
namespace gpufl::index::testing {

class RandomSession {
 public:
  RandomSession(const std::filesystem::path& dir, uint64_t seed, uint64_t window_bytes = 20'000)
      : random_(seed) {
    format::LogOptions options = format::testing::test_options(dir);
    options.window_bytes = window_bytes;
    writer_ = format::testing::make_writer(options);
    for (int i = 0; i < 5; ++i) {
      const std::string name = "kernel_" + std::to_string(i);
      names_.push_back(writer_->intern(format::Dict::Name, name));
      // Two configurations of each kernel.
      for (int grid = 1; grid <= 2; ++grid) {
        configs_.push_back(writer_->intern(
            format::Dict::Config, "{\"name\":" + std::to_string(names_.back()) + ",\"grid\":[" +
                                      std::to_string(grid) + ",1,1],\"block\":[32,1,1]}"));
      }
    }
  }

  // Everything that happens in one stretch of time.
  void add(size_t events) {
    format::Batch kernels(format::Kind::Kernel);
    format::Batch copies(format::Kind::Memcpy);
    format::Batch scopes(format::Kind::Scope);
    format::Batch markers(format::Kind::Marker);
    format::Batch waits(format::Kind::Sync);
    for (size_t i = 0; i < events; ++i) {
      now_ += below(20) == 0 ? below(50'000'000) : below(4'000);
      const int64_t stream = below(10) == 0 ? 9 : below(3);
      const int64_t length = below(30) == 0 ? below(3'000'000) : below(5'000);
      const int64_t thread = 100 + below(2);
      const int64_t branches = below(12) == 0 ? 1 + below(6) : 1;
      const int64_t call = now_ - below(now_ / 2 + 1);
      const int64_t call_length = below(3'000);
      for (int64_t branch = 0; branch < branches; ++branch) {
        push(kernels, {{format::kernel_column::kStart, now_ + below(branches * 100)},
                       {format::kernel_column::kDuration, length},
                       {format::kernel_column::kConfig, configs_[static_cast<size_t>(below(10))]},
                       {format::kernel_column::kDevice, stream / 5},
                       {format::kernel_column::kContext, 1},
                       {format::kernel_column::kStream, stream},
                       {format::kernel_column::kApiStart, below(15) == 0 ? -1 : call},
                       {format::kernel_column::kApiDuration, call_length},
                       {format::kernel_column::kThread, thread}});
      }
      if (below(5) == 0) {
        push(copies, {{format::memcpy_column::kStart, now_},
                      {format::memcpy_column::kDuration, below(100'000)},
                      {format::memcpy_column::kStream, stream},
                      {format::memcpy_column::kApiStart, now_ - 10},
                      {format::memcpy_column::kApiDuration, 5},
                      {format::memcpy_column::kThread, thread},
                      {format::memcpy_column::kBytes, 64},
                      {format::memcpy_column::kRoute, 1 + below(3)}});
      }
      if (below(4) == 0) {
        const int64_t depth = below(3);
        push(scopes, {{format::scope_column::kId, ++scope_},
                      {format::scope_column::kThread, thread},
                      {format::scope_column::kDepth, depth},
                      {format::scope_column::kName, names_[static_cast<size_t>(below(5))]},
                      {format::scope_column::kStart, now_},
                      {format::scope_column::kDuration, below(8) == 0 ? 0 : below(20'000)}});
      }
      if (below(6) == 0) {
        const bool is_mark = below(3) == 0;
        push(markers, {{format::marker_column::kShape, is_mark ? 0 : 1},
                       {format::marker_column::kStart, now_ - below(10'000)},
                       {format::marker_column::kDuration, is_mark ? 0 : below(200'000)},
                       {format::marker_column::kThread, thread},
                       {format::marker_column::kName, names_[static_cast<size_t>(below(5))]},
                       {format::marker_column::kDomain, is_mark ? 0 : names_[0]}});
      }
      if (below(50) == 0) {
        push(waits, {{format::sync_column::kStart, now_},
                     {format::sync_column::kDuration, below(9'000'000)},
                     {format::sync_column::kThread, thread},
                     {format::sync_column::kWaitKind, 3}});
      }
    }
    for (const format::Batch* batch : {&kernels, &copies, &scopes, &markers, &waits}) {
      if (!batch->empty()) writer_->write(*batch);
    }
    (void)writer_->flush(now_);
  }

  // A scope that began with the session, and has not ended.
  void open_scope() {
    format::Batch open(format::Kind::ScopeOpen);
    push(open, {{format::scope_open_column::kId, 1'000'000},
                {format::scope_open_column::kThread, 500},
                {format::scope_open_column::kName, names_[0]},
                {format::scope_open_column::kStart, 5}});
    writer_->write(open);
    (void)writer_->flush(now_);
  }
  void close_scope() {
    format::Batch scopes(format::Kind::Scope);
    push(scopes, {{format::scope_column::kId, 1'000'000},
                  {format::scope_column::kThread, 500},
                  {format::scope_column::kName, names_[0]},
                  {format::scope_column::kStart, 5},
                  {format::scope_column::kDuration, now_}});
    writer_->write(scopes);
    (void)writer_->flush(now_);
  }
  void close() { (void)writer_->close(now_ + 10, format::Ledger()); }
  // As kill -9 leaves it.
  void kill() { writer_.reset(); }

  int64_t now() const { return now_; }
  int64_t below(int64_t bound) {
    return static_cast<int64_t>(random_() % static_cast<uint64_t>(std::max<int64_t>(bound, 1)));
  }

  // Batches in any order, for shapes that chance does not bring.
  using Values = std::initializer_list<std::pair<size_t, int64_t>>;
  void write(const format::Batch& batch) {
    writer_->write(batch);
    (void)writer_->flush(now_);
  }
  int64_t name(size_t number) const { return names_[number % names_.size()]; }
  int64_t config(size_t number) const { return configs_[number % configs_.size()]; }
  // A row with these values, and of other columns what stands for "unknown".
  static void push(format::Batch& batch, Values values) {
    const auto columns = batch.kind_spec().columns;
    for (size_t i = 0; i < columns.size(); ++i) {
      const int64_t absent = columns[i].is_time() ? -1 : columns[i].absent;
      batch.mutable_column(i).push_back(absent);
    }
    for (const auto& [column, value] : values) batch.mutable_column(column).back() = value;
    batch.set_rows(batch.rows() + 1);
  }

 private:
  std::mt19937_64 random_;
  std::unique_ptr<format::LogWriter> writer_;
  std::vector<int64_t> names_, configs_;
  int64_t now_ = 1'000'000;
  int64_t scope_ = 0;
};

}  // namespace gpufl::index::testing
