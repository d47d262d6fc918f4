// SPDX-License-Identifier: Apache-2.0
#include "bench/replay/record_stream.hpp"

#include <cupti.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "base/json.hpp"

namespace gpufl::bench {
namespace {

namespace column = format::kernel_column;

constexpr size_t kBufferBytes = size_t{1} << 20;
constexpr size_t kKernelBytes = 216;  // of CUPTI 13.0

template <typename Record>
void append(std::vector<std::vector<uint64_t>>& buffers, size_t& current, const Record& record,
            size_t bytes) {
  const size_t words = bytes / sizeof(uint64_t);
  if (buffers.empty() || (buffers[current].size() + words) * sizeof(uint64_t) > kBufferBytes) {
    current = buffers.size();
    buffers.emplace_back().reserve(kBufferBytes / sizeof(uint64_t));
  }
  std::vector<uint64_t>& buffer = buffers[current];
  const size_t at = buffer.size();
  buffer.resize(at + words);
  std::memcpy(&buffer[at], &record, std::min(bytes, sizeof record));
}

}  // namespace

RecordStream::RecordStream(KernelRows rows) : rows_(std::move(rows)) { read_configs(); }

void RecordStream::read_configs() {
  std::map<int64_t, const char*> names;
  for (const std::string& line : rows_.dictionary_lines()) {
    const auto dict = base::Json::parse(line);
    if (!dict) continue;
    const bool is_config = (*dict)["dict"].as_string() == "config";
    const auto& ids = (*dict)["ids"].items();
    const auto& values = (*dict)["values"].items();
    for (size_t i = 0; i < ids.size(); ++i) {
      if ((*dict)["dict"].as_string() == "name") {
        names[ids[i].as_integer()] = names_.emplace_back(values[i].as_string()).c_str();
      }
      if (!is_config) continue;
      const auto id = static_cast<size_t>(ids[i].as_integer());
      if (configs_.size() <= id) configs_.resize(id + 1, Config{"", {1, 1, 1}, {1, 1, 1}, 0, 0, 0});
      const base::Json& value = values[i];
      Config config{names[value["name"].as_integer()], {}, {}, 0, 0, 0};
      for (size_t axis = 0; axis < 3; ++axis) {
        config.grid[axis] = static_cast<int32_t>(value["grid"].items().at(axis).as_integer());
        config.block[axis] = static_cast<int32_t>(value["block"].items().at(axis).as_integer());
      }
      config.shared_static = static_cast<int32_t>(value["shared_static"].as_integer());
      config.shared_dynamic = static_cast<int32_t>(value["shared_dynamic"].as_integer());
      config.registers = static_cast<uint16_t>(value["registers"].as_integer());
      configs_[id] = config;
    }
  }
}

void RecordStream::draw(size_t kernels, Round& out) {
  out = {};
  const format::Batch rows = rows_.draw(kernels);
  const auto at = [&](size_t i, size_t row) { return rows.column(i)[row]; };
  size_t work = 0;
  for (size_t row = 0; row < kernels; ++row) {
    const Config& config = configs_.at(static_cast<size_t>(at(column::kConfig, row)));
    CUpti_ActivityKernel9 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = static_cast<uint64_t>(at(column::kStart, row));
    kernel.end = kernel.start + static_cast<uint64_t>(at(column::kDuration, row));
    kernel.contextId = 1;
    kernel.streamId = 7;
    kernel.gridX = config.grid[0];
    kernel.gridY = config.grid[1];
    kernel.gridZ = config.grid[2];
    kernel.blockX = config.block[0];
    kernel.blockY = config.block[1];
    kernel.blockZ = config.block[2];
    kernel.staticSharedMemory = config.shared_static;
    kernel.dynamicSharedMemory = config.shared_dynamic;
    kernel.registersPerThread = config.registers;
    kernel.correlationId = static_cast<uint32_t>(at(column::kCorrelation, row));
    kernel.name = config.name;
    append(out.buffers, work, kernel, kKernelBytes);

    backend::CallNote note;
    note.time_ns = at(column::kApiStart, row);
    note.correlation = kernel.correlationId;
    note.context = 1;
    note.function = CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000;
    note.is_runtime = true;
    note.kind = backend::CallNoteKind::Launch;
    note.set_duration(at(column::kApiDuration, row));
    out.notes.push_back({note, static_cast<uint32_t>(at(column::kThread, row))});
    out.last_ns = std::max({out.last_ns, static_cast<int64_t>(kernel.end),
                            note.time_ns + at(column::kApiDuration, row)});

    const int64_t id = at(column::kScope, row), thread = at(column::kThread, row);
    if (out.scopes.empty() || out.scopes.back().id != id || out.scopes.back().thread != thread) {
      out.scopes.push_back({thread, id, note.time_ns, 0});
    }
    out.scopes.back().end_ns = note.time_ns + at(column::kApiDuration, row);
  }
  out.first_ns = at(column::kApiStart, 0);
}

}  // namespace gpufl::bench
