// SPDX-License-Identifier: Apache-2.0
#include "format/seal.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <new>
#include <tuple>

#include "base/page_allocator.hpp"
#include "format/batch_codec.hpp"
#include "format/codings.hpp"
#include "format/frame_writer.hpp"
#include "format/line_scanner.hpp"

namespace gpufl::format {
namespace {

// Of a batch that is worth no gathering, for which it would be decoded: into the heap, where a
// thread that allocates now and then leaves it to the program.
constexpr size_t kLargeRows = kRowsPerLine / 4;
constexpr size_t kMaxGathered = 64;  // batches being filled at a time

// The time of a line that is no batch, where it has one.
bool find_time(std::string_view line, int64_t& time_ns) {
  LineScanner scanner(line);
  if (!scanner.expect('{')) return false;
  do {
    std::string_view key;
    if (!scanner.read_string(key) || !scanner.expect(':')) return false;
    if (key == "time") return scanner.read_integer(time_ns);
    if (!scanner.skip_value()) return false;
  } while (scanner.accept(','));
  return false;
}

class Sealer {
 public:
  base::Status open(const std::filesystem::path& path) { return frames_.open(path); }

  void add_line(std::string_view line) {
    const KindSpec* const kind = find_kind(line_type(line));
    if (kind == nullptr) return put(line);
    if (!kind->is_batch()) {
      if (kind->kind == Kind::Ledger || kind->kind == Kind::End) put_all_gathered();
      if (int64_t time = 0; find_time(line, time)) include(time, time);
      return put(line);
    }
    const LineHead head = line_head(line);
    if (head.rows < static_cast<int64_t>(kLargeRows) && gather(*kind, line)) return;
    put_gathered(kind->kind);  // rows of a kind keep their order as far as they can
    put_batch(line, head);
  }

  // Everything there is: then the result.
  base::Result<SealedWindow> finish(std::string_view tail) {
    put_all_gathered();
    if (!tail.empty()) frames_.add(tail);
    if (const base::Status status = frames_.finish(); !status) return status;
    window_.raw_bytes = frames_.raw_bytes();
    window_.sealed_bytes = frames_.sealed_bytes();
    window_.hash = base::xxh64_text(frames_.hash());
    return window_;
  }

 private:
  // Batches go together when they are alike: the same columns, and one device, because each has a
  // clock of its own.
  using Key = std::tuple<Kind, uint64_t, int64_t>;
  // As large as no other memory of a session, and only now and then there: in pages.
  struct Gathered {
    explicit Gathered(const KindSpec& of) : kind(of), columns(of.columns.size()) {}

    const KindSpec& kind;
    std::vector<base::PageVector<int64_t>> columns;
    size_t rows = 0;
  };

  static Key key_of(const Batch& batch) {
    const KindSpec& kind = batch.kind_spec();
    uint64_t present = 0;
    int64_t device = -1;
    for (size_t i = 0; i < kind.columns.size(); ++i) {
      if (!batch.has(i)) continue;
      present |= uint64_t{1} << i;
      if (kind.columns[i].name == "device") device = batch.column(i)[0];
    }
    return {kind.kind, present, device};
  }

  bool gather(const KindSpec& kind, std::string_view line) {
    Batch& rows = scratch_.try_emplace(kind.kind, kind.kind).first->second;
    DecodeStats stats;
    if (!codec_.decode(line, rows, &stats) || stats.unknown_columns != 0) return false;
    if (rows.empty()) return true;
    if (gathered_.size() >= kMaxGathered) put_all_gathered();
    Gathered& target = gathered_.try_emplace(key_of(rows), kind).first->second;
    if (target.rows + rows.rows() > kRowsPerLine) put_gathered(target);
    for (size_t i = 0; i < kind.columns.size(); ++i) {
      const auto& values = rows.column(i);
      if (values.empty()) continue;
      auto& all = target.columns[i];
      all.reserve(kRowsPerLine);
      all.insert(all.end(), values.begin(), values.end());
    }
    target.rows += rows.rows();
    return true;
  }

  void put_all_gathered() {
    for (auto& [key, gathered] : gathered_) put_gathered(gathered);
    gathered_.clear();
  }
  void put_gathered(Kind kind) {
    for (auto& [key, gathered] : gathered_) {
      if (std::get<Kind>(key) == kind) put_gathered(gathered);
    }
  }

  void put_gathered(Gathered& gathered) {
    if (gathered.rows == 0) return;
    text_.clear();
    codec_.encode(BatchView(gathered.kind, gathered.rows, gathered.columns), text_);
    for (auto& column : gathered.columns) column.clear();
    gathered.rows = 0;
    const std::string_view line = std::string_view(text_).substr(0, text_.size() - 1);
    put_batch(line, line_head(line));
  }

  void put_batch(std::string_view line, const LineHead& head) {
    if (head.rows > 0) window_.rows += static_cast<uint64_t>(head.rows);
    if (head.has_span) include(head.span[0], head.span[1]);
    put(line);
  }

  void put(std::string_view line) {
    frames_.add(line);
    frames_.add("\n");
    ++window_.lines;
  }

  void include(int64_t first_ns, int64_t last_ns) {
    window_.first_ns = has_times_ ? std::min(window_.first_ns, first_ns) : first_ns;
    window_.last_ns = has_times_ ? std::max(window_.last_ns, last_ns) : last_ns;
    has_times_ = true;
  }

  FrameWriter frames_;
  BatchCodec codec_;
  std::map<Kind, Batch> scratch_;
  std::map<Key, Gathered> gathered_;
  std::string text_;
  SealedWindow window_;
  bool has_times_ = false;
};

base::Status sync_folder(const std::filesystem::path& folder) {
  const int fd = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) return base::Status::from_errno(errno, folder.string());
  const int outcome = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // Some file systems have no such thing for folders.
  if (outcome != 0 && error != EINVAL) return base::Status::from_errno(error, folder.string());
  return {};
}

base::Result<SealedWindow> seal_lines(const std::filesystem::path& raw,
                                      const std::filesystem::path& into) {
  Sealer sealer;
  if (const base::Status status = sealer.open(into); !status) return status;
  const UnsealOutcome outcome = read_window(raw, [&](std::string_view line) {
    sealer.add_line(line);
    return true;
  });
  if (!outcome.status) return outcome.status;
  if (outcome.oversized != 0) {
    return base::Status(base::Code::LimitReached, raw.string() + ": a line is too long to seal");
  }
  return sealer.finish(outcome.tail);
}

}  // namespace

base::Result<SealedWindow> seal_into(const std::filesystem::path& raw,
                                     const std::filesystem::path& file) {
  try {
    return seal_lines(raw, file);
  } catch (const std::bad_alloc&) {
    return base::Status(base::Code::LimitReached, "out of memory");
  }
}

base::Result<SealedWindow> seal_window(const std::filesystem::path& raw,
                                       const std::filesystem::path& sealed) {
  std::filesystem::path temporary = sealed;
  temporary += ".tmp";
  base::Result<SealedWindow> result = seal_into(raw, temporary);
  if (result && std::rename(temporary.c_str(), sealed.c_str()) != 0) {
    result = base::Status::from_errno(errno, sealed.string());
  }
  if (!result) {
    ::unlink(temporary.c_str());
    return result;
  }
  if (const base::Status status = sync_folder(sealed.parent_path()); !status) return status;
  return result;
}

}  // namespace gpufl::format
