// SPDX-License-Identifier: Apache-2.0
#include "cli/upload_command.hpp"

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/secret_prompt.hpp"
#include "cli/uploading.hpp"
#include "workbench/find_sessions.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kCommand = "gpufl upload";

struct UploadLine {
  std::string folder = workbench::kDefaultLogs;
  std::string session;  // empty: the newest
  bool all = false;
  bool key_from_stdin = false;
  bool json = false;
  bool quiet = false;
  std::optional<int64_t> timeout_ns;
  int64_t retry_for_ns = int64_t{60} * 1'000'000'000;
  std::optional<uint64_t> retries;
  int64_t progress_every_ns = 0;
  uint64_t progress_bytes = 0;
  agent::UploadRequest request;
};

std::chrono::milliseconds milliseconds(int64_t ns) {
  return std::chrono::milliseconds(ns / 1'000'000);
}

// The sessions that are meant, or why none is.
base::Result<std::vector<std::filesystem::path>> chosen_sessions(const UploadLine& line) {
  std::vector<workbench::FoundSession> found = workbench::find_sessions(line.folder);
  if (found.empty()) return workbench::no_session(line.folder);
  if (!line.session.empty()) {
    std::erase_if(found, [&](const workbench::FoundSession& session) {
      return session.header.session_id != line.session && session.dir.filename() != line.session;
    });
    if (found.empty()) {
      return base::Status(base::Code::NotFound,
                          "there is no session " + line.session + " in " + line.folder);
    }
  } else if (!line.all) {
    found = workbench::take_newest(found);
  }
  for (const std::string& sentence : workbench::leave_out_copies(found)) {
    complain(kCommand, sentence);
  }
  std::vector<std::filesystem::path> folders;
  for (workbench::FoundSession& session : found) folders.push_back(std::move(session.dir));
  return folders;
}

int exit_code_of(const agent::UploadOutcome& outcome) {
  switch (outcome.extent) {
    case agent::UploadOutcome::Extent::All: return kExitGood;
    case agent::UploadOutcome::Extent::Part: return kExitNo;
    case agent::UploadOutcome::Extent::None: break;
  }
  return kExitCannotTell;
}

int run_upload(UploadLine line) {
  agent::UploadOutcome outcome;
  std::string& key = line.request.server.api_key;
  if (line.key_from_stdin) key = read_secret_line();
  auto sessions = chosen_sessions(line);
  if (line.key_from_stdin && key.empty()) {
    // Another one, of the environment or of a login, is not meant.
    outcome.warnings.emplace_back("there is no key on standard input, where --key-stdin has it");
  } else if (sessions) {
    line.request.sessions = std::move(*sessions);
    line.request.credentials = credentials_file();
    line.request.timeout =
        line.timeout_ns ? std::optional(milliseconds(*line.timeout_ns)) : std::nullopt;
    line.request.retry_for = milliseconds(line.retry_for_ns);
    if (line.retries) line.request.retries = static_cast<int>(*line.retries);
    outcome = upload_visibly(std::move(line.request), {.who = kCommand,
                                                       .has_progress = !line.quiet,
                                                       .lines_every_ns = line.progress_every_ns,
                                                       .lines_every_bytes = line.progress_bytes});
  } else {
    outcome.warnings.push_back(sessions.status().message());
  }
  if (line.json) {
    print(outcome.to_json().dump() + "\n");
    return exit_code_of(outcome);
  }
  for (const std::string& warning : outcome.warnings) complain(kCommand, warning);
  if (outcome.extent == agent::UploadOutcome::Extent::None) return kExitCannotTell;
  if (!line.quiet) print(text_of(outcome) + "\n");
  for (const std::string& page : outcome.pages) print(page + "\n");
  return exit_code_of(outcome);
}

void add_pace_options(Command command, UploadLine& line) {
  const Option retry_for =
      command
          .add_duration("--retry-for", {},
                        "Give up when the server has been unreachable or busy for this long",
                        store_in(line.retry_for_ns))
          .default_text("1m");
  command
      .add_option("--retries", line.retries,
                  "Instead, give up after so many tries in a row, however long the server asks to "
                  "wait before each")
      .type_name("N")
      .count()
      .excludes(retry_for);
  command
      .add_duration("--retry-delay", {},
                    "Pause before the first of them; later ones are longer, and never shorter than "
                    "the server asks",
                    [&line](int64_t ns) { line.request.retry_delay = milliseconds(ns); })
      .default_text("1s");
  command.add_duration("--timeout", {.least = "1ms"}, "Take no longer than this altogether",
                       store_in(line.timeout_ns));
  command.add_bytes("--bandwidth", {.least = "64K"}, "Send at most this much a second",
                    store_in(line.request.bytes_per_s));
  agent::ServerChoice& server = line.request.server;
  command
      .add_duration("--connect-timeout", {.least = "1ms"}, "Maximum time to connect",
                    [&server](int64_t ns) { server.connect_time = milliseconds(ns); })
      .default_text("10s");
  command
      .add_duration("--read-timeout", {.least = "1ms"},
                    "Maximum time without a byte from or to the server",
                    [&server](int64_t ns) { server.quiet_time = milliseconds(ns); })
      .default_text("30s");
}

}  // namespace

void add_upload_command(Command program) {
  auto line = std::make_shared<UploadLine>();
  Command command = program.add_command("upload", "Send recorded sessions to a server");
  command
      .add_option("folder", line->folder,
                  "A session, a run, or a log folder, of which the newest session or run is sent")
      .show_default();
  const Option session =
      command.add_option("--session", line->session, "The session of this id").type_name("ID");
  command.add_flag("--all", line->all, "All sessions in the folder").excludes(session);
  add_server_options(command, line->request.server);
  command.add_flag(
      "--key-stdin", line->key_from_stdin,
      "Read the key from standard input [default: GPUFL_API_KEY, or that of gpufl login]");
  add_redaction_options(command, line->request.redaction);
  command.add_flag("--force", line->request.sends_all_again,
                   "Also send what the server has already; it keeps one copy");
  add_pace_options(command, *line);
  command.add_duration("--progress-every", {.least = "1ms"},
                       "Also print on stderr how far it is, at this interval",
                       store_in(line->progress_every_ns));
  command.add_bytes("--progress-bytes", {}, "Likewise, each time this much was sent",
                    store_in(line->progress_bytes));
  command.add_flag("--json", line->json, "Print one JSON object that says what was done");
  command.add_flag("-q,--quiet", line->quiet, "Print nothing but addresses and errors");
  command.set_footer(
      "Sends what the server lacks, so it can be stopped and run again; prints where the sessions "
      "can be seen. Proxies are those of HTTPS_PROXY, http_proxy and NO_PROXY; GPUFL_CA_FILE, "
      "GPUFL_CLIENT_CERT and GPUFL_CLIENT_KEY name files in PEM.\nExit code: 0 the server has all "
      "of it; 1 a part; 2 nothing.");
  command.set_action([line] { return base::Result<int>(run_upload(*line)); });
}

}  // namespace gpufl::cli
