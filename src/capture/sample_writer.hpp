// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/sampler.hpp"
#include "format/batch.hpp"
#include "format/log_writer.hpp"

// Samples as rows of the log. The collector's thread only; `log` outlives it.
namespace gpufl::capture {

class SampleWriter {
 public:
  explicit SampleWriter(format::LogWriter& log) : log_(log) {}

  void write(const std::vector<Sample>& samples);

 private:
  void add_processes(const Sample& sample);
  void write_events(const Sample& sample);
  void flush(format::Batch& rows);

  format::LogWriter& log_;
  format::Batch device_rows_{format::Kind::DeviceMetric};
  format::Batch host_rows_{format::Kind::HostMetric};
  // A column is there for all rows of a batch or for none, so processes whose memory the driver
  // does not tell have a batch of their own.
  format::Batch process_rows_{format::Kind::Process};
  format::Batch blind_process_rows_{format::Kind::Process};
};

}  // namespace gpufl::capture
