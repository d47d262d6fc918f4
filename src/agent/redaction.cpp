// SPDX-License-Identifier: Apache-2.0
#include "agent/redaction.hpp"

#include <fstream>
#include <string>
#include <string_view>

#include "agent/session_listing.hpp"
#include "base/hash.hpp"
#include "base/json.hpp"
#include "format/limits.hpp"
#include "format/manifest.hpp"
#include "format/module_files.hpp"
#include "format/seal.hpp"
#include "format/session_files.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;
using base::Json;
using format::ManifestEntry;

bool is_of(std::string_view line, std::string_view type) {
  return line.starts_with("{\"type\":\"" + std::string(type) + "\"");
}

class Redactor {
 public:
  Redactor(const Folder& from, fs::path to, const Redaction& redaction)
      : from_(from), to_(std::move(to)), redaction_(redaction) {}

  // What may be told of a line; false: nothing.
  bool redact(std::string_view line, std::string& out) const {
    if (redaction_.source && is_of(line, "source")) return redact_source(line, out);
    if (!is_of(line, "session")) {
      out = line;
      return true;
    }
    const auto document = Json::parse(line, format::kMaxObjectLineBytes);
    if (!document) return false;
    Json kept = *document;
    if (redaction_.command && kept.find("command") != nullptr) kept.set("command", "");
    if (redaction_.source) kept.set("source_text", false);
    out = kept.dump();
    return true;
  }

  base::Status copy_lines(const std::string& name, const fs::path& target) const {
    const auto file = from_.open_file(name);
    if (!file) return file.status();
    std::ofstream out(target, std::ios::binary);
    // Symbols end with the hash of what is before.
    const bool has_hash = name == format::kSymbolFileName;
    base::Xxh64 hash;
    std::string told;
    const format::UnsealOutcome outcome =
        format::read_window(file->path(), [&](std::string_view line) {
          if (has_hash && is_of(line, "end")) {
            const std::string text = base::xxh64_text(hash.digest());
            told = Json::object().set("type", "end").set("hash", text).dump();
          } else if (!redact(line, told)) {
            return true;
          }
          told += '\n';
          hash.update(told.data(), told.size());
          out << told;
          return out.good();
        });
    if (!outcome.status) return {outcome.status.code(), name + ": " + outcome.status.message()};
    // Half a line may be half of what is to be left out.
    const bool is_secret = is_of(outcome.tail, "session") || is_of(outcome.tail, "source");
    if (!is_secret) out << outcome.tail;
    out.close();
    if (out) return {};
    return {base::Code::IoError, "cannot write " + target.string() + ": is the disk full?"};
  }

  base::Status copy_manifest(const std::map<std::string, format::SealedWindow>& sealed) const {
    const auto file = from_.open_file(format::kManifestName);
    if (!file) return {};
    const format::Manifest manifest = format::read_manifest(file->path());
    std::ofstream out(to_ / format::kManifestName, std::ios::binary);
    std::string line;
    if (manifest.session_line && redact(manifest.session_line->dump(), line)) out << line << '\n';
    for (ManifestEntry entry : manifest.entries) {
      const auto made = sealed.find(format::sealed_file_name(entry.channel, entry.window));
      if (entry.event == ManifestEntry::Event::Sealed && made != sealed.end()) {
        entry.sealed = made->second;
      }
      out << entry.to_line();
    }
    out.close();
    if (out) return {};
    return {base::Code::IoError, "cannot write " + to_.string() + ": is the disk full?"};
  }

  base::Status copy_module(const std::string& hash) const {
    const auto folder = from_.open_folder(format::kModuleFolder);
    if (!folder) return folder.status();
    const auto file = folder->open_file(format::module_file_name(hash));
    if (!file) return file.status();
    std::error_code error;
    fs::create_directories(to_ / format::kModuleFolder, error);
    if (!error) {
      fs::copy_file(file->path(), to_ / format::kModuleFolder / format::module_file_name(hash),
                    error);
    }
    if (!error) return {};
    return {base::Code::IoError, "cannot copy " + hash + ": " + error.message()};
  }

 private:
  // The line stays, so that counts of lines hold; of the file beside the log, too.
  static bool redact_source(std::string_view line, std::string& out) {
    const auto document = Json::parse(line, format::kMaxLineBytes);
    if (!document) return false;
    Json kept = Json::object();
    for (const auto& [name, value] : document->members()) {
      if (name != "text" && name != "lines") kept.set(name, value);
    }
    out = kept.dump();
    return true;
  }

  const Folder& from_;
  const fs::path to_;
  const Redaction redaction_;
};

}  // namespace

base::Status copy_redacted(const fs::path& session, const fs::path& copy,
                           const Redaction& redaction) {
  auto opened = SessionFolder::open(session);
  if (!opened) return opened.status();
  const SessionListing listing = opened->list();
  if (listing.is_live) {
    return {base::Code::Unsupported, session.string() +
                                         " is being written: nothing can be left out of it until "
                                         "it has ended"};
  }
  const Redactor redactor(opened->folder(), copy, redaction);
  std::map<std::string, format::SealedWindow> sealed;
  for (const ListedWindow& window : listing.windows) {
    const fs::path raw = copy / format::raw_file_name(window.channel, window.number);
    if (base::Status status = redactor.copy_lines(window.file, raw); !status) return status;
    if (!window.is_sealed) continue;
    auto made = format::seal_window(raw, copy / window.file);
    if (!made) return made.status();
    sealed[window.file] = std::move(*made);
    std::error_code ignored;
    fs::remove(raw, ignored);
  }
  for (const std::string& hash : listing.modules) {
    if (base::Status status = redactor.copy_module(hash); !status) return status;
  }
  if (listing.versions.contains("symbols")) {
    const base::Status status =
        redactor.copy_lines(format::kSymbolFileName, copy / format::kSymbolFileName);
    if (!status) return status;
  }
  return redactor.copy_manifest(sealed);
}

}  // namespace gpufl::agent
