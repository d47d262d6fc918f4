// SPDX-License-Identifier: Apache-2.0
#include "cli/uploading.hpp"

#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "cli/print.hpp"
#include "cli/progress_line.hpp"
#include "cli/stop_signals.hpp"
#include "format/session_reader.hpp"
#include "net/proxy.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

std::string bytes_text(uint64_t bytes) { return text::bytes(static_cast<double>(bytes)); }

// How far an upload is, on the terminal's last line or as lines of a log.
class UploadProgressView {
 public:
  explicit UploadProgressView(const UploadView& view) : view_(view), line_(view.has_progress) {}

  void show(const agent::UploadProgress& progress) {
    line_.show("uploading", progress.bytes, progress.total);
    const int64_t now_ns = base::monotonic_ns();
    const bool is_time = view_.lines_every_ns > 0 && now_ns - told_ns_ >= view_.lines_every_ns;
    const bool is_far =
        view_.lines_every_bytes > 0 && progress.bytes - told_bytes_ >= view_.lines_every_bytes;
    if (!is_time && !is_far) return;
    told_ns_ = now_ns;
    told_bytes_ = progress.bytes;
    complain(view_.who,
             fmt::format("sent {} of {}", bytes_text(progress.bytes), bytes_text(progress.total)));
  }

 private:
  const UploadView& view_;
  ProgressLine line_;
  int64_t told_ns_ = base::monotonic_ns();
  uint64_t told_bytes_ = 0;
};

}  // namespace

void add_server_options(Command command, agent::ServerChoice& server) {
  command
      .add_option("--server", server.backend_url,
                  "Address of the server, as https://HOST [default: GPUFL_BACKEND_URL, or that of "
                  "the latest gpufl login]")
      .type_name("URL");
  command
      .add_option("--api-path", server.api_path,
                  "Where the server has its API [default: GPUFL_API_PATH, or /api/v1]")
      .type_name("PATH");
}

void add_redaction_options(Command command, agent::Redaction& redaction,
                           std::optional<Option> upload) {
  Option source =
      command.add_flag("--no-source", redaction.source,
                       "Send no text of source files, and have none added on the server");
  Option line = command.add_flag("--no-command", redaction.command,
                                 "Send the program's name without its command line");
  if (!upload) return;
  source.needs(*upload);
  line.needs(*upload);
}

std::filesystem::path credentials_file() {
  return agent::Credentials::usual_file(net::environment_variable);
}

agent::UploadOutcome upload_visibly(agent::UploadRequest request, const UploadView& view) {
  const StopSignals signals;
  bool is_stopped = false;
  request.is_stopped = [&] {
    for (int number = signals.take(); number != 0; number = signals.take()) {
      is_stopped = is_stopped || number != SIGWINCH;
    }
    return is_stopped;
  };
  UploadProgressView progress(view);
  request.on_progress = [&](const agent::UploadProgress& made) { progress.show(made); };
  if (view.has_progress) {
    request.on_wait = [&](const std::string& why) {
      complain(view.who, why + "; it is tried again");
    };
  }
  return agent::upload(request);
}

std::string text_of(const agent::UploadOutcome& outcome) {
  std::string text =
      fmt::format("sent {} {} ({}, {} rows) in {}", text::count(outcome.files_processed),
                  outcome.files_processed == 1 ? "file" : "files", bytes_text(outcome.bytes),
                  text::count(outcome.rows),
                  text::duration(static_cast<double>(outcome.elapsed.count()) * 1e6));
  if (outcome.files_known > 0) {
    text += fmt::format("; {} {} on the server before", text::count(outcome.files_known),
                        outcome.files_known == 1 ? "was" : "were");
  }
  return text;
}

void upload_run(std::string_view who, const std::filesystem::path& folder,
                const agent::Redaction& redaction, bool is_quiet) {
  agent::UploadRequest request;
  request.sessions = format::find_sessions(folder);
  request.credentials = credentials_file();
  request.redaction = redaction;
  const agent::UploadOutcome outcome =
      upload_visibly(std::move(request), {.who = who, .has_progress = !is_quiet});
  for (const std::string& warning : outcome.warnings) complain(who, warning);
  if (outcome.extent != agent::UploadOutcome::Extent::All) {
    complain(who, fmt::format("not everything is on the server. Later: gpufl upload --all {}",
                              folder.string()));
  }
  if (is_quiet) return;
  complain(who, text_of(outcome));
  for (const std::string& page : outcome.pages) complain(who, page);
}

}  // namespace gpufl::cli
