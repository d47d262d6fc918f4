// SPDX-License-Identifier: Apache-2.0
#include "bench/analysis/kernel_session.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <random>
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

// There are as many steps as without lanes: a lane's has the kernels of its turns in `lanes` steps.
int64_t scope_of_lane(int64_t step, int64_t lane, int64_t lanes) {
  return step - (step - 1) % lanes + lane;
}
int64_t thread_of_lane(int64_t thread, int64_t lane) { return thread + 1'000 * lane; }

class Dealer {
 public:
  explicit Dealer(const Lanes& lanes) : lanes_(lanes) {}

  void deal(Batch& kernels) {
    namespace column = format::kernel_column;
    for (size_t row = 0; row < kernels.rows(); ++row) {
      const int64_t lane = next_lane();
      const auto at = [&](size_t i) -> int64_t& { return kernels.mutable_column(i)[row]; };
      for (const size_t i : {column::kDevice, column::kContext, column::kStream}) at(i) += lane;
      at(column::kThread) = thread_of_lane(at(column::kThread), lane);
      at(column::kScope) = scope_of_lane(at(column::kScope), lane, lanes_.count);
    }
  }

 private:
  int64_t next_lane() {
    const uint64_t turn = lanes_.is_random ? random_() : turn_++;
    return static_cast<int64_t>(turn % static_cast<uint64_t>(lanes_.count));
  }

  Lanes lanes_;
  uint64_t turn_ = 0;
  std::mt19937_64 random_;
};

// A scope's row comes when the next one has begun.
class Steps {
 public:
  Steps(format::LogWriter& log, int64_t lanes)
      : log_(log), lanes_(lanes), name_(log.intern(Dict::Name, "step")) {}

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
  void finish(int64_t end_ns, bool has_outer) {
    Batch rows(Kind::Scope);
    if (id_ != 0) add(rows, end_ns);
    if (has_outer) rows.push_row({INT32_MAX, 0, 1, 0, name_, 0, 0, end_ns, 0, 0, 0});
    log_.write(rows);
  }

 private:
  void add(Batch& rows, int64_t end_ns) const {
    const int64_t lane = (id_ - 1) % lanes_;
    rows.push_row({id_, 0, thread_of_lane(thread_, lane), 0, name_, 0, start_ns_,
                   end_ns - start_ns_, 0, 0, 0});
  }

  format::LogWriter& log_;
  int64_t lanes_;
  int64_t name_;
  int64_t id_ = 0, thread_ = 0, start_ns_ = 0;
};

}  // namespace

base::Status write_kernel_session(const std::filesystem::path& folder, size_t kernels,
                                  const Lanes& lanes, uint64_t window_bytes) {
  namespace column = format::kernel_column;
  auto source = KernelRows::load(GPUFL_BENCH_TRACE);
  if (!source) return source.status();
  format::LogOptions options;
  options.session_dir = folder;
  options.disk_floor_bytes = 0;
  options.window_bytes = window_bytes;
  auto log = format::LogWriter::create(options, header_of_session());
  if (!log) return log.status();
  const Dictionaries dictionaries(*source, **log);
  Steps steps(**log, lanes.count);
  Dealer dealer(lanes);
  int64_t end_ns = 0;
  for (size_t left = kernels; left != 0;) {
    Batch rows = source->draw(std::min(left, kRowsPerBatch));
    left -= rows.rows();
    dictionaries.apply(rows);
    steps.follow(rows);
    dealer.deal(rows);
    end_ns = rows.column(column::kStart).back() + rows.column(column::kDuration).back();
    (*log)->write(rows);
    if (auto status = (*log)->flush(end_ns); !status) return status;
  }
  steps.finish(end_ns, lanes.has_outer);
  return (*log)->close(end_ns, {});
}

}  // namespace gpufl::bench
