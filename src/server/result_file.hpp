// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.hpp"
#include "net/http_message.hpp"

// What an analysis left in the cache: a line that says what it was made from and where its parts
// are, and its text behind that. Written by the child, read by the server without bringing it into
// memory: an open one stays readable when it is replaced. One thread at a time.
namespace gpufl::server {

struct ResultPart {
  std::string name;
  uint64_t offset = 0;  // within the text
  uint64_t bytes = 0;
};

// The members of the object that `text` is. Nothing where it is not an object.
std::vector<ResultPart> members_of(std::string_view text);

// What stands first in a result: the line, with its newline.
std::string result_head(std::string_view key, uint64_t log_bytes,
                        const std::vector<ResultPart>& parts);

class ResultFile {
 public:
  // Nothing: it does not exist, or is not as result_head() makes it.
  static std::optional<ResultFile> open(const std::filesystem::path& path);
  ~ResultFile();
  ResultFile(ResultFile&& other) noexcept;
  ResultFile& operator=(ResultFile&&) = delete;

  const std::string& key() const { return key_; }
  uint64_t log_bytes() const { return log_bytes_; }
  const std::vector<ResultPart>& parts() const { return parts_; }
  const ResultPart* part(std::string_view name) const;
  ResultPart whole() const { return {{}, 0, text_bytes_}; }

  // A reply with that part of the text. Takes the descriptor along, so call it once.
  net::HttpReply reply(const ResultPart& part, std::string content_type);

 private:
  ResultFile() = default;

  int fd_ = -1;
  std::string key_;
  uint64_t log_bytes_ = 0;
  std::vector<ResultPart> parts_;
  uint64_t text_offset_ = 0, text_bytes_ = 0;
};

// `bytes` of a file from `offset` on; the descriptor is closed in the end. Small ones are read at
// once, others in pieces while they are sent. A file that has become shorter cuts the connection.
net::HttpReply file_reply(int fd, uint64_t offset, uint64_t bytes, std::string content_type);

}  // namespace gpufl::server
