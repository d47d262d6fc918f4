// SPDX-License-Identifier: Apache-2.0
#include "server/result_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <stdexcept>
#include <utility>

namespace gpufl::server {
namespace {

using base::Json;

constexpr int kVersion = 1;
constexpr size_t kLongestHead = size_t{256} << 10;
constexpr uint64_t kReadAtOnce = uint64_t{1} << 20;
constexpr uint64_t kPieceBytes = uint64_t{128} << 10;

// Appends up to `bytes` from `offset` on; fewer at the end of the file.
void read_at(int fd, uint64_t offset, uint64_t bytes, std::string& out) {
  const size_t before = out.size();
  out.resize(before + bytes);
  uint64_t done = 0;
  while (done < bytes) {
    const ssize_t got =
        ::pread(fd, out.data() + before + done, bytes - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    done += static_cast<uint64_t>(got);
  }
  out.resize(before + done);
}

class FileSource : public net::BodySource {
 public:
  FileSource(int fd, uint64_t offset, uint64_t bytes) : fd_(fd), at_(offset), left_(bytes) {}
  ~FileSource() override { ::close(fd_); }
  FileSource(const FileSource&) = delete;
  FileSource& operator=(const FileSource&) = delete;

  bool next(std::string& out) override {
    const uint64_t bytes = std::min(left_, kPieceBytes);
    const size_t before = out.size();
    read_at(fd_, at_, bytes, out);
    if (out.size() - before != bytes) throw std::runtime_error("the file has become shorter");
    at_ += bytes;
    left_ -= bytes;
    return left_ > 0;
  }

 private:
  int fd_;
  uint64_t at_, left_;
};

// Behind the string whose opening quote is at `at`.
size_t end_of_string(std::string_view text, size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    if (text[at] == '\\') ++at;
  }
  return std::min(at + 1, text.size());
}

// Behind the value that begins at `at`: the comma or bracket that follows it.
size_t end_of_value(std::string_view text, size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && depth-- == 0) break;
    if (c == ',' && depth == 0) break;
    ++at;
  }
  return at;
}

}  // namespace

std::vector<ResultPart> members_of(std::string_view text) {
  std::vector<ResultPart> parts;
  if (!text.starts_with('{')) return parts;
  size_t at = 1;
  while (at < text.size() && text[at] == '"') {
    const size_t name_end = end_of_string(text, at);
    const auto name = Json::parse(text.substr(at, name_end - at));
    if (!name || name_end >= text.size() || text[name_end] != ':') break;
    const size_t end = end_of_value(text, name_end + 1);
    parts.push_back({name->as_string(), name_end + 1, end - name_end - 1});
    at = end + 1;
  }
  return parts;
}

std::string result_head(std::string_view key, uint64_t log_bytes,
                        const std::vector<ResultPart>& parts) {
  Json list = Json::array();
  for (const ResultPart& part : parts) {
    Json one = Json::array();
    one.push(part.name);
    one.push(part.offset);
    one.push(part.bytes);
    list.push(std::move(one));
  }
  Json head = Json::object();
  head.set("format", "gpufl-result").set("version", kVersion).set("key", key);
  head.set("log_bytes", log_bytes).set("parts", std::move(list));
  return head.dump() + "\n";
}

std::optional<ResultFile> ResultFile::open(const std::filesystem::path& path) {
  ResultFile file;
  file.fd_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  struct stat info{};
  if (file.fd_ < 0 || ::fstat(file.fd_, &info) != 0) return std::nullopt;
  std::string start;
  read_at(file.fd_, 0, kLongestHead, start);
  const size_t end = start.find('\n');
  if (end == std::string::npos) return std::nullopt;
  const auto head = Json::parse(std::string_view(start).substr(0, end));
  if (!head || (*head)["version"].as_integer() != kVersion) return std::nullopt;
  file.key_ = (*head)["key"].as_string();
  file.log_bytes_ = static_cast<uint64_t>((*head)["log_bytes"].as_integer());
  file.text_offset_ = end + 1;
  file.text_bytes_ = static_cast<uint64_t>(info.st_size) - file.text_offset_;
  for (const Json& part : (*head)["parts"].items()) {
    if (part.items().size() != 3) return std::nullopt;
    const ResultPart one{part.items()[0].as_string(),
                         static_cast<uint64_t>(part.items()[1].as_integer()),
                         static_cast<uint64_t>(part.items()[2].as_integer())};
    if (one.bytes > file.text_bytes_ || one.offset > file.text_bytes_ - one.bytes) {
      return std::nullopt;
    }
    file.parts_.push_back(one);
  }
  // When it was last asked for decides which result goes first when the cache is full.
  ::futimens(file.fd_, nullptr);
  return file;
}

ResultFile::~ResultFile() {
  if (fd_ >= 0) ::close(fd_);
}

ResultFile::ResultFile(ResultFile&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      key_(std::move(other.key_)),
      log_bytes_(other.log_bytes_),
      parts_(std::move(other.parts_)),
      text_offset_(other.text_offset_),
      text_bytes_(other.text_bytes_) {}

const ResultPart* ResultFile::part(std::string_view name) const {
  for (const ResultPart& part : parts_) {
    if (part.name == name) return &part;
  }
  return nullptr;
}

net::HttpReply ResultFile::reply(const ResultPart& part, std::string content_type) {
  return file_reply(std::exchange(fd_, -1), text_offset_ + part.offset, part.bytes,
                    std::move(content_type));
}

net::HttpReply file_reply(int fd, uint64_t offset, uint64_t bytes, std::string content_type) {
  net::HttpReply reply;
  reply.content_type = std::move(content_type);
  auto source = std::make_unique<FileSource>(fd, offset, bytes);
  if (bytes > kReadAtOnce) {
    reply.source = std::move(source);
    return reply;
  }
  while (bytes > 0 && source->next(reply.body)) {
  }
  return reply;
}

}  // namespace gpufl::server
