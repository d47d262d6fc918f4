// SPDX-License-Identifier: Apache-2.0
#include "bench/log/log_run.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/clock.hpp"
#include "format/batch_codec.hpp"
#include "format/seal.hpp"

namespace gpufl::bench {
namespace {

namespace fs = std::filesystem;
using base::Status;

constexpr uint64_t kWindowBytes = uint64_t{64} << 20;

// Adds the time from here to the end of the scope.
class Stopwatch {
 public:
  explicit Stopwatch(StageTime& stage)
      : stage_(stage), wall_ns_(base::monotonic_ns()), cpu_ns_(cpu_ns()) {}
  ~Stopwatch() {
    stage_.wall_s += static_cast<double>(base::monotonic_ns() - wall_ns_) * 1e-9;
    stage_.cpu_s += static_cast<double>(cpu_ns() - cpu_ns_) * 1e-9;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  static int64_t cpu_ns() { return base::clock_ns(CLOCK_THREAD_CPUTIME_ID); }
  StageTime& stage_;
  int64_t wall_ns_, cpu_ns_;
};

class LiveFile {
 public:
  ~LiveFile() { close(); }
  Status open(const fs::path& path) {
    fd_ = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    size_ = 0;
    return fd_ >= 0 ? Status() : Status::from_errno(errno, path.string());
  }
  Status append(std::string_view text) {
    size_ += text.size();
    while (!text.empty()) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written < 0) return Status::from_errno(errno, "writing the live file");
      text.remove_prefix(static_cast<size_t>(written));
    }
    return {};
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  bool is_open() const { return fd_ >= 0; }
  uint64_t size() const { return size_; }

 private:
  int fd_ = -1;
  uint64_t size_ = 0;
};

base::Result<std::vector<fs::path>> write_files(const fs::path& folder,
                                                const std::vector<std::string>& lines,
                                                std::span<const format::Batch> batches,
                                                LogRun& run) {
  const Stopwatch stopwatch(run.write);
  std::vector<fs::path> files;
  LiveFile live;
  format::BatchCodec codec;
  std::string text;
  for (const format::Batch& batch : batches) {
    text.clear();
    if (!live.is_open()) {
      files.push_back(folder / ("device." + std::to_string(files.size() + 1) + ".log"));
      if (const Status status = live.open(files.back()); !status) return status;
      for (const std::string& line : lines) text.append(line).push_back('\n');
    }
    codec.encode(batch, text);
    if (const Status status = live.append(text); !status) return status;
    run.rows += batch.rows();
    run.raw_bytes += text.size();
    if (live.size() >= kWindowBytes) live.close();
  }
  return files;
}

Status seal_files(std::vector<fs::path>& files, LogRun& run) {
  const Stopwatch stopwatch(run.seal);
  for (fs::path& file : files) {
    const fs::path raw = file;
    file += ".zst";
    const auto sealed = format::seal_window(raw, file);
    if (!sealed) return sealed.status();
    run.sealed_bytes += sealed->sealed_bytes;
    fs::remove(raw);
  }
  return {};
}

// Decodes every batch of the files; `on_batch` looks at each.
template <typename OnBatch>
Status read_files(const std::vector<fs::path>& files, format::Kind kind, OnBatch on_batch) {
  format::BatchCodec codec;
  format::Batch batch(kind);
  const std::string_view name = batch.kind_spec().name;
  for (const fs::path& file : files) {
    Status status;
    const format::UnsealOutcome outcome = format::read_window(file, [&](std::string_view line) {
      if (format::line_type(line) != name) return true;
      status = codec.decode(line, batch);
      if (status) status = on_batch(batch);
      return status.is_ok();
    });
    if (!outcome.status) return outcome.status;
    if (!status) return status;
  }
  return {};
}

// Walks through what was written while what was read comes in, cut into other batches.
class Comparison {
 public:
  explicit Comparison(std::span<const format::Batch> expected) : expected_(expected) {}

  Status add(const format::Batch& read) {
    for (size_t row = 0; row < read.rows();) {
      if (batch_ == expected_.size()) return different("rows");
      const format::Batch& wanted = expected_[batch_];
      const size_t count = std::min(read.rows() - row, wanted.rows() - row_);
      for (size_t i = 0; i < wanted.kind_spec().columns.size(); ++i) {
        if (read.has(i) != wanted.has(i)) return different(wanted.kind_spec().columns[i].name);
        if (!read.has(i)) continue;
        const auto from = read.column(i).begin() + static_cast<ptrdiff_t>(row);
        const auto other = wanted.column(i).begin() + static_cast<ptrdiff_t>(row_);
        if (!std::equal(from, from + static_cast<ptrdiff_t>(count), other)) {
          return different(wanted.kind_spec().columns[i].name);
        }
      }
      row += count;
      row_ += count;
      if (row_ == wanted.rows()) {
        ++batch_;
        row_ = 0;
      }
    }
    return {};
  }
  Status finish() const { return batch_ == expected_.size() ? Status() : different("rows"); }

 private:
  static Status different(std::string_view what) {
    return {base::Code::Internal, "what was read is not what was written: " + std::string(what)};
  }
  std::span<const format::Batch> expected_;
  size_t batch_ = 0;
  size_t row_ = 0;
};

}  // namespace

base::Result<LogRun> run_log(const fs::path& folder, const std::vector<std::string>& lines,
                             std::span<const format::Batch> batches) {
  LogRun run;
  auto files = write_files(folder, lines, batches, run);
  if (!files) return files.status();
  if (const Status status = seal_files(*files, run); !status) return status;

  const format::Kind kind = batches.front().kind();
  uint64_t rows = 0;
  {
    const Stopwatch stopwatch(run.read);
    const Status status = read_files(*files, kind, [&](const format::Batch& batch) {
      rows += batch.rows();
      return Status();
    });
    if (!status) return status;
  }
  Comparison comparison(batches);
  if (const Status status = read_files(
          *files, kind, [&](const format::Batch& batch) { return comparison.add(batch); });
      !status) {
    return status;
  }
  for (const fs::path& file : *files) fs::remove(file);
  if (rows != run.rows) return Status(base::Code::Internal, "rows were lost");
  if (const Status status = comparison.finish(); !status) return status;
  return run;
}

}  // namespace gpufl::bench
