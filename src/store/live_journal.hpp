// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "base/status.hpp"
#include "format/schema.hpp"

// Lines that were acknowledged before the files that they belong to were synced: one file, which is
// synced for all who wait, instead of one of each of them. What is in it is written again after a
// crash. While the files of one journal are synced, the next one takes lines. One thread.
namespace gpufl::store {

struct LiveLines {
  int64_t session = 0;
  format::Channel channel = format::Channel::Device;
  uint64_t number = 0;  // of the window
  uint64_t offset = 0;  // in its text
  std::string_view text;
};

class LiveJournal {
 public:
  explicit LiveJournal(std::filesystem::path folder) : folder_(std::move(folder)) {}
  ~LiveJournal();
  LiveJournal(const LiveJournal&) = delete;
  LiveJournal& operator=(const LiveJournal&) = delete;

  // Hands over what journals hold, in order, as far as they were synced.
  base::Status replay(const std::function<base::Status(const LiveLines&)>& write);
  // Starts a new one. Those before it stay until every line of theirs is where it belongs and
  // synced. After a failure it is as it was.
  base::Status turn();
  base::Status drop_older();
  bool has_older() const { return has_older_; }

  void add(const LiveLines& lines);
  // What was added outlives a loss of power. After a failure nothing of it was added.
  base::Status sync();
  // What was synced behind that end counts no more: its transaction failed, and the number of its
  // session may be another's by tomorrow. As long as the disk does not have that, nothing is taken.
  void cut(uint64_t end);
  uint64_t bytes() const { return bytes_; }  // synced

 private:
  base::Status cut_stray();
  std::filesystem::path file(uint64_t number) const { return folder_ / std::to_string(number); }

  const std::filesystem::path folder_;
  int fd_ = -1;
  uint64_t number_ = 0;
  uint64_t bytes_ = 0;
  bool has_older_ = false;
  bool has_stray_ = false;  // behind its end there may be something
  std::string added_;
};

}  // namespace gpufl::store
