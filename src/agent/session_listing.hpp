// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/folder.hpp"
#include "base/status.hpp"
#include "format/schema.hpp"

// What a session's folder holds that can be sent, by its names and the first lines of its files.
// It may be written, sealed and renamed meanwhile: a name may be gone when it is opened.
namespace gpufl::agent {

struct ListedWindow {
  format::Channel channel = format::Channel::System;
  uint64_t number = 0;
  std::string file;
  bool is_sealed = false;
  uint64_t rows = 0;  // of sealed ones, as the manifest has it
};

struct SessionListing {
  bool is_live = false;               // its writer runs
  std::vector<ListedWindow> windows;  // one a number: the sealed file where there is one
  // Of what is replaced as a whole: "manifest", "symbols", "disassembly".
  std::map<std::string, uint64_t> versions;
  std::vector<std::string> modules;  // hashes
};

// Which window an unsealed file is, by its first line; nothing while that is not there.
std::optional<uint64_t> window_of(const OpenFile& file);

// The file that such a kind is sent from.
const char* file_of_kind(std::string_view kind);

// One session, looked at again and again. One thread.
class SessionFolder {
 public:
  // NotFound where it is no session, or has no whole line yet.
  static base::Result<SessionFolder> open(const std::filesystem::path& path);
  static base::Result<SessionFolder> open(Folder folder);

  const Folder& folder() const { return folder_; }
  const std::string& session_id() const { return session_id_; }
  // Costs a look at every name and at the first line of a live file; the manifest is read again
  // when it has changed.
  SessionListing list();

 private:
  explicit SessionFolder(Folder folder) : folder_(std::move(folder)) {}
  void read_manifest();
  base::Status find_id();

  Folder folder_;
  std::string session_id_;
  uint64_t manifest_bytes_ = 0;
  int64_t manifest_changed_ns_ = -1;
  uint64_t manifest_version_ = 0;
  std::map<std::pair<format::Channel, uint64_t>, uint64_t> rows_;  // of sealed windows
};

// Rows of the batches in whole lines of the log.
uint64_t rows_in(std::string_view lines);

}  // namespace gpufl::agent
