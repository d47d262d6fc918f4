// SPDX-License-Identifier: Apache-2.0
#include "format/session_header.hpp"

#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include <charconv>
#include <cstdio>

#include "base/clock.hpp"
#include "format/schema.hpp"

namespace gpufl::format {
namespace {

using base::Json;

// Nanoseconds since 1970 do not fit a double: absolute times are strings on disk.
Json time_text(int64_t value) { return Json(std::to_string(value)); }

std::optional<int64_t> parse_time_text(const Json& value) {
  const std::string& text = value.as_string();
  int64_t parsed = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
  return parsed;
}

// Every file begins with these: a text that a program made too long must not make them unreadable.
constexpr size_t kMaxTextBytes = 4096;

void set_unless_empty(Json& line, std::string_view key, const std::string& value) {
  if (!value.empty()) line.set(key, value.substr(0, kMaxTextBytes));
}

void set_if_known(Json& line, std::string_view key, const std::optional<int64_t>& value) {
  if (value) line.set(key, *value);
}

std::optional<int64_t> known(const Json& value) {
  return value.is_integer() ? std::optional(value.as_integer()) : std::nullopt;
}

Json names_to_json(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push(Json(name.substr(0, kMaxTextBytes)));
  return list;
}

Json backends_to_json(const std::vector<SessionBackend>& backends) {
  Json list = Json::array();
  for (const SessionBackend& one : backends) {
    Json item = Json::object();
    item.set("name", one.name.substr(0, kMaxTextBytes));
    item.set("engine", one.engine.substr(0, kMaxTextBytes));
    list.push(std::move(item));
  }
  return list;
}

std::vector<SessionBackend> backends_of(const Json& line) {
  std::vector<SessionBackend> backends;
  for (const Json& item : line["backends"].items()) {
    backends.push_back({item["name"].as_string(), item["engine"].as_string()});
  }
  const std::string& only = line["backend"].as_string();
  if (backends.empty() && !only.empty() && only != "none") {
    backends.push_back({only, line["engine"].as_string()});
  }
  return backends;
}

}  // namespace

Json SessionHeader::to_json() const {
  Json line = Json::object();
  line.set("type", "session").set("format", kFormatMajor);
  line.set("session_id", session_id);
  set_unless_empty(line, "run_id", run_id);
  set_unless_empty(line, "app_name", app_name);
  set_unless_empty(line, "gpufl_version", gpufl_version);
  set_unless_empty(line, "engine", engine);
  set_unless_empty(line, "backend", backend);
  if (!backends.empty()) line.set("backends", backends_to_json(backends));
  line.set("start_wall_ns", time_text(start_wall_ns));
  line.set("start_monotonic_ns", time_text(start_monotonic_ns));
  line.set("clock_error_ns", clock_error_ns);
  line.set("pid", pid);
  set_unless_empty(line, "process", process);
  set_unless_empty(line, "command", command);
  set_unless_empty(line, "host", host);
  set_unless_empty(line, "boot_id", boot_id);
  set_unless_empty(line, "container", container);
  set_unless_empty(line, "os", os);
  set_if_known(line, "rank", rank);
  set_if_known(line, "world_size", world_size);
  set_if_known(line, "local_rank", local_rank);
  set_if_known(line, "pass", pass);
  if (!passes.empty()) line.set("passes", names_to_json(passes));
  set_if_known(line, "overhead_budget_ppm", overhead_budget_ppm);
  if (!source_text) line.set("source_text", false);
  return line;
}

base::Result<SessionHeader> SessionHeader::from_json(const Json& line) {
  if (line["type"].as_string() != "session") {
    return base::Status(base::Code::Corrupt, "the first line is not a session line");
  }
  const int64_t format = line["format"].as_integer(0);
  if (format < 1) {
    return base::Status(base::Code::Corrupt, "the session line has no valid \"format\"");
  }
  if (format > kFormatMajor) {
    return base::Status(base::Code::TooNew, "the log has format " + std::to_string(format) +
                                                ", this program reads up to format " +
                                                std::to_string(kFormatMajor) +
                                                ": use a newer gpufl");
  }
  const auto wall = parse_time_text(line["start_wall_ns"]);
  const auto monotonic = parse_time_text(line["start_monotonic_ns"]);
  if (line["session_id"].as_string().empty() || !wall || !monotonic) {
    return base::Status(base::Code::Corrupt,
                        "the session line lacks session_id, start_wall_ns or start_monotonic_ns");
  }
  SessionHeader header;
  header.session_id = line["session_id"].as_string();
  header.run_id = line["run_id"].as_string();
  header.app_name = line["app_name"].as_string();
  header.gpufl_version = line["gpufl_version"].as_string();
  header.engine = line["engine"].as_string();
  header.backend = line["backend"].as_string();
  header.backends = backends_of(line);
  header.start_wall_ns = *wall;
  header.start_monotonic_ns = *monotonic;
  header.clock_error_ns = line["clock_error_ns"].as_integer();
  header.pid = line["pid"].as_integer();
  header.process = line["process"].as_string();
  header.command = line["command"].as_string();
  header.host = line["host"].as_string();
  header.boot_id = line["boot_id"].as_string();
  header.container = line["container"].as_string();
  header.os = line["os"].as_string();
  header.rank = known(line["rank"]);
  header.world_size = known(line["world_size"]);
  header.local_rank = known(line["local_rank"]);
  header.pass = known(line["pass"]);
  for (const Json& engine : line["passes"].items()) header.passes.push_back(engine.as_string());
  header.overhead_budget_ppm = known(line["overhead_budget_ppm"]);
  header.source_text = line["source_text"].as_bool(true);
  return header;
}

std::string make_session_id(int64_t wall_ns) {
  uint64_t random = 0;
  if (getrandom(&random, sizeof random, 0) != sizeof random) {
    random = static_cast<uint64_t>(base::monotonic_ns()) ^ (static_cast<uint64_t>(getpid()) << 40);
  }
  return make_session_id(wall_ns, random);
}

std::string make_session_id(int64_t wall_ns, uint64_t bits) {
  const time_t seconds = wall_ns / 1'000'000'000;
  tm utc{};
  gmtime_r(&seconds, &utc);
  char text[64];
  const size_t length = strftime(text, sizeof text, "%Y%m%dT%H%M%S", &utc);
  const auto microseconds = static_cast<int>(wall_ns / 1000 % 1'000'000);
  std::snprintf(text + length, sizeof text - length, ".%06dZ-%016llx", microseconds,
                static_cast<unsigned long long>(bits));
  return text;
}

}  // namespace gpufl::format
