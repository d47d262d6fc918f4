// SPDX-License-Identifier: Apache-2.0
#include "server/analysis_child.hpp"

#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "analysis/compare/gate_rules.hpp"
#include "base/json.hpp"
#include "base/shadow_memory.hpp"
#include "export/output_file.hpp"
#include "server/cache_folder.hpp"
#include "server/child_process.hpp"
#include "server/result_file.hpp"
#include "server/session_folders.hpp"
#include "server/tar_stream.hpp"
#include "server/withheld.hpp"
#include "workbench/compare.hpp"
#include "workbench/export_run.hpp"
#include "workbench/group_report.hpp"
#include "workbench/report.hpp"

namespace gpufl::server {
namespace {

namespace fs = std::filesystem;
using base::Json;
using base::Status;

constexpr int kNiceness = 10;
constexpr unsigned kMostThreads = 8;
constexpr double kReadingShare = 0.7;  // of the work; nobody knows better

constexpr std::string_view kCsvEnding = "-csv";
constexpr uint64_t kReserveBytes = uint64_t{256} << 20;

#ifdef GPUFL_HAS_SHADOW_MEMORY
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

void tell(std::string_view line) {
  static_cast<void>(!::write(kReportFd, line.data(), line.size()));
}

// In whichever thread memory ran out; allocates nothing.
[[noreturn]] void leave_for_memory() {
  tell("{\"status\":\"LimitReached\",\"message\":\"out of memory\"}\n");
  _exit(kExitOutOfMemory);
}

[[noreturn]] void leave_for_exception() {
  try {
    if (const auto thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    leave_for_memory();
  } catch (const std::exception& problem) {
    tell(Json::object().set("status", "Internal").set("message", problem.what()).dump() + "\n");
  } catch (...) {
  }
  _exit(1);
}

constexpr size_t kStackBytes = size_t{1} << 20;

void limit_itself(uint64_t memory_bytes, int64_t parent) {
  // Whoever kills the server means its children too.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) _exit(1);
  ::fcntl(kReportFd, F_SETFD, FD_CLOEXEC);
  static_cast<void>(!::nice(kNiceness));
  std::set_new_handler(leave_for_memory);
  std::set_terminate(leave_for_exception);
  const rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  if (!kLimitsMemory || memory_bytes == 0) return;
  // Each heap takes 64 MiB of addresses, used or not, and there would be several for each core.
  ::mallopt(M_ARENA_MAX, 2);
  // So does each stack, and there is a thread that decodes for each core.
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, kStackBytes);
  pthread_setattr_default_np(&small);
  pthread_attr_destroy(&small);
  const rlimit limit{memory_bytes, memory_bytes};
  ::setrlimit(RLIMIT_AS, &limit);
}

// Whether less than the reserve was left at any time. Libraries in C, and our own reader, take a
// refused allocation as something that cannot be read and go on: what was made then is not whole,
// and must not be kept. They ask for less than the reserve at once.
bool has_come_near(uint64_t memory_bytes) {
  if (!kLimitsMemory || memory_bytes == 0) return false;
  // Without a stream, which allocates, and finds nothing where it cannot.
  static std::array<char, size_t{64} << 10> text;
  const int file = ::open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  const ssize_t size = ::read(file, text.data(), text.size());
  ::close(file);
  constexpr std::string_view kPeak = "VmPeak:";
  const std::string_view status(text.data(), static_cast<size_t>(std::max<ssize_t>(size, 0)));
  const size_t digits = status.find_first_of("0123456789", status.find(kPeak));
  if (digits == std::string_view::npos) return true;
  uint64_t peak_kib = 0;
  std::from_chars(&status[digits], status.data() + status.size(), peak_kib);
  return peak_kib * 1024 > memory_bytes - std::min(memory_bytes / 4, kReserveBytes);
}

std::vector<fs::path> paths_of(const Json& list) {
  std::vector<fs::path> paths;
  for (const Json& one : list.items()) paths.emplace_back(one.as_string());
  return paths;
}

class Child {
 public:
  Child(const Json& request, const symbols::LibdwApi* libdw)
      : request_(request), arguments_(request["arguments"]), libdw_(libdw) {}

  Status run() {
    const std::string& kind = request_["kind"].as_string();
    if (kind == "report" || kind == "kernel") return make_report();
    if (kind == "group") return make_group();
    if (kind == "flame" || kind == "export") return make_export();
    if (kind == "diff") return make_diff();
    if (kind == "gate") return make_gate();
    return {base::Code::InvalidArgument, "there is no analysis '" + kind + "'"};
  }

 private:
  workbench::Progress progress() const {
    return [](workbench::Stage stage, uint64_t done, uint64_t total) {
      const double part = total == 0 ? 0 : static_cast<double>(done) / static_cast<double>(total);
      const double all = stage == workbench::Stage::Reading
                             ? part * kReadingShare
                             : kReadingShare + part * (1 - kReadingShare);
      tell(fmt::format("{{\"progress\":{:.3f}}}\n", all));
      return true;
    };
  }

  // A whole session, a stated part of it, or as much of its end as has room.
  workbench::OpenOptions open_options() const {
    workbench::OpenOptions options;
    options.libdw = libdw_;
    options.progress = progress();
    options.threads = std::min(std::max(std::thread::hardware_concurrency(), 1U), kMostThreads);
    options.most_rows = static_cast<uint64_t>(arguments_["most_rows"].as_integer());
    if (!arguments_["from"].is_null() || !arguments_["to"].is_null()) {
      const Json& to = arguments_["to"];
      options.window = {arguments_["from"].as_integer(),
                        to.is_null() ? INT64_MAX : to.as_integer()};
    }
    return options;
  }

