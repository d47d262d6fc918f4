// SPDX-License-Identifier: Apache-2.0
#include "format/log_writer.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "format/file_size_signal.hpp"
#include "format/limits.hpp"
#include "format/log_writer_archive.hpp"
#include "format/log_writer_channel.hpp"
#include "format/session_files.hpp"
#include "format/told_again.hpp"

namespace gpufl::format {
namespace {

using base::Json;
using base::Status;

constexpr int64_t kSecond = 1'000'000'000;
constexpr size_t kBufferLimit = size_t{512} << 10;       // a channel's lines go out early beyond it
constexpr uint64_t kPastLimitBytes = uint64_t{1} << 20;  // of object lines, in a session
constexpr uint64_t kMinManifestSlack = 1024, kMaxManifestSlack = uint64_t{64} << 10;

constexpr const char* kSpoolFull = "spool_full";
constexpr const char* kDiskFloor = "disk_floor";
constexpr const char* kDiskFull = "disk_full";
constexpr const char* kIoError = "io_error";
constexpr const char* kLineTooLong = "line_too_long";
constexpr const char* kOutOfMemory = "out_of_memory";

const char* reason_of(int error) {
  return error == ENOSPC || error == EDQUOT ? kDiskFull : kIoError;
}

bool is_io_reason(const char* reason) { return reason == kDiskFull || reason == kIoError; }

Json object_line(Kind kind, const Json& fields) {
  Json line = Json::object();
  line.set("type", spec(kind).name);
  for (const auto& [name, value] : fields.members()) line.set(name, value);
  return line;
}

LogOptions effective(LogOptions options) {
  if (options.keep_last_ns > 0) {
    options.window_age_ns =
        std::min(options.window_age_ns, std::max(kSecond, options.keep_last_ns / 4));
  }
  if (options.on_full == SpoolPolicy::DropOldest && options.spool_bytes > 0) {
    // Only closed windows can go: the live ones must stay a small part of the spool.
    options.window_bytes = std::min(options.window_bytes, options.spool_bytes / 8);
  }
  return options;
}

class SessionLogWriter final : public LogWriter {
 public:
  SessionLogWriter(LogOptions options, const Json& header, std::unique_ptr<LogArchive> archive)
      : options_(effective(std::move(options))),
        archive_(std::move(archive)),
        channels_{{{Channel::Device, options_.session_dir, header},
                   {Channel::Scope, options_.session_dir, header},
                   {Channel::System, options_.session_dir, header},
                   {Channel::Code, options_.session_dir, header}}} {}

  Status begin();
  void take(std::unique_ptr<SessionLock> lock) { lock_ = std::move(lock); }

  int64_t intern(Dict dict, std::string_view value) override;
  void write(const Batch& batch) override;
  void write(Kind kind, const Json& fields, Channel channel) override;
  bool keep_module(int64_t time_ns, const CodeImage& image) override;
  Status flush(int64_t now_ns) override;
  WriterCounts counts() const override;
  Status close(int64_t now_ns, const Ledger& ledger) override;
  void abandon() override;

 private:
  LogChannel& at(Channel channel) { return channels_[static_cast<size_t>(channel)]; }
  void spill(LogChannel& channel);
  void add_object(Kind kind, const Json& fields, LogChannel& channel);
  void add_module_lines();
  void flush_channels(int64_t now_ns);
  void write_end(const Ledger& ledger);
  bool keeps_object_lines(LogChannel& channel);
  Status out_of_memory();
  void write_out(LogChannel& channel);
  void drop(LogChannel& channel, const char* reason);
  void count_dropped(const char* reason, uint64_t rows);
  void rotate(LogChannel& channel);
  void rotate_due();

  const char* refusal();
  uint64_t live_bytes() const;
  bool is_spool_full();
  bool is_below_disk_floor();
  void update_state();
  void resume();
  bool append_mark(const Json& fields);
  void set_refused(const char* reason);

  const LogOptions options_;
  std::unique_ptr<SessionLock> lock_;
  std::unique_ptr<LogArchive> archive_;
  std::unique_ptr<ModuleStore> modules_;  // null: there was no image yet
  std::array<LogChannel, kChannelCount> channels_;
  DictionaryTable table_;
  BatchCodec codec_;
  int64_t now_ns_ = 0;
  bool closed_ = false;
  Status close_status_;
  Status flush_status_;
  bool written_ = false, failed_ = false;  // by the flush that is under way

