// SPDX-License-Identifier: Apache-2.0
#include "agent/redaction.hpp"

#include <stdlib.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <system_error>

#include "base/hash.hpp"
#include "base/json.hpp"
#include "format/limits.hpp"
#include "format/manifest.hpp"

namespace gpufl::agent {
namespace {

namespace fs = std::filesystem;
using base::Json;
using format::ManifestEntry;

bool is_of(std::string_view line, std::string_view type) {
  return line.starts_with("{\"type\":\"" + std::string(type) + "\"");
}

bool is_on(std::string value) {
  std::transform(value.begin(), value.end(), value.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return !value.empty() && value != "0" && value != "no" && value != "off" && value != "false";
}

// The line stays, so that counts of lines hold; of the file beside the log, too.
bool redact_source(std::string_view line, std::string& out) {
  const auto document = Json::parse(line, format::kMaxLineBytes);
  if (!document) return false;
  Json kept = Json::object();
  for (const auto& [name, value] : document->members()) {
    if (name != "text" && name != "lines") kept.set(name, value);
  }
  out = kept.dump();
  return true;
}

base::Status written(std::ofstream& out, const fs::path& target) {
  out.close();
  if (out) return {};
  return {base::Code::IoError, "cannot write " + target.string() + ": is the disk full?"};
}

base::Result<OpenFile> open_again(const fs::path& file) {
  const auto folder = Folder::open(file.parent_path());
  if (!folder) return folder.status();
  return folder->open_file(file.filename().string());
}

}  // namespace

Redaction with_variables(Redaction redaction, const net::Variables& variables) {
  redaction.source = redaction.source || is_on(variables("GPUFL_UPLOAD_NO_SOURCE"));
  redaction.command = redaction.command || is_on(variables("GPUFL_UPLOAD_NO_COMMAND"));
  return redaction;
}

Redactor::~Redactor() {
  std::error_code ignored;
  if (!folder_.empty()) fs::remove_all(folder_, ignored);
}

bool Redactor::redact(std::string_view line, std::string& out) const {
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

bool Redactor::is_secret_tail(std::string_view tail) {
  return is_of(tail, "session") || is_of(tail, "source");
}

base::Result<fs::path> Redactor::place(const char* name) {
  if (folder_.empty()) {
    std::error_code ignored;
    std::string made = (fs::temp_directory_path(ignored) / "gpufl-upload-XXXXXX").string();
    if (::mkdtemp(made.data()) == nullptr) {
      return base::Status(base::Code::IoError, "there is no room for temporary files");
    }
    folder_ = made;
  }
  return folder_ / name;
}

base::Status Redactor::copy_lines(const OpenFile& file, const fs::path& target,
                                  bool has_hash) const {
  std::ofstream out(target, std::ios::binary | std::ios::trunc);
  base::Xxh64 hash;
  std::string told;
  const auto copy = [&](std::string_view line, const format::LinePlace&) {
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
  };
  bool is_too_long = false;
  const auto may_go_on = [&](uint64_t bytes) {
    is_too_long = bytes > most_text_;
    return !is_too_long;
  };
  const format::UnsealOutcome outcome =
      format::read_placed_lines(file.path(), {}, copy, format::kMaxLineBytes, may_go_on);
  if (!outcome.status) return outcome.status;
  if (is_too_long) return {base::Code::LimitReached, "it unpacks to more than a window holds"};
  if (!is_secret_tail(outcome.tail)) out << outcome.tail;
  return written(out, target);
}

base::Result<Redactor::Window> Redactor::copy_window(const OpenFile& file) {
  const auto raw = place("window.log");
  if (!raw) return raw.status();
  if (base::Status status = copy_lines(file, *raw, false); !status) return status;
  const fs::path target = folder_ / "window.log.zst";
  auto sealed = format::seal_window(*raw, target);
  std::error_code ignored;
  fs::remove(*raw, ignored);
  if (!sealed) return sealed.status();
  auto copy = open_again(target);
  if (!copy) return copy.status();
  return Window{std::move(*copy), std::move(*sealed)};
}

// Symbols end with the hash of what is before.
base::Result<OpenFile> Redactor::copy_symbols(const OpenFile& file) {
  const auto target = place("symbols.ndjson");
  if (!target) return target.status();
  if (base::Status status = copy_lines(file, *target, true); !status) return status;
  return open_again(*target);
}

base::Result<OpenFile> Redactor::copy_manifest(const OpenFile& file, const Sealed& sealed) {
  const auto target = place("manifest.ndjson");
  if (!target) return target.status();
  const format::Manifest manifest = format::read_manifest(file.path());
  std::ofstream out(*target, std::ios::binary | std::ios::trunc);
  std::string line;
  if (manifest.session_line && redact(manifest.session_line->dump(), line)) out << line << '\n';
  for (ManifestEntry entry : manifest.entries) {
    const auto made = sealed.find({entry.channel, entry.window});
    if (entry.event == ManifestEntry::Event::Sealed && made != sealed.end()) {
      entry.sealed = made->second;
    }
    out << entry.to_line();
  }
  if (base::Status status = written(out, *target); !status) return status;
  return open_again(*target);
}

}  // namespace gpufl::agent
