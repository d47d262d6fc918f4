// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "net/endpoint.hpp"
#include "server/access_guard.hpp"
#include "server/analysis_pool.hpp"

// What whoever starts a server decides. Plain values.
namespace gpufl::server {

enum class LogFormat : uint8_t { None, Text, Json };

struct ServerOptions {
  std::filesystem::path folder;
  net::Endpoint listen = {};  // of loopback
  std::optional<PublicUrl> public_url = {};
  std::filesystem::path cache;
  AnalysisLimits analysis = {};
  // What to start for an analysis, before its request: the program itself.
  std::vector<std::string> analysis_program = {"/proc/self/exe", "analyze", "--request"};
  std::chrono::milliseconds pace{250};  // between looks at the folder
  LogFormat log = LogFormat::None;
  // A line of the log, with its newline. Requests come from a thread of its own, mistakes of ours
  // from any.
  std::function<void(std::string_view line)> write_log = {};
};

}  // namespace gpufl::server