  Status put(std::string_view text) const {
    const int error = write_all(STDOUT_FILENO, text);
    if (error == 0) return {};
    return Status::from_errno(error, "the result cannot be written");
  }

  Status put_head(const std::vector<ResultPart>& parts) const {
    return put(result_head(request_["key"].as_string(),
                           static_cast<uint64_t>(request_["log_bytes"].as_integer()), parts));
  }

  Status keep(std::string_view text, const std::vector<ResultPart>& parts = {}) const {
    if (const Status headed = put_head(parts); !headed) return headed;
    return put(text);
  }

  // What is made for a guest is kept apart: their arguments are others.
  std::string for_whom(std::string text) const {
    text = without_session_folders(std::move(text), arguments_["hidden"].as_string());
    const Json* guest = arguments_.find("guest");
    if (guest == nullptr) return text;
    return text_without_withheld(text, viewer_of_argument(*guest), arguments_["path"].as_string());
  }

  Status make_report() const {
    workbench::ReportRequest asked;
    asked.path = arguments_["path"].as_string();
    asked.format = workbench::Format::Json;
    asked.as_run = arguments_["as_run"].as_bool();
    asked.kernel.kernel = arguments_["kernel"].as_string();
    asked.kernel.with_source = !asked.kernel.kernel.empty();
    asked.open = open_options();
    const workbench::ReportOutcome outcome = workbench::make_reports(asked);
    if (!outcome.failures.empty()) return outcome.failures.front();
    if (outcome.text.empty()) return {base::Code::NotFound, "there is no session"};
    const std::string text = for_whom(outcome.text);
    return keep(text, members_of(text));
  }

  Status make_group() const {
    const auto text =
        workbench::report_group({arguments_["path"].as_string(), arguments_["by"].as_string(),
                                 arguments_["group"].as_string(), open_options()});
    if (!text) return text.status();
    return keep(for_whom(*text));
  }

  // All of it has to be there before it is known what of it goes.
  template <typename Run>
  Status make_flame_of_guest(const Run& run, exporting::Target target) const {
    const int memory = ::memfd_create("flame", MFD_CLOEXEC);
    if (memory < 0) return Status::from_errno(errno, "memfd_create");
    const fs::path name = "/proc/self/fd/" + std::to_string(memory);
    const auto written = workbench::export_run(run, {target, name, false, progress()});
    if (!written) return written.status();
    std::string text(static_cast<size_t>(written->written.bytes), '\0');
    size_t read = 0;
    for (ssize_t got = 1; read < text.size() && got > 0; read += static_cast<size_t>(got)) {
      got = ::pread(memory, &text[read], text.size() - read, static_cast<off_t>(read));
      if (got < 0) return Status::from_errno(errno, "the flame graph cannot be read");
    }
    ::close(memory);
    return keep(for_whom(std::move(text)));
  }

  Status make_export() const {
    const fs::path path = arguments_["path"].as_string();
    const auto target = exporting::target_of(arguments_["format"].as_string());
    if (!target) return {base::Code::InvalidArgument, "there is no such format"};
    const auto run = workbench::open_one(path, open_options());
    if (!run) return run.status();
    if (request_["kind"].as_string() == "flame") {
      if (arguments_.find("guest") != nullptr) return make_flame_of_guest(run->data, *target);
      if (Status headed = put_head({}); !headed) return headed;
    }
    workbench::ExportRequest asked{*target, exporting::kStandardOutput, false, progress()};
    if (*target != exporting::Target::Csv) return export_run(run->data, asked).status();
    // A folder with a file for each table, which travels as one.
    const fs::path folder = arguments_["scratch"].as_string();
    std::string name = exporting::default_name(run->data, *target);
    if (name.ends_with(kCsvEnding)) name.resize(name.size() - kCsvEnding.size());
    asked.output = folder / safe_file_name(name, kCsvEnding);
    const auto written = export_run(run->data, asked);
    if (!written) return written.status();
    return write_tar(STDOUT_FILENO, folder, written->written.files);
  }

  Status make_diff() const {
    workbench::DiffRequest asked;
    asked.a = paths_of(arguments_["a"]);
    asked.b = paths_of(arguments_["b"]);
    asked.open = open_options();
    const auto comparison = workbench::diff(asked);
    if (!comparison) return comparison.status();
    return keep(for_whom(workbench::write_diff(*comparison, workbench::Format::Json, {})));
  }

  Status make_gate() const {
    workbench::GateRequest asked;
    asked.baseline = paths_of(arguments_["baseline"]);
    asked.candidate = paths_of(arguments_["candidate"]);
    auto rules = analysis::compare::parse_rules(arguments_["rules"].dump(), "rules");
    if (!rules) return rules.status();
    asked.rules = std::move(*rules);
    asked.open = open_options();
    const auto result = workbench::gate(asked);
    if (!result) return result.status();
    return keep(for_whom(workbench::write_gate(*result, workbench::Format::Json, {})));
  }

  const Json& request_;
  const Json& arguments_;
  const symbols::LibdwApi* libdw_;
};

}  // namespace

int run_analysis_child(std::string_view request, const symbols::LibdwApi* libdw) {
  const auto parsed = Json::parse(request);
  if (!parsed) return 1;
  const auto memory_bytes = static_cast<uint64_t>((*parsed)["memory_bytes"].as_integer());
  limit_itself(memory_bytes, (*parsed)["parent"].as_integer());
  const Status status = Child(*parsed, libdw).run();
  if (has_come_near(memory_bytes)) leave_for_memory();
  Json line = Json::object();
  line.set("status", to_string(status.code()));
  if (!status.is_ok()) line.set("message", status.message());
  tell(line.dump() + "\n");
  // Without freeing what was read, row by row.
  _exit(status.is_ok() ? 0 : 1);
}

}  // namespace gpufl::server
