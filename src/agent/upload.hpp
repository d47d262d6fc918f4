// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "agent/credentials.hpp"
#include "agent/pace.hpp"
#include "agent/redaction.hpp"
#include "base/json.hpp"
#include "net/proxy.hpp"

// Sessions of this machine to a server, once: what is there now, and nothing of it twice. What goes
// wrong becomes a warning. One thread.
namespace gpufl::agent {

struct UploadProgress {
  uint64_t bytes = 0;  // sent so far
  uint64_t total = 0;  // of the session's sealed windows, with what was sent
};

struct UploadRequest {
  std::vector<std::filesystem::path> sessions;
  ServerChoice server;
  net::Variables variables = net::environment_variable;
  std::filesystem::path credentials;  // file of the logins
  Redaction redaction;                // and what the variables leave out
  bool sends_all_again = false;
  uint64_t bytes_per_s = 0;  // 0: as fast as it goes
  // Without any success: for how long it is tried, or how many times more after the first.
  std::chrono::milliseconds retry_for{60000};
  std::optional<int> retries;
  std::chrono::milliseconds retry_delay = Backoff::kFirst;  // the first; later ones are longer
  std::optional<std::chrono::milliseconds> timeout;         // of all of it
  std::function<void(const UploadProgress&)> on_progress = {};
  // Why it waits for the server before it tries again: once, until something has gone.
  std::function<void(const std::string&)> on_wait = {};
  std::function<bool()> is_stopped = {};
};

struct UploadOutcome {
  enum class Extent : uint8_t { All, Part, None } extent = Extent::None;
  uint64_t files_processed = 0;
  uint64_t files_known = 0;  // the server had them
  uint64_t rows = 0;
  uint64_t bytes = 0;
  std::chrono::milliseconds elapsed{0};
  std::vector<std::string> session_ids;  // that are there altogether
  std::vector<std::string> pages;        // where people see them
  std::vector<std::string> warnings;

  base::Json to_json() const;  // docs/reference/cli.md
};

UploadOutcome upload(const UploadRequest& request);

}  // namespace gpufl::agent