  // Why rows are being dropped now; null while all is well.
  const char* refused_ = nullptr;
  int64_t refused_since_ns_ = 0;
  uint64_t refused_rows_ = 0;
  uint64_t past_limit_bytes_ = 0;
  bool files_lost_ = false;      // taken away while they were written
  int64_t next_attempt_ns_ = 0;  // after an I/O error
  int64_t next_disk_check_ns_ = 0;
  bool below_disk_floor_ = false;

  mutable std::mutex counts_mutex_;
  WriterCounts counts_;
  uint64_t out_of_memory_rows_ = 0;  // a number of its own: a map would need memory
  uint64_t interns_failed_ = 0;
};

Status SessionLogWriter::begin() {
  const int error = at(Channel::System).append_now("", 0);
  if (error == 0) {
    counts_.raw_bytes = at(Channel::System).file_bytes();
    return {};
  }
  return Status::from_errno(error, "cannot write to " + options_.session_dir.string());
}

int64_t SessionLogWriter::intern(Dict dict, std::string_view value) {
  const uint64_t before = table_.overflows();
  int64_t id = 0;
  try {
    id = table_.intern(dict, value);
  } catch (const std::bad_alloc&) {
    const std::lock_guard lock(counts_mutex_);
    counts_.dictionary_overflows = ++interns_failed_ + table_.overflows();
    return 0;
  }
  if (table_.overflows() != before) {
    const std::lock_guard lock(counts_mutex_);
    counts_.dictionary_overflows = interns_failed_ + table_.overflows();
  }
  return id;
}

void SessionLogWriter::write(const Batch& batch) {
  if (closed_ || batch.empty()) return;
  LogChannel& channel = at(batch.kind_spec().channel);
  try {
    channel.add(batch, table_, codec_);
  } catch (const std::bad_alloc&) {
    // Half a line may stand in the buffer: it goes, with what waits before it.
    drop(channel, kOutOfMemory);
    count_dropped(kOutOfMemory, batch.rows());
    return;
  }
  spill(channel);
}

// What waits is dropped and counted: memory that is short does not come back by waiting.
Status SessionLogWriter::out_of_memory() {
  for (LogChannel& channel : channels_) drop(channel, kOutOfMemory);
  return Status(base::Code::LimitReached, "out of memory");
}

void SessionLogWriter::write(Kind kind, const Json& fields, Channel channel_id) {
  if (closed_) return;
  try {
    add_object(kind, fields, at(channel_id));
  } catch (const std::bad_alloc&) {
    drop(at(channel_id), kOutOfMemory);
    return count_dropped(kOutOfMemory, 1);
  }
  spill(at(channel_id));
}

void SessionLogWriter::add_object(Kind kind, const Json& fields, LogChannel& channel) {
  const Json line = object_line(kind, fields);
  const std::string text = line.dump();
  if (text.size() > kMaxObjectLineBytes) return count_dropped(kLineTooLong, 1);
  channel.add(kind, text);
  // What is said once must outlive the window in which it was said.
  if (is_told_again(kind, line)) channel.repeat(line);
}

bool SessionLogWriter::keep_module(int64_t time_ns, const CodeImage& image) {
  if (closed_) return true;
  try {
    if (modules_ == nullptr) {
      modules_ = std::make_unique<ModuleStore>(options_.session_dir, options_.module_bytes);
    }
  } catch (const std::bad_alloc&) {
    return false;
  }
  const bool fits = options_.spool_bytes == 0 ||
                    live_bytes() + archive_->bytes() + image.bytes.size() <= options_.spool_bytes;
  return modules_->add(time_ns, image, refused_ == nullptr && fits && !is_below_disk_floor());
}

void SessionLogWriter::add_module_lines() {
  if (modules_ == nullptr) return;
  for (const Json& line : modules_->take_lines()) {
    add_object(Kind::Module, line, at(spec(Kind::Module).channel));
  }
}

void SessionLogWriter::spill(LogChannel& channel) {
  if (channel.buffered_bytes() < kBufferLimit) return;
  const FileSizeSignalBlocked blocked;
  try {
    update_state();
    write_out(channel);
    rotate_due();
  } catch (const std::exception&) {
    static_cast<void>(out_of_memory());
  }
}

Status SessionLogWriter::flush(int64_t now_ns) {
  if (closed_) return close_status_;
  const FileSizeSignalBlocked blocked;
  try {
    flush_channels(now_ns);
  } catch (const std::exception&) {
    flush_status_ = out_of_memory();
  }
  return flush_status_;
}

void SessionLogWriter::flush_channels(int64_t now_ns) {
  now_ns_ = std::max(now_ns_, now_ns);
  flush_status_ = {};
  written_ = failed_ = false;
  add_module_lines();
  const bool anything = std::any_of(channels_.begin(), channels_.end(),
                                    [](const auto& c) { return c.buffered_bytes() > 0; });
  if (anything || refused_ != nullptr) update_state();
  for (LogChannel& channel : channels_) write_out(channel);
  if (refused_ != nullptr && is_io_reason(refused_) && written_ && !failed_) resume();
  rotate_due();
  if (options_.keep_last_ns > 0) archive_->delete_older_than(now_ns_ - options_.keep_last_ns);
}

void SessionLogWriter::write_out(LogChannel& channel) {
  if (channel.buffered_bytes() == 0) return;
  if (refused_ != nullptr && !(is_io_reason(refused_) && now_ns_ >= next_attempt_ns_) &&
      !keeps_object_lines(channel)) {
    return drop(channel, refused_);
  }
  const KindCounts rows = channel.buffered_rows();
  const uint64_t bytes_before = channel.file_bytes();
  if (const int error = channel.flush(now_ns_); error != 0) {
    failed_ = true;
    flush_status_ = Status::from_errno(error, "cannot write the log");
    if (refused_ == nullptr) set_refused(reason_of(error));
    next_attempt_ns_ = now_ns_ + kSecond;
    drop(channel, reason_of(error));
    // A file that is torn, or as long as a file may be, is done with: the next one starts afresh.
    if (channel.is_torn() || error == EFBIG) rotate(channel);
    return;
  }
  written_ = true;
  if (options_.fsync_always) {
    if (const int error = channel.sync(); error != 0) {
      flush_status_ = Status::from_errno(error, "cannot sync the log");
    }
  }
  const std::lock_guard lock(counts_mutex_);
  counts_.raw_bytes += channel.file_bytes() - bytes_before;
  for (size_t kind = 0; kind < kKindCount; ++kind) {
    if (rows[kind] > 0 && is_counted(static_cast<Kind>(kind))) {
      counts_.rows[std::string(spec(static_cast<Kind>(kind)).name)] += rows[kind];
    }
  }
}

// Past the spool's cap and the disk's floor only batches are dropped: the few object lines say what
// the session is, and why the rest is missing.
bool SessionLogWriter::keeps_object_lines(LogChannel& channel) {
  if (is_io_reason(refused_)) return false;
  if (const uint64_t rows = channel.discard_batches(); rows > 0) {
    refused_rows_ += rows;
    count_dropped(refused_, rows);
  }
  if (past_limit_bytes_ + channel.buffered_bytes() > kPastLimitBytes) return false;
  past_limit_bytes_ += channel.buffered_bytes();
  return true;
}

void SessionLogWriter::drop(LogChannel& channel, const char* reason) {
  uint64_t rows = 0;
  for (const uint64_t n : channel.buffered_rows()) rows += n;
  channel.discard();
  if (rows == 0) return;
  refused_rows_ += rows;
  count_dropped(reason, rows);
}

void SessionLogWriter::count_dropped(const char* reason, uint64_t rows) {
  const std::lock_guard lock(counts_mutex_);
  if (reason == kOutOfMemory) {
    out_of_memory_rows_ += rows;
  } else {
    counts_.dropped[reason] += rows;
  }
}

void SessionLogWriter::rotate_due() {
  uint64_t open = 0;
  for (const LogChannel& channel : channels_) open += channel.file_bytes();
  // Only closed windows can be deleted: in a small spool the live files must not fill it.
  const bool crowded = options_.on_full == SpoolPolicy::DropOldest && options_.spool_bytes > 0 &&
                       open > options_.spool_bytes / 2;
  for (LogChannel& channel : channels_) {
    if (!channel.has_file() || channel.buffered_bytes() > 0) continue;
    if (crowded || channel.file_bytes() >= options_.window_bytes ||
        now_ns_ - channel.opened_ns() >= options_.window_age_ns) {
      rotate(channel);
    }
  }
}

void SessionLogWriter::rotate(LogChannel& channel) {
  if (!channel.has_file()) return;
  archive_->reserve();
  KindCounts lost{};
  if (const auto closed = channel.rotate(now_ns_, lost)) return archive_->add(*closed);
  files_lost_ = files_lost_ || !channel.has_file();
  uint64_t rows = 0;
  {
    const std::lock_guard lock(counts_mutex_);
    for (size_t kind = 0; kind < kKindCount; ++kind) {
      if (lost[kind] == 0 || !is_counted(static_cast<Kind>(kind))) continue;
      counts_.rows[std::string(spec(static_cast<Kind>(kind)).name)] -= lost[kind];
      rows += lost[kind];
    }
  }
  if (rows > 0) count_dropped(kIoError, rows);
}

// Each change of state is told once. After an I/O error only a write that succeeds can end it.
void SessionLogWriter::update_state() {
  const char* reason = refusal();
  if (reason != nullptr && refused_ == nullptr) {
    set_refused(reason);
    Json mark = Json::object();
    mark.set("time", now_ns_).set("name", "log_paused").set("reason", reason);
    if (append_mark(mark)) at(Channel::System).count_pause();
  } else if (reason == nullptr && refused_ != nullptr && !is_io_reason(refused_)) {
    resume();
  }
}

void SessionLogWriter::resume() {
  Json mark = Json::object();
  mark.set("time", now_ns_).set("name", "log_resumed").set("reason", refused_);
  mark.set("since", refused_since_ns_).set("rows_dropped", refused_rows_);
  if (append_mark(mark)) set_refused(nullptr);
}

void SessionLogWriter::set_refused(const char* reason) {
  refused_ = reason;
  refused_since_ns_ = now_ns_;
  refused_rows_ = 0;
  const std::lock_guard lock(counts_mutex_);
  counts_.paused = reason != nullptr ? reason : "";
}

// Told past every limit but the disk's own: a few lines that say why others are missing.
bool SessionLogWriter::append_mark(const Json& fields) {
  const std::string line = object_line(Kind::Event, fields).dump() + '\n';
  LogChannel& system = at(Channel::System);
  const uint64_t before = system.file_bytes();
  if (system.append_now(line, now_ns_) != 0) return false;
  const std::lock_guard lock(counts_mutex_);
  counts_.rows[std::string(spec(Kind::Event).name)] += 1;
  counts_.raw_bytes += system.file_bytes() - before;
  return true;
}

const char* SessionLogWriter::refusal() {
  if (is_spool_full()) return kSpoolFull;
  if (is_below_disk_floor()) return kDiskFloor;
  return nullptr;
}

// Of what no deletion of windows brings back.
uint64_t SessionLogWriter::live_bytes() const {
  uint64_t live = modules_ != nullptr ? modules_->bytes() : 0;
  for (const LogChannel& channel : channels_) {
    live += channel.file_bytes() + channel.buffered_bytes();
  }
  return live;
}

bool SessionLogWriter::is_spool_full() {
  if (options_.spool_bytes == 0) return false;
  const uint64_t live = live_bytes();
  // Once full, some room has to come free before writing goes on: one gap, not a thousand.
  const uint64_t room = refused_ == kSpoolFull ? options_.spool_bytes / 16 : 0;
  const uint64_t limit = options_.spool_bytes - room;
  while (live + archive_->bytes() > limit) {
    if (options_.on_full == SpoolPolicy::DropNew || !archive_->delete_oldest()) return true;
  }
  return false;
}

bool SessionLogWriter::is_below_disk_floor() {
  if (options_.disk_floor_bytes == 0) return false;
  if (now_ns_ < next_disk_check_ns_) return below_disk_floor_;
  next_disk_check_ns_ = now_ns_ + kSecond;
  struct statvfs disk{};
  if (::statvfs(options_.session_dir.c_str(), &disk) != 0) return below_disk_floor_;
  const uint64_t free_bytes = uint64_t{disk.f_bavail} * disk.f_frsize;
  const uint64_t room = below_disk_floor_ ? options_.disk_floor_bytes / 16 : 0;
  below_disk_floor_ = free_bytes < options_.disk_floor_bytes + room;
  return below_disk_floor_;
}

WriterCounts SessionLogWriter::counts() const {
  const ArchiveCounts archived = archive_ ? archive_->counts() : ArchiveCounts{};
  const std::lock_guard lock(counts_mutex_);
  WriterCounts counts = counts_;
  if (out_of_memory_rows_ > 0) counts.dropped[kOutOfMemory] = out_of_memory_rows_;
  counts.windows_sealed = archived.windows_sealed;
  counts.sealed_bytes = archived.sealed_bytes;
  counts.windows_deleted = archived.windows_deleted;
  counts.rows_deleted = archived.rows_deleted;
  return counts;
}

// The ledger is written before the last windows are sealed: sealing takes time, and a process that
// is killed during it must not take the account with it.
Status SessionLogWriter::close(int64_t now_ns, const Ledger& ledger) {
  if (closed_) return close_status_;
  const FileSizeSignalBlocked blocked;
  if (modules_ != nullptr) modules_->finish();
  close_status_ = flush(now_ns);
  try {
    write_end(ledger);
    for (LogChannel& channel : channels_) rotate(channel);
  } catch (const std::exception&) {
    close_status_ = out_of_memory();
  }
  closed_ = true;
  const Status sealed = archive_->finish();
  if (close_status_.is_ok()) close_status_ = sealed;
  if (close_status_.is_ok() && files_lost_) {
    close_status_ = Status(base::Code::NotFound, "files of the log were removed during recording");
  }
  lock_->release();
  return close_status_;
}

void SessionLogWriter::write_end(const Ledger& ledger) {
  Ledger full = ledger;
  full.writer = counts();
  if (modules_ != nullptr) {
    const ModuleCounts modules = modules_->counts();
    full.modules_kept = modules.kept;
    full.modules_over_cap = modules.over_cap;
    full.modules_not_found = modules.not_found;
  }
  Json account = full.to_json();
  account.set("time", now_ns_);
  Json end = Json::object();
  end.set("time", now_ns_);
  const std::string lines =
      object_line(Kind::Ledger, account).dump() + '\n' + object_line(Kind::End, end).dump() + '\n';
  if (const int error = at(Channel::System).append_now(lines, now_ns_); error != 0) {
    close_status_ = Status::from_errno(error, "cannot write the ledger");
  }
}

void SessionLogWriter::abandon() {
  closed_ = true;
  for (LogChannel& channel : channels_) {
    channel.discard();
    channel.abandon();
  }
  lock_->forget();
  // Their threads live in the parent only, so they cannot be destroyed here; kept reachable
  // instead.
  static auto& abandoned = *new std::vector<std::pair<LogArchive*, ModuleStore*>>;
  if (archive_) archive_->abandon();
  abandoned.emplace_back(archive_.release(), modules_.release());
}

// Leaves nothing behind when it fails but `lock`, which it takes only when it succeeds.
base::Result<std::unique_ptr<LogWriter>> begin_session(LogOptions options,
                                                       const SessionHeader& header,
                                                       std::unique_ptr<SessionLock>& lock) {
  const Json line = header.to_json();
  const std::filesystem::path manifest = options.session_dir / kManifestName;
  const uint64_t slack =
      options.spool_bytes == 0
          ? kMaxManifestSlack
          : std::clamp(options.spool_bytes / 16, kMinManifestSlack, kMaxManifestSlack);
  auto archive = LogArchive::create(options.session_dir, line.dump() + '\n', slack);
  if (!archive) return archive.status();
  auto writer =
      std::make_unique<SessionLogWriter>(std::move(options), line, std::move(archive.value()));
  if (Status begun = writer->begin(); !begun.is_ok()) {
    ::unlink(manifest.c_str());
    return begun;
  }
  writer->take(std::move(lock));
  return std::unique_ptr<LogWriter>(std::move(writer));
}

}  // namespace

base::Result<std::unique_ptr<LogWriter>> LogWriter::create(LogOptions options,
                                                           const SessionHeader& header) {
  const FileSizeSignalBlocked blocked;
  try {
    const std::filesystem::path dir = options.session_dir;
    std::error_code error;
    const bool made = std::filesystem::create_directories(dir, error);
    if (error) return Status::from_errno(error.value(), "cannot make " + dir.string());
    auto lock = std::make_unique<SessionLock>();
    Status status = lock->acquire(dir);
    if (status.is_ok()) {
      auto writer = begin_session(std::move(options), header, lock);
      if (writer) return writer;
      status = writer.status();
      lock->release();
    }
    if (made) ::rmdir(dir.c_str());
    return status;
  } catch (const std::exception&) {
    return Status(base::Code::LimitReached, "out of memory");
  }
}

}  // namespace gpufl::format
