// SPDX-License-Identifier: Apache-2.0
#include "bench/analysis/kernel_session.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <string>

#include "base/json.hpp"
#include "bench/log/kernel_rows.hpp"
#include "format/log_writer.hpp"

namespace gpufl::bench {
namespace {

using base::Json;
using format::Batch;
using format::Dict;
using format::Kind;

constexpr size_t kRowsPerBatch = 16'384;

format::SessionHeader header_of_session() {
  format::SessionHeader header;
  header.session_id = format::make_session_id(0);
  header.app_name = "load_bench";
  header.gpufl_version = "0";
  header.engine = "Trace";
  header.backend = "synthetic";
  return header;
}

// The trace's dictionaries, defined anew.
class Dictionaries {
 public:
  Dictionaries(const KernelRows& rows, format::LogWriter& log) {
    for (const std::string& line : rows.dictionary_lines()) {
      const auto dict = Json::parse(line);
      if (!dict) continue;
      const auto& ids = (*dict)["ids"].items();
      const auto& values = (*dict)["values"].items();
      for (size_t i = 0; i < ids.size(); ++i) {
        const int64_t id = ids[i].as_integer();
        if ((*dict)["dict"].as_string() == "name") {
          names_[id] = log.intern(Dict::Name, values[i].as_string());
        } else {
          Json config = values[i];
          config.set("name", names_[config["name"].as_integer()]);
          configs_[id] = log.intern(Dict::Config, config.dump());
        }
      }
    }
  }
  void apply(Batch& kernels) const {
    for (int64_t& config : kernels.mutable_column(format::kernel_column::kConfig)) {
      config = configs_.at(config);
    }
  }

 private:
  std::map<int64_t, int64_t> names_, configs_;
};

// A scope's row comes when the next one has begun.
class Steps {
 public:
  explicit Steps(format::LogWriter& log) : log_(log), name_(log.intern(Dict::Name, "step")) {}

  void follow(const Batch& kernels) {
    namespace column = format::kernel_column;
    Batch rows(Kind::Scope);
    for (size_t row = 0; row < kernels.rows(); ++row) {
      const int64_t scope = kernels.column(column::kScope)[row];
      const int64_t call_start = kernels.column(column::kApiStart)[row];
      if (scope == id_) continue;
      if (id_ != 0) add(rows, call_start);
      id_ = scope;
      thread_ = kernels.column(column::kThread)[row];
      start_ns_ = call_start;
    }
    if (!rows.empty()) log_.write(rows);
  }
  void finish(int64_t end_ns) {
    Batch rows(Kind::Scope);
    if (id_ != 0) add(rows, end_ns);
    log_.write(rows);
  }

 private:
  void add(Batch& rows, int64_t end_ns) const {
    rows.push_row({id_, 0, thread_, 0, name_, 0, start_ns_, end_ns - start_ns_, 0, 0, 0});
  }

  format::LogWriter& log_;
  int64_t name_;
  int64_t id_ = 0, thread_ = 0, start_ns_ = 0;
};

}  // namespace

base::Status write_kernel_session(const std::filesystem::path& folder, size_t kernels) {
  namespace column = format::kernel_column;
  auto source = KernelRows::load(GPUFL_BENCH_TRACE);
  if (!source) return source.status();
  format::LogOptions options;
  options.session_dir = folder;
  options.disk_floor_bytes = 0;
  auto log = format::LogWriter::create(options, header_of_session());
  if (!log) return log.status();
  const Dictionaries dictionaries(*source, **log);
  Steps steps(**log);
  int64_t end_ns = 0;
  for (size_t left = kernels; left != 0;) {
    Batch rows = source->draw(std::min(left, kRowsPerBatch));
    left -= rows.rows();
    dictionaries.apply(rows);
    steps.follow(rows);
    end_ns = rows.column(column::kStart).back() + rows.column(column::kDuration).back();
    (*log)->write(rows);
    if (auto status = (*log)->flush(end_ns); !status) return status;
  }
  steps.finish(end_ns);
  return (*log)->close(end_ns, {});
}

}  // namespace gpufl::bench
