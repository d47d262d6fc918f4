// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/folder.hpp"
#include "agent/piece_kind.hpp"
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
  uint64_t version = 0;                    // another one when anything of it is
  bool is_live = false;                    // its writer runs
  std::vector<ListedWindow> windows;       // one a number: the sealed file where there is one
  std::map<PieceKind, uint64_t> versions;  // of what is replaced as a whole
  std::vector<std::string> modules;        // hashes
  // What is there, and cannot be read as what its name says: why, by name.
  std::map<std::string, std::string> unreadable;
};

// Which window an unsealed file is, by its first line. NotFound while that is not there, Corrupt
// where it is another one.
base::Result<uint64_t> window_of(const OpenFile& file);

// The file that a kind is sent from which is replaced as a whole.
const char* file_of_kind(PieceKind kind);

// One session, looked at again and again. One thread.
class SessionFolder {
 public:
  // NotFound where it is no session, or has no whole line yet.
  static base::Result<SessionFolder> open(const std::filesystem::path& path);
  static base::Result<SessionFolder> open(Folder folder);

  const Folder& folder() const { return folder_; }
  const std::string& session_id() const { return session_id_; }
  // Costs a look at every name and at the first line of a live file where a name has come or gone;
  // of the manifest, what has been added is read.
  const SessionListing& list();
  // A file has another name by now: names are looked at again.
  void forget_names() { is_forgotten_ = true; }

 private:
  explicit SessionFolder(Folder folder) : folder_(std::move(folder)) {}
  base::Status find_id();
  bool read_manifest();  // whether it tells more
  void take_manifest_line(std::string_view line);
  bool has_changed();
  void list_names();
  void list_modules();
  void note_unreadable(const std::string& name, const base::Status& why);

  Folder folder_;
  std::string session_id_;
  FileStamp manifest_;  // of the file, as it was read last
  base::Status manifest_trouble_;
  uint64_t manifest_read_ = 0;  // bytes of it, in whole lines
  // Grows with what is told, also when the manifest is written anew in a shorter form: a window
  // that was sealed counts once, one that was deleted twice.
  uint64_t manifest_version_ = 0;
  std::map<std::pair<format::Channel, uint64_t>, uint64_t> rows_;  // of sealed windows
  SessionListing listing_;
  FileStamp listed_, listed_modules_;
  std::chrono::steady_clock::time_point listed_at_{};
  bool is_settled_ = false;    // a change of the folder since then would show in its stamp
  bool is_forgotten_ = false;  // it is to be looked at whatever its stamp
};

// Rows of the batches in whole lines of the log.
uint64_t rows_in(std::string_view lines);

}  // namespace gpufl::agent
