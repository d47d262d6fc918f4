// SPDX-License-Identifier: Apache-2.0
#include "client/upload.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "backend/vendor.hpp"
#include "base/child_process.hpp"
#include "base/json.hpp"
#include "client/launch_request.hpp"

extern char** environ;

namespace gpufl::client {
namespace {

namespace fs = std::filesystem;
using base::Json;

// For it to end by itself once its own time is over.
constexpr std::chrono::seconds kGrace{10};
constexpr std::chrono::hours kWithoutLimit{24};
constexpr int kMostRetries = 1'000'000;
constexpr size_t kMaxOutput = size_t{16} << 20;

bool is_program(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// The file that this code was loaded from: a shared library, or the program itself.
fs::path own_file() {
  Dl_info found{};
  if (::dladdr(reinterpret_cast<const void*>(&own_file), &found) == 0) return {};
  std::error_code error;
  return fs::weakly_canonical(found.dli_fname, error);
}

std::string duration(int64_t ms) { return std::to_string(std::max<int64_t>(ms, 1)) + "ms"; }

std::vector<std::string> arguments_of(const UploadOptions& options, const fs::path& folder) {
  std::vector<std::string> words{"upload", "--json"};
  const auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  };
  if (!options.api_key.empty()) words.emplace_back("--key-stdin");
  add("--server", options.backend_url);
  add("--api-path", options.api_path);
  add("--session", options.session_id_filter);
  if (options.all_sessions && options.session_id_filter.empty()) words.emplace_back("--all");
  if (options.force) words.emplace_back("--force");
  if (options.total_timeout_ms > 0) add("--timeout", duration(options.total_timeout_ms));
  add("--connect-timeout", duration(options.connect_timeout_ms));
  add("--read-timeout", duration(options.read_timeout_ms));
  add("--retries", std::to_string(std::clamp(options.max_retries, 0, kMostRetries)));
  add("--retry-delay", duration(options.retry_delay_ms));
  if (options.report_progress) {
    if (options.progress_log_interval_ms > 0) {
      add("--progress-every", duration(options.progress_log_interval_ms));
    }
    const int64_t kib = options.progress_log_interval_bytes >> 10;
    if (kib > 0) add("--progress-bytes", std::to_string(kib) + "K");
  }
  words.insert(words.end(), {"--", folder.string()});
  return words;
}

std::vector<std::string> texts_of(const Json& list) {
  std::vector<std::string> texts;
  for (const Json& text : list.items()) texts.push_back(text.as_string());
  return texts;
}

UploadResult failure(std::string why) {
  UploadResult result;
  result.warnings.push_back(std::move(why));
  return result;
}

UploadResult result_of(const base::ChildOutput& output) {
  const auto document = Json::parse(output.out, kMaxOutput);
  if (!document || !document->is_object()) {
    std::string said = output.err;
    while (said.ends_with('\n')) said.pop_back();
    return failure("gpufl upload ended with exit code " + std::to_string(output.exit_code) +
                   (said.empty() ? "" : ": " + said));
  }
  UploadResult result;
  result.success = (*document)["success"].as_bool();
  result.files_processed = (*document)["files_processed"].as_integer();
  result.files_skipped_by_cursor = (*document)["files_skipped_by_cursor"].as_integer();
  result.events_uploaded = (*document)["events_uploaded"].as_integer();
  result.bytes_uploaded = (*document)["bytes_uploaded"].as_integer();
  result.elapsed_ms = (*document)["elapsed_ms"].as_integer();
  result.warnings = texts_of((*document)["warnings"]);
  result.spool_ids = texts_of((*document)["spool_ids"]);
  return result;
}

}  // namespace

base::Result<fs::path> find_program() {
  constexpr const char* kName = "gpufl";
  const fs::path library = own_file().parent_path();
  // Of the Python package; of an installation or a build; of a program that has it linked in.
  for (const fs::path& folder : {library / "bin", library / "../bin", library}) {
    if (!library.empty() && is_program(folder / kName)) return folder / kName;
  }
  const char* const path = std::getenv("PATH");
  std::string_view folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::string_view folder = folders.substr(0, folders.find(':'));
    // What lies in the working directory by chance is not meant.
    if (folder.starts_with('/') && is_program(fs::path(folder) / kName)) {
      return fs::path(folder) / kName;
    }
    folders.remove_prefix(std::min(folders.size(), folder.size() + 1));
  }
  return base::Status(base::Code::NotFound,
                      "the program gpufl, which uploads, is neither beside " + library.string() +
                          " nor in PATH: install it, or run 'gpufl upload' where it is");
}

std::vector<std::string> child_environment(const std::vector<std::string>& inherited) {
  std::vector<std::string_view> unwanted = backend::injection_variables();
  for (const std::string_view variable : launch_variables()) unwanted.push_back(variable);
  unwanted.emplace_back("LD_PRELOAD");
  std::vector<std::string> kept;
  for (const std::string& variable : inherited) {
    const std::string_view name = std::string_view(variable).substr(0, variable.find('='));
    if (std::find(unwanted.begin(), unwanted.end(), name) == unwanted.end()) {
      kept.push_back(variable);
    }
  }
  return kept;
}

UploadResult upload_logs(const UploadOptions& options, const fs::path& folder,
                         const base::Result<fs::path>& program) {
  const fs::path logs = options.log_path.empty() ? folder : fs::path(options.log_path);
  if (logs.empty()) return failure("there is nothing to upload: no session was recorded here");
  if (!program) return failure(program.status().message());
  base::ChildSetup setup;
  if (!options.api_key.empty()) setup.text = options.api_key + "\n";
  std::vector<std::string> inherited;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    inherited.emplace_back(*variable);
  }
  setup.environment = child_environment(inherited);
  setup.shows_errors = options.report_progress;
  setup.is_in_our_group = true;
  base::ChildLimits limits;
  limits.time = options.total_timeout_ms > 0
                    ? std::chrono::milliseconds(options.total_timeout_ms) + kGrace
                    : std::chrono::milliseconds(kWithoutLimit);
  limits.output_bytes = kMaxOutput;
  const auto output = base::run_child(*program, arguments_of(options, logs), setup, limits);
  if (!output) return failure(output.status().message());
  return result_of(*output);
}

}  // namespace gpufl::client
