// SPDX-License-Identifier: Apache-2.0
// live_session FOLDER: writes a session as it is told, a command a line, and says "done" after
// each.
//   kernels N   N more kernels of 800 ns, one every microsecond
//   seal        the windows that are open
// It ends the session with its input.

#include <array>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/json.hpp"
#include "format/log_writer.hpp"

namespace {

using namespace gpufl;
namespace column = format::kernel_column;

constexpr std::array<std::string_view, 3> kNames = {"attention", "projection", "normalize"};
constexpr int64_t kEveryNs = 1'000;
constexpr int64_t kLengthNs = 800;
// By the log's clock, which `seal` puts forward.
constexpr int64_t kWindowAgeNs = 1'000'000'000;

format::SessionHeader header_of_session() {
  format::SessionHeader header;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  header.start_wall_ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  header.session_id = format::make_session_id(header.start_wall_ns);
  header.app_name = "live_session";
  header.gpufl_version = "0";
  header.engine = "Trace";
  header.backend = "synthetic";
  return header;
}

class LiveSession {
 public:
  explicit LiveSession(std::unique_ptr<format::LogWriter> log) : log_(std::move(log)) {
    for (size_t i = 0; i < kNames.size(); ++i) {
      base::Json config = base::Json::object();
      config.set("name", log_->intern(format::Dict::Name, kNames[i]));
      configs_[i] = log_->intern(format::Dict::Config, config.dump());
    }
  }

  base::Status obey(const std::string& command) {
    constexpr std::string_view kKernels = "kernels ";
    if (command == "seal") return flush_at(now_ns_ + kWindowAgeNs);
    if (command.rfind(kKernels, 0) != 0) {
      return base::Status(base::Code::InvalidArgument, "not a command: " + command);
    }
    write_kernels(std::stoull(command.substr(kKernels.size())));
    return flush_at(now_ns_);
  }
  base::Status close() { return log_->close(now_ns_, {}); }

 private:
  void write_kernels(size_t count) {
    format::Batch kernels(format::Kind::Kernel);
    for (size_t i = 0; i < count; ++i, ++written_) {
      const auto set = [&](size_t at, int64_t value) {
        kernels.mutable_column(at).push_back(value);
      };
      set(column::kStart, now_ns_);
      set(column::kDuration, kLengthNs);
      set(column::kConfig, configs_[written_ % configs_.size()]);
      set(column::kDevice, 0);
      set(column::kContext, 1);
      set(column::kStream, 7);
      set(column::kThread, 1);
      set(column::kCorrelation, static_cast<int64_t>(written_) + 1);
      now_ns_ += kEveryNs;
    }
    kernels.set_rows(count);
    log_->write(kernels);
  }
  base::Status flush_at(int64_t now_ns) { return log_->flush(now_ns); }

  std::unique_ptr<format::LogWriter> log_;
  std::array<int64_t, kNames.size()> configs_{};
  size_t written_ = 0;
  int64_t now_ns_ = kEveryNs;
};

bool is_good(const base::Status& status) {
  if (!status) std::fprintf(stderr, "%s\n", status.text().c_str());
  return status.is_ok();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return 64;
  format::LogOptions options;
  options.session_dir = argv[1];
  options.disk_floor_bytes = 0;
  options.window_age_ns = kWindowAgeNs;
  auto log = format::LogWriter::create(options, header_of_session());
  if (!log) {
    std::fprintf(stderr, "%s\n", log.status().text().c_str());
    return 1;
  }
  LiveSession session(std::move(*log));
  for (std::string command; std::getline(std::cin, command);) {
    if (!is_good(session.obey(command))) return 1;
    std::puts("done");
    std::fflush(stdout);
  }
  return is_good(session.close()) ? 0 : 1;
}
