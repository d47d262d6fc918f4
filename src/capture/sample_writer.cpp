// SPDX-License-Identifier: Apache-2.0
#include "capture/sample_writer.hpp"

namespace gpufl::capture {

void SampleWriter::write(const std::vector<Sample>& samples) {
  // Not empty only when memory ran out half way through a row.
  for (format::Batch* rows : {&device_rows_, &host_rows_, &process_rows_, &blind_process_rows_}) {
    rows->clear();
  }
  for (const Sample& sample : samples) {
    for (const backend::MetricValue& value : sample.device_values) {
      device_rows_.push_row({sample.time_ns, value.device, value.index,
                             log_.intern(format::Dict::Metric, value.metric), value.value});
    }
    for (const backend::MetricValue& value : sample.host_values) {
      host_rows_.push_row({sample.time_ns, value.index,
                           log_.intern(format::Dict::Metric, value.metric), value.value});
    }
    add_processes(sample);
    write_events(sample);
  }
  flush(device_rows_);
  flush(host_rows_);
  flush(process_rows_);
  flush(blind_process_rows_);
}

void SampleWriter::add_processes(const Sample& sample) {
  namespace column = format::process_column;
  for (const backend::ProcessUse& use : sample.processes) {
    format::Batch& rows = use.memory_bytes ? process_rows_ : blind_process_rows_;
    rows.mutable_column(column::kTime).push_back(sample.time_ns);
    rows.mutable_column(column::kDevice).push_back(use.device);
    rows.mutable_column(column::kPid).push_back(use.pid);
    rows.mutable_column(column::kName).push_back(log_.intern(format::Dict::Text, use.name));
    if (use.memory_bytes) rows.mutable_column(column::kMemoryBytes).push_back(*use.memory_bytes);
    rows.set_rows(rows.rows() + 1);
  }
}

void SampleWriter::write_events(const Sample& sample) {
  for (const backend::DeviceEvent& event : sample.events) {
    base::Json line = base::Json::object();
    line.set("time", sample.time_ns).set("name", event.name).set("device", event.device);
    if (event.code) line.set("code", *event.code);
    if (!event.text.empty()) line.set("text", event.text);
    log_.write(format::Kind::Event, line);
  }
}

void SampleWriter::flush(format::Batch& rows) {
  if (rows.empty()) return;
  log_.write(rows);
  rows.clear();
}

}  // namespace gpufl::capture
