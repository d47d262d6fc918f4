// SPDX-License-Identifier: Apache-2.0
#include "cli/sql_guard.hpp"

#include <unistd.h>

#include <fstream>

#include <fmt/format.h>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "export/output_file.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

using base::Code;
using base::Status;

// What reading sessions takes, and DuckDB besides what it counts.
constexpr uint64_t kMoreMemory = uint64_t{256} << 20;

// Of this process, without the files that it has mapped. 0: the system does not say.
uint64_t memory_in_use() {
  std::ifstream file("/proc/self/statm");
  uint64_t size = 0, resident = 0, shared = 0;
  file >> size >> resident >> shared;
  const long page = ::sysconf(_SC_PAGESIZE);
  return resident > shared && page > 0 ? (resident - shared) * static_cast<uint64_t>(page) : 0;
}

}  // namespace

SqlGuard::SqlGuard(const char* command, workbench::QueryRequest& request)
    : command_(command),
      request_(request),
      is_to_stdout_(request.output == exporting::kStandardOutput ||
                    request.output == "/dev/stdout") {
  request.check = [this] { return check(); };
  request.on_deaf = [this](const Status& why) { end_process(why); };
}

int SqlGuard::exit_code_of(const Status& failure) const {
  if (stopped_by_ != 0) return kExitSignalBase + stopped_by_;
  const bool is_of_output = failure.code() == Code::Cancelled || failure.code() == Code::IoError;
  return is_of_output && is_to_stdout_ && !has_reader() ? kExitGood : kExitCannotTell;
}

Status SqlGuard::check() {
  if (memory_in_use() > request_.memory_bytes + kMoreMemory) {
    // At once: in another second it could take all that the machine has.
    end_process({Code::LimitReached,
                 fmt::format("the query was stopped because it took more than {} and {} for "
                             "reading; --memory lets it take more",
                             text::bytes(static_cast<double>(request_.memory_bytes)),
                             text::bytes(static_cast<double>(kMoreMemory)))});
  }
  for (int signal = signals_.take(); signal != 0; signal = signals_.take()) {
    if (signal != SIGWINCH) stopped_by_ = signal;
  }
  if (stopped_by_ == 0 && (!is_to_stdout_ || has_reader())) return {};
  return {Code::Cancelled, "the query was stopped"};
}

void SqlGuard::end_process(const Status& why) const {
  exporting::remove_unfinished(request_.output);
  const int exit_code = exit_code_of(why);
  if (exit_code != kExitGood) complain(command_, why.message());
  ::_exit(exit_code);
}

}  // namespace gpufl::cli
