// SPDX-License-Identifier: Apache-2.0
#include "agent/session_listing.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <span>
#include <utility>

#include "base/clock.hpp"
#include "base/json.hpp"
#include "format/limits.hpp"
#include "format/manifest.hpp"
#include "format/module_files.hpp"
#include "format/session_files.hpp"

namespace gpufl::agent {
namespace {

using base::Json;
using Clock = std::chrono::steady_clock;
using format::Channel;
using format::FileName;

// A log's first line is far shorter: its command is cut at 4 KiB.
constexpr size_t kMaxFirstLine = size_t{64} << 10;
// Of text in which it was not found, in pieces of half a MiB; a file may have no line end at all.
constexpr uint64_t kMostRead = uint64_t{1} << 20;

base::Result<Json> session_line_of(const OpenFile& file) {
  const base::Status other(base::Code::Corrupt, "its first line is not that of a session");
  base::Result<Json> first = base::Status(base::Code::NotFound, "it has no first line yet");
  const format::UnsealOutcome outcome = format::read_placed_lines(
      file.path(), {},
      [&](std::string_view text, const format::LinePlace&) {
        first = Json::parse(text, kMaxFirstLine);
        if (!first || (*first)["type"].as_string() != "session") first = other;
        return false;
      },
      kMaxFirstLine,
      [&](uint64_t bytes) {
        if (bytes > kMostRead) first = other;
        return bytes <= kMostRead;
      });
  if (outcome.status) return first;
  return outcome.status.code() == base::Code::Corrupt ? other : outcome.status;
}

// Names that come within a tick of the clock of a file system leave its time as it was.
constexpr int64_t kSettled_ns = 1'000'000'000;
constexpr std::chrono::seconds kLookAnyway{30};
constexpr Clock::duration kListPause = std::chrono::seconds(1);
constexpr size_t kManyNames = 256;
constexpr size_t kManifestPiece = size_t{1} << 20;

}  // namespace

base::Result<uint64_t> window_of(const OpenFile& file) {
  const auto line = session_line_of(file);
  if (!line) return line.status();
  const int64_t number = (*line)["window"].as_integer();
  if (number >= static_cast<int64_t>(format::kFirstWindow)) return static_cast<uint64_t>(number);
  return base::Status(base::Code::Corrupt, "its first line names no window");
}

const char* file_of_kind(PieceKind kind) {
  if (kind == PieceKind::Manifest) return format::kManifestName;
  return kind == PieceKind::Symbols ? format::kSymbolFileName : format::kDisassemblyFileName;
}

base::Result<SessionFolder> SessionFolder::open(const std::filesystem::path& path) {
  auto folder = Folder::open(path);
  if (!folder) return folder.status();
  return open(std::move(*folder));
}

base::Result<SessionFolder> SessionFolder::open(Folder folder) {
  SessionFolder session(std::move(folder));
  if (base::Status status = session.find_id(); !status) return status;
  return session;
}

base::Status SessionFolder::find_id() {
  base::Status trouble(base::Code::NotFound, folder_.path().string() + " is not a session");
  const auto names = folder_.names();
  if (!names) return names.status();
  for (const std::string& name : *names) {
    if (name != format::kManifestName && !format::parse_file_name(name)) continue;
    const auto file = folder_.open_file(name);
    const auto line = file ? session_line_of(*file) : base::Result<Json>(file.status());
    if (!line) {
      const base::Code code = line.status().code();
      if (code != base::Code::NotFound && code != base::Code::Corrupt) trouble = line.status();
      continue;
    }
    session_id_ = (*line)["session_id"].as_string();
    if (!session_id_.empty()) return {};
  }
  return trouble;
}

void SessionFolder::take_manifest_line(std::string_view text) {
  const auto line = Json::parse(text);
  const auto entry = line ? format::ManifestEntry::from_json(*line) : std::nullopt;
  if (!entry) return;
  const std::pair first(entry->channel, entry->window);
  if (entry->event == format::ManifestEntry::Event::Sealed) {
    if (rows_.insert_or_assign(first, entry->sealed.rows).second) ++manifest_version_;
    return;
  }
  const auto from = rows_.lower_bound(first);
  const auto to = rows_.upper_bound({entry->channel, entry->end()});
  manifest_version_ -= static_cast<uint64_t>(std::distance(from, to));
  manifest_version_ += 2 * (entry->end() - entry->window + 1);
  rows_.erase(from, to);
}

bool SessionFolder::read_manifest() {
  const auto file = folder_.open_file(format::kManifestName);
  manifest_trouble_ = file.status();
  if (!file) return false;
  const FileStamp now = file->stamp();
  if (now == manifest_) return false;
  if (now.inode != manifest_.inode || now.size < manifest_read_) {
    manifest_read_ = 0;
    manifest_version_ = 1;
    rows_.clear();
  }
  manifest_ = now;
  std::string text;
  while (manifest_read_ < now.size) {
    const size_t held = text.size();
    const uint64_t left = now.size - manifest_read_ - held;
    text.resize(held + static_cast<size_t>(std::min<uint64_t>(left, kManifestPiece)));
    manifest_trouble_ = file->read(manifest_read_ + held, std::span(text).subspan(held));
    if (!manifest_trouble_) {
      manifest_ = {};  // from the beginning, the next time
      break;
    }
    const size_t whole = text.rfind('\n') + 1;
    if (whole == 0 && text.size() > format::kMaxObjectLineBytes) {
      manifest_trouble_ = {base::Code::Corrupt, "a line of it is longer than any of a manifest"};
      manifest_ = {};
      break;
    }
    for (size_t begin = 0; begin < whole;) {
      const size_t end = text.find('\n', begin);
      take_manifest_line(std::string_view(text).substr(begin, end - begin));
      begin = end + 1;
    }
    manifest_read_ += whole;
    text.erase(0, whole);
    if (manifest_read_ + text.size() >= now.size) break;
  }
  return true;
}

bool SessionFolder::has_changed() {
  const auto at = Clock::now();
  const bool is_forgotten = std::exchange(is_forgotten_, false);
  // Of a session that is being written: what is in a folder of many names can wait a moment.
  const auto pause = listing_.windows.size() > kManyNames ? kListPause : Clock::duration(0);
  if (listing_.is_live && !is_forgotten && at - listed_at_ < pause) return false;
  const FileStamp now = folder_.stamp();
  const auto modules = folder_.open_folder(format::kModuleFolder);
  const FileStamp now_modules = modules ? modules->stamp() : FileStamp();
  const bool is_same = now == listed_ && now_modules == listed_modules_;
  if (is_same && is_settled_ && !is_forgotten && at - listed_at_ < kLookAnyway) return false;
  listed_ = now;
  listed_modules_ = now_modules;
  listed_at_ = at;
  const int64_t age_ns = base::wall_ns() - std::max(now.changed_ns, now_modules.changed_ns);
  is_settled_ = age_ns > kSettled_ns;
  return true;
}

const SessionListing& SessionFolder::list() {
  // First: what is written after a writer has gone cannot be missed then.
  const bool is_live = format::is_locked(folder_.path());
  if (is_live != listing_.is_live) ++listing_.version;
  listing_.is_live = is_live;
  const bool is_told_more = read_manifest();
  const auto trouble = manifest_trouble_.code();
  if (trouble != base::Code::Ok && trouble != base::Code::NotFound) forget_names();
  const bool has_other_names = has_changed();
  if (has_other_names) list_names();
  if (!is_told_more && !has_other_names) return listing_;
  ++listing_.version;
  if (manifest_version_ > 0) listing_.versions[PieceKind::Manifest] = manifest_version_;
  for (ListedWindow& window : listing_.windows) {
    const auto rows = rows_.find({window.channel, window.number});
    if (rows != rows_.end()) window.rows = rows->second;
  }
  return listing_;
}

void SessionFolder::note_unreadable(const std::string& name, const base::Status& why) {
  if (why.is_ok() || why.code() == base::Code::NotFound) return;
  listing_.unreadable[name] = why.message();
  is_settled_ = false;  // nothing tells of rights that were given
}

void SessionFolder::list_names() {
  listing_.versions.clear();
  listing_.windows.clear();
  listing_.modules.clear();
  listing_.unreadable.clear();
  note_unreadable(format::kManifestName, manifest_trouble_);
  const auto names = folder_.names();
  if (!names) return note_unreadable(".", names.status());
  std::map<std::pair<Channel, uint64_t>, ListedWindow> windows;
  for (const std::string& name : *names) {
    if (name == format::kSymbolFileName || name == format::kDisassemblyFileName) {
      const auto file = folder_.open_file(name);
      const bool is_symbols = name == format::kSymbolFileName;
      const PieceKind kind = is_symbols ? PieceKind::Symbols : PieceKind::Disassembly;
      // It may be made anew with less in it; an older one that is put back takes no newer one's
      // place. Nanoseconds would be more than the server takes, 2^53.
      if (file) {
        listing_.versions[kind] =
            static_cast<uint64_t>(std::max<int64_t>(file->stamp().changed_ns / 1000, 1));
      }
      note_unreadable(name, file.status());
    }
    const auto parsed = format::parse_file_name(name);
    if (!parsed || !parsed->channel) continue;
    uint64_t number = parsed->window;
    if (parsed->form == FileName::Form::Live) {
      const auto file = folder_.open_file(name);
      const auto window = file ? window_of(*file) : base::Result<uint64_t>(file.status());
      if (!window) {
        is_settled_ = false;  // its first line is still to come
        if (!listing_.is_live) note_unreadable(name, window.status());
        continue;
      }
      number = *window;
    }
    ListedWindow& window = windows[{*parsed->channel, number}];
    if (window.is_sealed) continue;
    window = {*parsed->channel, number, name, parsed->form == FileName::Form::Sealed, 0};
  }
  for (auto& [key, window] : windows) listing_.windows.push_back(std::move(window));
  list_modules();
}

void SessionFolder::list_modules() {
  const auto folder = folder_.open_folder(format::kModuleFolder);
  const auto names =
      folder ? folder->names() : base::Result<std::vector<std::string>>(folder.status());
  note_unreadable(format::kModuleFolder, names.status());
  if (!names) return;
  for (const std::string& name : *names) {
    const std::string_view hash = format::module_hash_of(name);
    if (!hash.empty()) listing_.modules.emplace_back(hash);
  }
}

uint64_t rows_in(std::string_view lines) {
  constexpr std::string_view kCount = "\",\"n\":";
  constexpr size_t kLongestKind = 64;
  uint64_t rows = 0;
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    const size_t at = line.substr(0, kLongestKind).find(kCount);
    uint64_t count = 0;
    if (at != std::string_view::npos) {
      const char* const begin = line.data() + at + kCount.size();
      std::from_chars(begin, line.data() + line.size(), count);
    }
    rows += count;
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
  return rows;
}

}  // namespace gpufl::agent
