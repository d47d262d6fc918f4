// SPDX-License-Identifier: Apache-2.0
#include "format/manifest.hpp"

#include "format/limits.hpp"
#include "format/session_files.hpp"

namespace gpufl::format {
namespace {

using base::Json;

constexpr std::string_view kSealedType = "window";
constexpr std::string_view kDeletedType = "deleted";

std::optional<uint64_t> count_of(const Json& value) {
  if (!value.is_integer() || value.as_integer() < 0) return {};
  return static_cast<uint64_t>(value.as_integer());
}

}  // namespace

std::string ManifestEntry::to_line() const {
  Json line = Json::object();
  line.set("type", event == Event::Sealed ? kSealedType : kDeletedType);
  line.set("channel", to_string(channel)).set("window", window);
  if (event == Event::Deleted) {
    line.set("reason", reason).set("rows", sealed.rows);
  } else {
    line.set("first_ns", sealed.first_ns).set("last_ns", sealed.last_ns);
    line.set("lines", sealed.lines).set("rows", sealed.rows);
    line.set("raw_bytes", sealed.raw_bytes).set("sealed_bytes", sealed.sealed_bytes);
    line.set("hash", sealed.hash);
  }
  std::string text = line.dump();
  text += '\n';
  return text;
}

std::optional<ManifestEntry> ManifestEntry::from_json(const Json& line) {
  const std::string& type = line["type"].as_string();
  const auto channel = find_channel(line["channel"].as_string());
  const auto window = count_of(line["window"]);
  const auto rows = count_of(line["rows"]);
  if ((type != kSealedType && type != kDeletedType) || !channel || !window || !rows) return {};
  ManifestEntry entry;
  entry.channel = *channel;
  entry.window = *window;
  entry.sealed.rows = *rows;
  if (type == kDeletedType) {
    entry.event = Event::Deleted;
    entry.reason = line["reason"].as_string();
    return entry;
  }
  const auto lines = count_of(line["lines"]);
  const auto raw_bytes = count_of(line["raw_bytes"]);
  const auto sealed_bytes = count_of(line["sealed_bytes"]);
  if (!lines || !raw_bytes || !sealed_bytes || line["hash"].as_string().empty()) return {};
  entry.sealed.first_ns = line["first_ns"].as_integer();
  entry.sealed.last_ns = line["last_ns"].as_integer();
  entry.sealed.lines = *lines;
  entry.sealed.raw_bytes = *raw_bytes;
  entry.sealed.sealed_bytes = *sealed_bytes;
  entry.sealed.hash = line["hash"].as_string();
  return entry;
}

Manifest read_manifest(const std::filesystem::path& file) {
  Manifest manifest;
  const UnsealOutcome outcome = read_window(
      file,
      [&](std::string_view text) {
        const auto line = Json::parse(text, kMaxObjectLineBytes);
        if (!line || !line->is_object()) {
          ++manifest.bad_lines;
          return true;
        }
        const std::string& type = (*line)["type"].as_string();
        if (type == "session") {
          if (!manifest.session_line) manifest.session_line = *line;
        } else if (type != kSealedType && type != kDeletedType) {
          ++manifest.unknown_lines;
        } else if (auto entry = ManifestEntry::from_json(*line)) {
          manifest.entries.push_back(std::move(*entry));
        } else {
          ++manifest.bad_lines;
        }
        return true;
      },
      kMaxObjectLineBytes);
  manifest.bad_lines += outcome.oversized;
  manifest.torn = outcome.torn;
  manifest.status = outcome.status;
  return manifest;
}

}  // namespace gpufl::format
