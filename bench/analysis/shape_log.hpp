// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/batch.hpp"
#include "format/log_writer.hpp"

// Rows of a made-up program into a session on disk, through the log's own writer, for sessions
// whose shape matters and whose times do not. Memory stays that of one batch of each kind. One
// thread.
namespace gpufl::bench {

// Where a row of work ran, and who asked for it.
struct RowPlace {
  int64_t device = 0, stream = 7, thread = 1, scope = 0, stack = 0;
};

class ShapeLog {
 public:
  // `number`: sets sessions of one run apart.
  static base::Result<ShapeLog> create(const std::filesystem::path& folder, int64_t number = 0);

  int64_t name(std::string_view text) { return log_->intern(format::Dict::Name, text); }
  // Of a kernel of that name; `blocks` sets configurations of one name apart.
  int64_t config(std::string_view kernel, int64_t blocks = 128);
  // A stack of one frame: that line of the program.
  int64_t stack_at(int64_t line);

  void kernel(int64_t start_ns, int64_t duration_ns, int64_t config, const RowPlace& place = {});
  void wait(int64_t start_ns, int64_t duration_ns, const RowPlace& place = {});
  // Returns its id.
  int64_t scope(std::string_view scope_name, int64_t start_ns, int64_t duration_ns,
                int64_t parent = 0, int64_t thread = 1);
  void counter(int64_t time_ns, int64_t counter_name, int64_t value);
  // A range of a framework: of the domain "torch.op".
  void operation(int64_t start_ns, int64_t duration_ns, int64_t op_name, int64_t thread = 1);

  base::Status finish();

 private:
  explicit ShapeLog(std::unique_ptr<format::LogWriter> log) : log_(std::move(log)) {}
  format::Batch& rows_of(format::Kind kind);
  void note(int64_t end_ns, format::Batch& rows);
  void write(format::Batch& rows);

  std::unique_ptr<format::LogWriter> log_;
  std::map<format::Kind, format::Batch> batches_;
  int64_t correlation_ = 0, scopes_ = 0, end_ns_ = 0;
  base::Status status_;  // the first failure
};

}  // namespace gpufl::bench
