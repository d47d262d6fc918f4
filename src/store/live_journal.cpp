// SPDX-License-Identifier: Apache-2.0
#include "store/live_journal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <set>
#include <system_error>
#include <utility>

#include "base/hash.hpp"
#include "store/folder_blobs.hpp"

namespace gpufl::store {
namespace {

namespace fs = std::filesystem;
using base::Status;

// Before each text. A journal is read by the machine that wrote it.
struct RecordHead {
  uint64_t hash;  // of the rest of the head and of the text
  int64_t session;
  uint64_t number, offset, size;
  uint64_t channel;
};
constexpr size_t kHashed = offsetof(RecordHead, session);
constexpr uint64_t kMostRecord = uint64_t{256} << 20;  // a larger one was never written

uint64_t hash_of(const RecordHead& head, std::string_view text) {
  base::Xxh64 hash;
  hash.update(reinterpret_cast<const char*>(&head) + kHashed, sizeof head - kHashed);
  hash.update(text.data(), text.size());
  return hash.digest();
}

std::set<uint64_t> numbers_in(const fs::path& folder) {
  std::set<uint64_t> numbers;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    uint64_t number = 0;
    const auto [end, wrong] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (wrong == std::errc() && end == name.data() + name.size()) numbers.insert(number);
  }
  return numbers;
}

Status replay_file(const fs::path& path, const std::function<Status(const LiveLines&)>& write) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Status::from_errno(errno, "cannot read the journal " + path.string());
  RecordHead head{};
  std::string text;
  while (in.read(reinterpret_cast<char*>(&head), sizeof head)) {
    if (head.size > kMostRecord || head.channel >= format::kChannelCount) return {};
    text.resize(head.size);
    if (!in.read(text.data(), static_cast<std::streamsize>(text.size()))) return {};
    // Where a sync was cut short, what follows was not acknowledged.
    if (hash_of(head, text) != head.hash) return {};
    const Status written = write(
        {head.session, static_cast<format::Channel>(head.channel), head.number, head.offset, text});
    if (!written) return written;
  }
  return {};
}

}  // namespace

LiveJournal::~LiveJournal() {
  if (fd_ >= 0) ::close(fd_);
}

Status LiveJournal::replay(const std::function<Status(const LiveLines&)>& write) {
  if (Status cut = cut_stray(); !cut) return cut;
  for (const uint64_t number : numbers_in(folder_)) {
    if (Status done = replay_file(file(number), write); !done) return done;
  }
  return {};
}

Status LiveJournal::turn() {
  if (Status cut = cut_stray(); !cut) return cut;
  std::error_code error;
  fs::create_directories(folder_, error);
  const std::set<uint64_t> before = numbers_in(folder_);
  const uint64_t number = before.empty() ? 1 : *before.rbegin() + 1;
  const fs::path path = file(number);
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return Status::from_errno(errno, "cannot begin the journal " + path.string());
  Status synced = sync_folder(folder_);
  if (synced) synced = sync_folder(folder_.parent_path());
  if (!synced) {
    ::close(fd);
    fs::remove(path, error);
    return synced;
  }
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
  number_ = number;
  bytes_ = 0;
  has_older_ = !before.empty();
  return {};
}

Status LiveJournal::drop_older() {
  std::error_code error;
  for (const uint64_t number : numbers_in(folder_)) {
    if (number < number_) fs::remove(file(number), error);
  }
  has_older_ = false;
  return sync_folder(folder_);
}

void LiveJournal::add(const LiveLines& lines) {
  RecordHead head{.hash = 0,
                  .session = lines.session,
                  .number = lines.number,
                  .offset = lines.offset,
                  .size = lines.text.size(),
                  .channel = static_cast<uint64_t>(lines.channel)};
  head.hash = hash_of(head, lines.text);
  added_.append(reinterpret_cast<const char*>(&head), sizeof head);
  added_ += lines.text;
}

Status LiveJournal::sync() {
  const std::string added = std::exchange(added_, {});
  if (added.empty()) return {};
  if (Status cut = cut_stray(); !cut) return cut;
  size_t done = 0;
  int failed = 0;
  while (done < added.size() && failed == 0) {
    const ssize_t written =
        ::pwrite(fd_, added.data() + done, added.size() - done, static_cast<off_t>(bytes_ + done));
    if (written >= 0) {
      done += static_cast<size_t>(written);
    } else if (errno != EINTR) {
      failed = errno;
    }
  }
  if (failed == 0 && ::fdatasync(fd_) != 0) failed = errno;
  if (failed != 0) {
    // Else a replay would stop at the torn record, before those that come later.
    has_stray_ = true;
    (void)cut_stray();
    return Status::from_errno(failed, "cannot write the journal");
  }
  bytes_ += added.size();
  return {};
}

void LiveJournal::cut(uint64_t end) {
  has_stray_ = has_stray_ || bytes_ > end;
  bytes_ = end;
  (void)cut_stray();
}

Status LiveJournal::cut_stray() {
  if (!has_stray_) return {};
  if (::ftruncate(fd_, static_cast<off_t>(bytes_)) != 0 || ::fdatasync(fd_) != 0) {
    return Status::from_errno(errno, "cannot shorten the journal");
  }
  has_stray_ = false;
  return {};
}

}  // namespace gpufl::store
