// SPDX-License-Identifier: Apache-2.0
#include "format/session_scan.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "format/limits.hpp"
#include "format/session_files.hpp"

namespace gpufl::format {
namespace {

namespace fs = std::filesystem;

// A gap of more windows than this is told as one problem: file names are not to be trusted.
constexpr uint64_t kMaxListedGap = 1000;

struct FoundWindow {
  bool raw = false;
  bool sealed = false;
  const ManifestEntry* sealed_entry = nullptr;
  const ManifestEntry* deleted_entry = nullptr;
};

struct FoundChannel {
  bool live = false;
  std::map<uint64_t, FoundWindow> windows;
};

using FoundChannels = std::array<FoundChannel, kChannelCount>;

bool reads_to_its_end(const fs::path& file) {
  return read_window(file, [](std::string_view) { return true; }).status.is_ok();
}

WindowFile describe(const fs::path& dir, Channel channel, uint64_t number,
                    const FoundWindow& found) {
  WindowFile window;
  window.channel = channel;
  window.number = number;
  if (found.sealed_entry != nullptr) {
    const SealedWindow& told = found.sealed_entry->sealed;
    window.in_manifest = true;
    window.lines = told.lines;
    window.rows = told.rows;
    window.raw_bytes = told.raw_bytes;
    window.sealed_bytes = told.sealed_bytes;
    window.first_ns = told.first_ns;
    window.last_ns = told.last_ns;
    window.hash = told.hash;
  }
  const fs::path raw = dir / raw_file_name(channel, number);
  const fs::path sealed = dir / sealed_file_name(channel, number);
  if (found.deleted_entry != nullptr) {
    // The manifest's word counts even where a crash came before the file was removed.
    window.state = WindowFile::State::Deleted;
    window.rows = found.deleted_entry->sealed.rows;
    window.last_number = found.deleted_entry->end();
  } else if (found.sealed && (!found.raw || reads_to_its_end(sealed))) {
    window.state = WindowFile::State::Sealed;
    window.path = sealed;
  } else if (found.raw) {
    window.state = WindowFile::State::Unsealed;
    window.path = raw;
  } else {
    window.state = WindowFile::State::Missing;
  }
  return window;
}

class Scanner {
 public:
  explicit Scanner(const fs::path& dir) : dir_(dir) {}

  SessionScan scan() {
    scan_.is_session = is_session_folder(dir_);
    if (!scan_.is_session) return std::move(scan_);
    list_files();
    read_the_manifest();
    for (size_t i = 0; i < kChannelCount; ++i) add_channel(static_cast<Channel>(i));
    return std::move(scan_);
  }

 private:
  void problem(Problem::Kind kind, std::string file, std::string text) {
    scan_.problems.push_back({kind, std::move(file), 0, std::move(text)});
  }

  void list_files() {
    std::error_code error;
    std::set<std::string> unknown;
    fs::directory_iterator entry(dir_, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      const std::string name = entry->path().filename().string();
      const auto parsed = parse_file_name(name);
      std::error_code type_error;
      if (!parsed || !entry->is_regular_file(type_error)) continue;
      if (!parsed->channel) {
        unknown.insert(name);
        continue;
      }
      FoundChannel& channel = channels_[static_cast<size_t>(*parsed->channel)];
      switch (parsed->form) {
        case FileName::Form::Live: channel.live = true; break;
        case FileName::Form::Raw: channel.windows[parsed->window].raw = true; break;
        case FileName::Form::Sealed: channel.windows[parsed->window].sealed = true; break;
      }
    }
    for (const std::string& name : unknown) {
      problem(Problem::Kind::UnknownKind, name, "a channel that this version does not know");
    }
  }

