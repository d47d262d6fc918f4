// SPDX-License-Identifier: Apache-2.0
#include "agent/redaction.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
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

// Whatever it is, it may pass: the disk is full, or somebody sets TMPDIR right.
base::Status no_copy(const std::string& why) {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  const char* const named = std::getenv("TMPDIR");
  const std::string place = error && named != nullptr ? named : folder.string();
  return {base::Code::IoError, "cannot write a copy in " + place + " (see TMPDIR): " + why};
}

base::Result<OpenFile> nameless_file() {
  std::error_code error;
  const fs::path folder = fs::temp_directory_path(error);
  if (error) return no_copy(error.message());
  int fd = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  // Not every file system can.
  if (fd < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    std::string name = (folder / "gpufl-upload-XXXXXX").string();
    fd = ::mkostemp(name.data(), O_CLOEXEC);
    if (fd >= 0) ::unlink(name.c_str());
  }
  if (fd >= 0) return OpenFile(fd);
  return no_copy(std::generic_category().message(errno));
}

base::Status written(std::ofstream& out) {
  out.close();
  if (out) return {};
  return no_copy("is the disk full?");
}

}  // namespace

Redaction with_variables(Redaction redaction, const net::Variables& variables) {
  redaction.source = redaction.source || is_on(variables("GPUFL_UPLOAD_NO_SOURCE"));
  redaction.command = redaction.command || is_on(variables("GPUFL_UPLOAD_NO_COMMAND"));
  return redaction;
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

base::Result<OpenFile> Redactor::copy_lines(const OpenFile& file, bool has_hash) const {
  auto target = nameless_file();
  if (!target) return target;
  std::ofstream out(target->path(), std::ios::binary);
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
  if (is_too_long) {
    return base::Status(base::Code::LimitReached, "it unpacks to more than a window holds");
  }
  if (!is_secret_tail(outcome.tail)) out << outcome.tail;
  if (base::Status status = written(out); !status) return status;
  return target;
}

base::Result<Redactor::Window> Redactor::copy_window(const OpenFile& file) const {
  const auto raw = copy_lines(file, false);
  if (!raw) return raw.status();
  auto copy = nameless_file();
  if (!copy) return copy.status();
  auto sealed = format::seal_into(raw->path(), copy->path());
  // What is sealed is a copy, too.
  const base::Code code = sealed.status().code();
  if (code == base::Code::Corrupt || code == base::Code::TooNew) return sealed.status();
  if (!sealed) return no_copy(sealed.status().message());
  return Window{std::move(*copy), std::move(*sealed)};
}

// Symbols end with the hash of what is before.
base::Result<OpenFile> Redactor::copy_symbols(const OpenFile& file) const {
  return copy_lines(file, true);
}

base::Result<OpenFile> Redactor::copy_manifest(const OpenFile& file, const Sealed& sealed) const {
  auto target = nameless_file();
  if (!target) return target;
  const format::Manifest manifest = format::read_manifest(file.path());
  std::ofstream out(target->path(), std::ios::binary);
  std::string line;
  if (manifest.session_line && redact(manifest.session_line->dump(), line)) out << line << '\n';
  for (ManifestEntry entry : manifest.entries) {
    const auto made = sealed.find({entry.channel, entry.window});
    if (entry.event == ManifestEntry::Event::Sealed && made != sealed.end()) {
      entry.sealed = made->second;
    }
    out << entry.to_line();
  }
  if (base::Status status = written(out); !status) return status;
  return target;
}

}  // namespace gpufl::agent
