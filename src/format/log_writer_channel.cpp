// SPDX-License-Identifier: Apache-2.0
#include "format/log_writer_channel.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "format/limits.hpp"
#include "format/session_files.hpp"

namespace gpufl::format {
namespace {

constexpr size_t kMaxRepeatedBytes = size_t{256} << 10;
constexpr size_t kKeptBufferBytes = size_t{1} << 20;

}  // namespace

uint64_t batch_rows(const KindCounts& rows) {
  uint64_t total = 0;
  for (size_t kind = 0; kind < kKindCount; ++kind) {
    if (spec(static_cast<Kind>(kind)).is_batch()) total += rows[kind];
  }
  return total;
}

LogChannel::LogChannel(Channel channel, std::filesystem::path dir, const base::Json& header)
    : channel_(channel), dir_(std::move(dir)), header_(header), window_(kFirstWindow) {}

void LogChannel::add(const Batch& batch, const DictionaryTable& table, BatchCodec& codec) {
  definitions_.define_for(batch, table, buffer_);
  codec.encode(batch, buffer_);
  buffered_rows_[static_cast<size_t>(batch.kind())] += batch.rows();
}

void LogChannel::add(Kind kind, std::string_view line) {
  for (std::string* text : {&buffer_, &object_lines_}) {
    *text += line;
    *text += '\n';
  }
  buffered_rows_[static_cast<size_t>(kind)] += 1;
}

void LogChannel::repeat(const base::Json& line) {
  base::Json marked = line;
  marked.set("again", true);
  const std::string text = marked.dump();
  if (repeated_.size() + text.size() > kMaxRepeatedBytes) return;
  repeated_ += text;
  repeated_ += '\n';
}

int LogChannel::open(int64_t now_ns, std::string_view lines) {
  const std::filesystem::path path = dir_ / live_file_name(channel_);
  base::Json header = header_;
  header.set("channel", to_string(channel_)).set("window", window_);
  std::string first = header.dump();
  first += '\n';
  if (window_ != kFirstWindow) first += repeated_;
  first += lines;
  // Only now: a file in which nothing stands would be taken for one with its session line.
  const int error = file_.open_new(path);
  if (error != 0) return error;
  opened_ns_ = now_ns;
  const int outcome = file_.append(first);
  if (outcome != 0) {
    // A file without its session line would be of no use to anyone.
    ::unlink(path.c_str());
    file_.close();
  }
  return outcome;
}

int LogChannel::append_now(std::string_view lines, int64_t now_ns) {
  return file_.is_open() ? file_.append(lines) : open(now_ns, lines);
}

int LogChannel::flush(int64_t now_ns) {
  if (buffer_.empty()) return 0;
  if (const int error = append_now(buffer_, now_ns); error != 0) return error;
  definitions_.commit();
  for (size_t kind = 0; kind < kKindCount; ++kind) file_rows_[kind] += buffered_rows_[kind];
  buffered_rows_ = {};
  buffer_.clear();
  object_lines_.clear();
  if (buffer_.capacity() > kKeptBufferBytes) buffer_.shrink_to_fit();
  return 0;
}

void LogChannel::discard() {
  definitions_.rollback();
  buffered_rows_ = {};
  buffer_.clear();
  object_lines_.clear();
}

uint64_t LogChannel::discard_batches() {
  const uint64_t rows = batch_rows(buffered_rows_);
  if (rows == 0) return 0;
  definitions_.rollback();
  for (size_t kind = 0; kind < kKindCount; ++kind) {
    if (spec(static_cast<Kind>(kind)).is_batch()) buffered_rows_[kind] = 0;
  }
  buffer_.swap(object_lines_);
  object_lines_.assign(buffer_);
  return rows;
}

std::optional<ClosedWindow> LogChannel::rotate(int64_t now_ns, KindCounts& lost_rows) {
  if (!file_.is_open()) return {};
  const auto live = dir_ / live_file_name(channel_);
  const auto raw = dir_ / raw_file_name(channel_, window_);
  if (::rename(live.c_str(), raw.c_str()) != 0) {
    if (errno == ENOENT) {
      for (size_t kind = 0; kind < kKindCount; ++kind) lost_rows[kind] += file_rows_[kind];
      forget_file();
    }
    return {};
  }
  const ClosedWindow closed{channel_, window_, now_ns, file_.size(), batch_rows(file_rows_),
                            pauses_};
  forget_file();
  return closed;
}

void LogChannel::forget_file() {
  file_.close();
  definitions_.clear();
  file_rows_ = {};
  pauses_ = 0;
  ++window_;
}

}  // namespace gpufl::format
