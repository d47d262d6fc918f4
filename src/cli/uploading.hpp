// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/upload.hpp"
#include "cli/command_line.hpp"

// What `gpufl upload`, `gpufl trace --upload` and `gpufl monitor --upload` have in common.
namespace gpufl::cli {

// To where, as options.
void add_server_options(Command command, agent::ServerChoice& server);
// What is left out; each needs `upload`, where that is an option.
void add_redaction_options(Command command, agent::Redaction& redaction,
                           std::optional<Option> upload = std::nullopt);

// The file of `gpufl login`.
std::filesystem::path credentials_file();

struct UploadView {
  std::string_view who;        // begins each line on stderr
  bool has_progress = true;    // where stderr is a terminal; and what it waits for, anywhere
  int64_t lines_every_ns = 0;  // also as lines, where it is none; 0: not
  uint64_t lines_every_bytes = 0;
};
// Until it is done, or a signal stops it.
agent::UploadOutcome upload_visibly(agent::UploadRequest request, const UploadView& view);

// "sent 3 files (1.2 MiB, 1,234 rows) in 2 s; 4 were on the server before"
std::string text_of(const agent::UploadOutcome& outcome);

// After a trace: everything below `folder`, told on stderr.
void upload_run(std::string_view who, const std::filesystem::path& folder,
                const agent::Redaction& redaction, bool is_quiet);

}  // namespace gpufl::cli
