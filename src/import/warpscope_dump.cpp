// SPDX-License-Identifier: Apache-2.0
#include "import/warpscope_dump.hpp"

#include <warpscope_host.hpp>

#include <cstring>
#include <fstream>
#include <new>
#include <system_error>

#include "base/json.hpp"
#include "format/capability.hpp"
#include "format/log_writer.hpp"
#include "format/warp/warp_rows.hpp"

namespace gpufl::importing {
namespace {

namespace fs = std::filesystem;
using base::Code;
using base::Json;
using base::Status;
using format::Kind;

// %globaltimer advances in these steps where nothing says otherwise.
constexpr int64_t kTimerTickNs = 32;

// The log as what rows of a capture are handed to.
class LogSink final : public format::BatchSink {
 public:
  explicit LogSink(format::LogWriter& log) : log_(log) {}
  int64_t intern(format::Dict dict, std::string_view value) override {
    return log_.intern(dict, value);
  }
  void submit(const format::Batch& rows) override {
    log_.write(rows);
    if (Status flushed = log_.flush(0); !flushed && status_) status_ = flushed;
  }
  const Status& status() const { return status_; }

 private:
  format::LogWriter& log_;
  Status status_;
};

ws::DecodeOptions options_of(const std::string& source) {
  ws::DecodeOptions options;
  if (const auto dialect = ws::dialect_named(source)) options.dialect = *dialect;
  return options;
}

// A lack of memory is the only exception of what decodes and writes.
template <typename Work>
auto within_memory(Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return Status(Code::LimitReached, "there is not enough memory to decode the capture");
  }
}

base::Result<ws::Trace> decode(const std::string& file, const std::string& source) {
  ws::Trace trace = ws::decode_file(file, options_of(source));
  if (const ws::Problem* const problem = trace.problem(ws::ProblemKind::Unreadable)) {
    return Status(Code::IoError, problem->text.substr(file.size() + 2));  // behind "file: "
  }
  if (trace.lanes.empty()) {
    return Status(Code::InvalidArgument, trace.problems.empty() ? "the capture holds no record"
                                                                : "the capture holds no record: " +
                                                                      trace.problems.front().text);
  }
  return trace;
}

void write_origin(const fs::path& file, format::LogWriter& log) {
  const std::string name = file.filename().string();
  const format::Capability origin{
      "recording", "gpufl", std::string(kWarpscopeSource), "imported", "imported from " + name,
      {},          {}};
  log.write(Kind::Capability, origin.to_json());
  const format::Capability clock{
      "session_clock",
      "on",
      "off",
      "not_in_trace",
      "a dump does not contain the time of its recording: its first record is time 0",
      {},
      {}};
  log.write(Kind::Capability, clock.to_json());
  Json event = Json::object();
  event.set("time", 0).set("name", "imported").set("text", name).set("source", kWarpscopeSource);
  log.write(Kind::Event, event);
}

Status write_rows(const ws::Trace& trace, const format::WarpPlace& place, format::LogWriter& log) {
  constexpr int64_t kLaunch = 1;
  format::WarpLaunch launch = format::describe_launch(trace, place);
  launch.launch = kLaunch;
  log.write(Kind::WarpLaunch, format::to_json(launch), format::Channel::Device);
  LogSink sink(log);
  format::write_warp_rows(trace, place, kLaunch, sink);
  if (!sink.status()) return sink.status();
  format::Ledger ledger;
  ledger.unknown.insert("collector_cpu_ns");
  format::account_for(launch, ledger);
  return log.close(launch.duration_ns, ledger);
}

}  // namespace

bool is_warpscope_dump(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = stream.tellg();
  uint64_t last = 0;
  if (size < static_cast<std::streamoff>(sizeof last) || size % 8 != 0) return false;
  stream.seekg(size - static_cast<std::streamoff>(sizeof last));
  char bytes[sizeof last];
  stream.read(bytes, sizeof bytes);
  std::memcpy(&last, bytes, sizeof last);
  return stream.good() && last == ws::detail::kSideMagic;
}

std::vector<std::string> warpscope_sources() {
  std::vector<std::string> names{std::string(kWarpscopeSource)};
  for (const auto& dialect : ws::detail::kDialects) names.emplace_back(dialect.name);
  return names;
}

base::Result<WrittenSession> import_dump(const std::string& source, const SessionPlace& place,
                                         int64_t wall_ns) {
  const auto trace = within_memory([&] { return decode(place.file.string(), source); });
  if (!trace) return trace.status();
  format::WarpPlace where;
  where.tick_ns = kTimerTickNs;
  format::SessionHeader header;
  header.session_id = place.session_id;
  header.run_id = place.run_id;
  header.app_name = place.app_name;
  header.gpufl_version = place.gpufl_version;
  header.engine = "Monitor";  // it has no record of any kernel as such
  header.backend = "nvidia";
  header.start_wall_ns = wall_ns;

  format::LogOptions options;
  options.session_dir = place.folder / place.session_id;
  options.spool_bytes = 0;
  auto log = format::LogWriter::create(options, header);
  if (!log) return log.status();
  write_origin(place.file, **log);
  const Status written = within_memory([&] { return write_rows(*trace, where, **log); });
  if (!written) {
    log->reset();
    std::error_code ignored;
    fs::remove_all(options.session_dir, ignored);
    return written;
  }
  return WrittenSession{options.session_dir, where.at(format::last_time(*trace)),
                        (*log)->counts().rows};
}

}  // namespace gpufl::importing
