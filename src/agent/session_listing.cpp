// SPDX-License-Identifier: Apache-2.0
#include "agent/session_listing.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/json.hpp"
#include "format/limits.hpp"
#include "format/manifest.hpp"
#include "format/module_files.hpp"
#include "format/session_files.hpp"

namespace gpufl::agent {
namespace {

using base::Json;
using format::Channel;
using format::FileName;

// A log's first line is far shorter: its command is cut at 4 KiB.
constexpr size_t kMaxFirstLine = size_t{64} << 10;

std::optional<Json> session_line_of(const OpenFile& file) {
  std::optional<Json> first;
  format::read_window(
      file.path(),
      [&](std::string_view text) {
        auto line = Json::parse(text, kMaxFirstLine);
        if (line && (*line)["type"].as_string() == "session") first = std::move(*line);
        return false;
      },
      kMaxFirstLine);
  return first;
}

// Grows with what is told, also when the manifest is written anew in a shorter form: a window that
// was sealed counts once, one that was deleted twice.
uint64_t version_of(const format::Manifest& manifest) {
  uint64_t version = 1;
  for (const format::ManifestEntry& entry : format::compacted(manifest.entries)) {
    const bool is_deleted = entry.event == format::ManifestEntry::Event::Deleted;
    version += is_deleted ? 2 * (entry.end() - entry.window + 1) : 1;
  }
  return version;
}

}  // namespace

std::optional<uint64_t> window_of(const OpenFile& file) {
  const auto line = session_line_of(file);
  if (!line || (*line)["window"].as_integer() < static_cast<int64_t>(format::kFirstWindow)) {
    return std::nullopt;
  }
  return static_cast<uint64_t>((*line)["window"].as_integer());
}

const char* file_of_kind(std::string_view kind) {
  if (kind == "manifest") return format::kManifestName;
  return kind == "symbols" ? format::kSymbolFileName : format::kDisassemblyFileName;
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
  for (const std::string& name : folder_.names()) {
    if (name != format::kManifestName && !format::parse_file_name(name)) continue;
    const auto file = folder_.open_file(name);
    const auto line = file ? session_line_of(*file) : std::nullopt;
    if (!line) continue;
    session_id_ = (*line)["session_id"].as_string();
    if (!session_id_.empty()) return {};
  }
  return {base::Code::NotFound, folder_.path().string() + " is not a session"};
}

void SessionFolder::read_manifest() {
  const auto file = folder_.open_file(format::kManifestName);
  if (!file) return;
  const uint64_t bytes = file->size();
  const int64_t changed_ns = file->changed_ns();
  if (bytes == manifest_bytes_ && changed_ns == manifest_changed_ns_) return;
  const format::Manifest manifest = format::read_manifest(file->path());
  manifest_bytes_ = bytes;
  manifest_changed_ns_ = changed_ns;
  manifest_version_ = version_of(manifest);
  rows_.clear();
  for (const format::ManifestEntry& entry : manifest.entries) {
    rows_[{entry.channel, entry.window}] = entry.sealed.rows;
  }
}

SessionListing SessionFolder::list() {
  SessionListing listing;
  // First: what is written after a writer has gone cannot be missed then.
  listing.is_live = format::is_locked(folder_.path());
  read_manifest();
  if (manifest_version_ > 0) listing.versions["manifest"] = manifest_version_;
  std::map<std::pair<Channel, uint64_t>, ListedWindow> windows;
  for (const std::string& name : folder_.names()) {
    if (name == format::kSymbolFileName || name == format::kDisassemblyFileName) {
      const auto file = folder_.open_file(name);
      const char* const kind = name == format::kSymbolFileName ? "symbols" : "disassembly";
      if (file) listing.versions[kind] = file->size();
    }
    const auto parsed = format::parse_file_name(name);
    if (!parsed || !parsed->channel) continue;
    uint64_t number = parsed->window;
    if (parsed->form == FileName::Form::Live) {
      const auto file = folder_.open_file(name);
      const auto window = file ? window_of(*file) : std::nullopt;
      if (!window) continue;
      number = *window;
    }
    ListedWindow& window = windows[{*parsed->channel, number}];
    if (window.is_sealed) continue;
    window = {*parsed->channel, number, name, parsed->form == FileName::Form::Sealed, 0};
    if (const auto rows = rows_.find({*parsed->channel, number}); rows != rows_.end()) {
      window.rows = rows->second;
    }
  }
  for (auto& [key, window] : windows) listing.windows.push_back(std::move(window));
  if (const auto modules = folder_.open_folder(format::kModuleFolder)) {
    for (const std::string& name : modules->names()) {
      const std::string_view hash = format::module_hash_of(name);
      if (!hash.empty()) listing.modules.emplace_back(hash);
    }
  }
  return listing;
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