  void read_the_manifest() {
    std::error_code ignored;
    if (!fs::is_regular_file(dir_ / kManifestName, ignored)) {
      problem(Problem::Kind::ManifestMismatch, kManifestName, "there is no manifest");
      return;
    }
    manifest_ = read_manifest(dir_ / kManifestName);
    scan_.session_line = manifest_.session_line;
    if (!manifest_.status.is_ok()) {
      problem(Problem::Kind::ManifestMismatch, kManifestName, manifest_.status.message());
    }
    if (manifest_.bad_lines > 0) {
      problem(Problem::Kind::BadLine, kManifestName,
              std::to_string(manifest_.bad_lines) + " lines that are not manifest lines");
    }
    if (manifest_.unknown_lines > 0) {
      problem(Problem::Kind::UnknownKind, kManifestName,
              std::to_string(manifest_.unknown_lines) + " lines of unknown kinds");
    }
    if (manifest_.torn) problem(Problem::Kind::TornLine, kManifestName, "the last line is torn");
    for (const ManifestEntry& entry : manifest_.entries) {
      FoundWindow& window = channels_[static_cast<size_t>(entry.channel)].windows[entry.window];
      (entry.event == ManifestEntry::Event::Sealed ? window.sealed_entry : window.deleted_entry) =
          &entry;
    }
  }

  void add_channel(Channel channel) {
    const FoundChannel& found = channels_[static_cast<size_t>(channel)];
    uint64_t expected = kFirstWindow;
    for (const auto& [number, window] : found.windows) {
      if (number < expected) continue;  // within a range that is deleted
      add_gap(channel, expected, number);
      expected = (window.deleted_entry != nullptr ? window.deleted_entry->end() : number) + 1;
      add_window(describe(dir_, channel, number, window));
    }
    if (!found.live) return;
    WindowFile live;
    live.channel = channel;
    live.state = WindowFile::State::Live;
    live.path = dir_ / live_file_name(channel);
    const auto header = first_line(live.path);
    const int64_t told = header ? (*header)["window"].as_integer(0) : 0;
    live.number = told > 0 ? static_cast<uint64_t>(told) : expected;
    if (found.windows.contains(live.number)) {
      problem(Problem::Kind::BadWindow, live.path.filename().string(),
              "says that it is window " + std::to_string(live.number) + ", which already exists");
      return;
    }
    add_gap(channel, expected, live.number);
    add_window(std::move(live));
  }

  void add_window(WindowFile window) {
    const std::string name = window.path.filename().string();
    if (window.state == WindowFile::State::Missing) {
      problem(Problem::Kind::MissingWindow, sealed_file_name(window.channel, window.number),
              "the manifest has it, with " + std::to_string(window.rows) + " rows");
    } else if (window.state == WindowFile::State::Sealed && !window.in_manifest &&
               !channels_[static_cast<size_t>(window.channel)].windows[window.number].raw) {
      problem(Problem::Kind::ManifestMismatch, name, "the manifest has no line for it");
    }
    scan_.windows.push_back(std::move(window));
  }

  void add_gap(Channel channel, uint64_t first, uint64_t end) {
    if (first >= end) return;
    const std::string name(to_string(channel));
    problem(Problem::Kind::MissingWindow, name,
            end - first == 1 ? "window " + std::to_string(first) + " is missing"
                             : "windows " + std::to_string(first) + " to " +
                                   std::to_string(end - 1) + " are missing");
    for (uint64_t number = first; number < end && number - first < kMaxListedGap; ++number) {
      WindowFile window;
      window.channel = channel;
      window.number = number;
      window.state = WindowFile::State::Missing;
      scan_.windows.push_back(std::move(window));
    }
  }

  const fs::path& dir_;
  FoundChannels channels_;
  Manifest manifest_;
  SessionScan scan_;
};

}  // namespace

SessionScan scan_session(const fs::path& dir) { return Scanner(dir).scan(); }

bool is_session_folder(const fs::path& dir) {
  std::error_code error;
  fs::directory_iterator entry(dir, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    const auto parsed = parse_file_name(name);
    std::error_code type_error;
    if ((name == kManifestName || (parsed && parsed->channel)) &&
        entry->is_regular_file(type_error)) {
      return true;
    }
  }
  return false;
}

std::optional<base::Json> first_line(const fs::path& file) {
  std::optional<base::Json> line;
  read_window(
      file,
      [&](std::string_view text) {
        if (auto parsed = base::Json::parse(text, kMaxObjectLineBytes)) line = std::move(*parsed);
        return false;
      },
      kMaxObjectLineBytes);
  return line;
}

}  // namespace gpufl::format
