// SPDX-License-Identifier: Apache-2.0
#include "format/manifest.hpp"

#include <algorithm>
#include <map>
#include <utility>

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
    if (last_window > window) line.set("last_window", last_window);
    line.set("reason", reason).set("rows", sealed.rows);
    if (pauses > 0) line.set("pauses", pauses);
    if (sealed.last_ns > 0) {
      line.set("first_ns", sealed.first_ns).set("last_ns", sealed.last_ns);
    }
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
    entry.last_window = count_of(line["last_window"]).value_or(0);
    if (entry.last_window != 0 && entry.last_window < entry.window) return {};
    entry.pauses = count_of(line["pauses"]).value_or(0);
    entry.sealed.first_ns = line["first_ns"].as_integer();
    entry.sealed.last_ns = line["last_ns"].as_integer();
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

std::vector<ManifestEntry> compacted(const std::vector<ManifestEntry>& entries) {
  std::map<std::pair<Channel, uint64_t>, ManifestEntry> by_window;
  for (const ManifestEntry& entry : entries) {
    const auto [at, is_new] = by_window.try_emplace({entry.channel, entry.window}, entry);
    if (is_new || at->second.event == ManifestEntry::Event::Deleted) continue;
    const SealedWindow times = at->second.sealed;
    at->second = entry;
    if (entry.event == ManifestEntry::Event::Sealed || entry.sealed.last_ns > 0) continue;
    at->second.sealed.first_ns = times.first_ns;
    at->second.sealed.last_ns = times.last_ns;
  }
  std::vector<ManifestEntry> fewer;
  for (auto& [key, entry] : by_window) {
    ManifestEntry* const before = fewer.empty() ? nullptr : &fewer.back();
    if (before == nullptr || before->channel != entry.channel ||
        before->event != ManifestEntry::Event::Deleted ||
        entry.event != ManifestEntry::Event::Deleted || entry.window != before->end() + 1) {
      fewer.push_back(std::move(entry));
      continue;
    }
    before->last_window = entry.end();
    before->sealed.rows += entry.sealed.rows;
    before->pauses += entry.pauses;
    if (before->reason != entry.reason) before->reason = "several";
    if (entry.sealed.last_ns == 0) continue;
    if (before->sealed.last_ns == 0) before->sealed.first_ns = entry.sealed.first_ns;
    before->sealed.last_ns = std::max(before->sealed.last_ns, entry.sealed.last_ns);
  }
  return fewer;
}

}  // namespace gpufl::format
