// SPDX-License-Identifier: Apache-2.0
#include "bench/analysis/shape_log.hpp"

#include <algorithm>
#include <utility>

#include "base/json.hpp"

namespace gpufl::bench {

using base::Json;
using format::Batch;
using format::Dict;
using format::Kind;

base::Result<ShapeLog> ShapeLog::create(const std::filesystem::path& folder, int64_t number) {
  format::SessionHeader header;
  header.session_id =
      format::make_session_id(number * 1'000'000'000, static_cast<uint64_t>(number));
  header.run_id = "shapes";
  header.app_name = "shapes_bench";
  header.gpufl_version = "0";
  header.engine = "Trace";
  header.backend = "synthetic";
  header.start_wall_ns = 1'794'714'312'000'000'000 + number;
  header.rank = number;
  format::LogOptions options;
  options.session_dir = folder;
  options.disk_floor_bytes = 0;
  auto log = format::LogWriter::create(options, header);
  if (!log) return log.status();
  return ShapeLog(std::move(*log));
}

int64_t ShapeLog::config(std::string_view kernel, int64_t blocks) {
  const auto row_of = [](int64_t size) {
    Json sizes = Json::array();
    for (const int64_t axis : {size, int64_t{1}, int64_t{1}}) sizes.push(axis);
    return sizes;
  };
  Json value = Json::object();
  value.set("name", name(kernel)).set("grid", row_of(blocks)).set("block", row_of(256));
  return log_->intern(Dict::Config, value.dump());
}

int64_t ShapeLog::stack_at(int64_t line) {
  Json frame = Json::object();
  frame.set("function", name("train_step"));
  frame.set("file", log_->intern(Dict::Text, "/home/me/train.py")).set("line", line);
  Json frames = Json::array();
  frames.push(log_->intern(Dict::Frame, frame.dump()));
  return log_->intern(Dict::Stack, Json::object().set("frames", std::move(frames)).dump());
}

void ShapeLog::kernel(int64_t start_ns, int64_t duration_ns, int64_t config,
                      const RowPlace& place) {
  namespace column = format::kernel_column;
  constexpr int64_t kCallNs = 2'000;
  Batch& rows = rows_of(Kind::Kernel);
  const auto put = [&](size_t i, int64_t value) { rows.mutable_column(i).push_back(value); };
  put(column::kStart, start_ns);
  put(column::kDuration, duration_ns);
  put(column::kConfig, config);
  put(column::kDevice, place.device);
  put(column::kContext, place.device + 1);
  put(column::kStream, place.stream);
  put(column::kCorrelation, ++correlation_);
  put(column::kApiStart, start_ns - 2 * kCallNs);
  put(column::kApiDuration, kCallNs);
  put(column::kThread, place.thread);
  put(column::kScope, place.scope);
  put(column::kStack, place.stack);
  note(start_ns + duration_ns, rows);
}

void ShapeLog::wait(int64_t start_ns, int64_t duration_ns, const RowPlace& place) {
  namespace column = format::sync_column;
  constexpr int64_t kStreamSynchronize = 3;
  Batch& rows = rows_of(Kind::Sync);
  const auto put = [&](size_t i, int64_t value) { rows.mutable_column(i).push_back(value); };
  put(column::kStart, start_ns);
  put(column::kDuration, duration_ns);
  put(column::kDevice, place.device);
  put(column::kContext, place.device + 1);
  put(column::kStream, place.stream);
  put(column::kCorrelation, ++correlation_);
  put(column::kThread, place.thread);
  put(column::kScope, place.scope);
  put(column::kStack, place.stack);
  put(column::kWaitKind, kStreamSynchronize);
  note(start_ns + duration_ns, rows);
}

int64_t ShapeLog::scope(std::string_view scope_name, int64_t start_ns, int64_t duration_ns,
                        int64_t parent, int64_t thread) {
  Batch& rows = rows_of(Kind::Scope);
  const auto put = [&](size_t i, int64_t value) { rows.mutable_column(i).push_back(value); };
  namespace column = format::scope_column;
  put(column::kId, ++scopes_);
  put(column::kParent, parent);
  put(column::kThread, thread);
  put(column::kName, name(scope_name));
  put(column::kStart, start_ns);
  put(column::kDuration, duration_ns);
  note(start_ns + duration_ns, rows);
  return scopes_;
}

void ShapeLog::counter(int64_t time_ns, int64_t counter_name, int64_t value) {
  Batch& rows = rows_of(Kind::Counter);
  const auto put = [&](size_t i, int64_t entry) { rows.mutable_column(i).push_back(entry); };
  namespace column = format::counter_column;
  put(column::kTime, time_ns);
  put(column::kName, counter_name);
  put(column::kValue, value);
  note(time_ns, rows);
}

void ShapeLog::operation(int64_t start_ns, int64_t duration_ns, int64_t op_name, int64_t thread) {
  constexpr int64_t kOperator = 1;
  Batch& rows = rows_of(Kind::Marker);
  const auto put = [&](size_t i, int64_t value) { rows.mutable_column(i).push_back(value); };
  namespace column = format::marker_column;
  put(column::kShape, static_cast<int64_t>(format::MarkerShape::PushPop));
  put(column::kStart, start_ns);
  put(column::kDuration, duration_ns);
  put(column::kThread, thread);
  put(column::kEndThread, thread);
  put(column::kDomain, name("torch.op"));
  put(column::kName, op_name);
  put(column::kCategory, kOperator);
  note(start_ns + duration_ns, rows);
}

Batch& ShapeLog::rows_of(Kind kind) { return batches_.try_emplace(kind, kind).first->second; }

// The row is whole.
void ShapeLog::note(int64_t end_ns, Batch& rows) {
  constexpr size_t kRowsPerBatch = 16'384;
  end_ns_ = std::max(end_ns_, end_ns);
  rows.set_rows(rows.rows() + 1);
  if (rows.rows() == kRowsPerBatch) write(rows);
}

void ShapeLog::write(Batch& rows) {
  if (rows.empty()) return;
  log_->write(rows);
  rows.clear();
  if (auto status = log_->flush(end_ns_); !status && status_) status_ = std::move(status);
}

base::Status ShapeLog::finish() {
  for (auto& [kind, rows] : batches_) write(rows);
  auto status = log_->close(end_ns_, {});
  return status_ ? status : status_;
}

}  // namespace gpufl::bench
