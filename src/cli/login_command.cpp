// SPDX-License-Identifier: Apache-2.0
#include "cli/login_command.hpp"

#include <memory>
#include <string>

#include <fmt/format.h>

#include "agent/credentials.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "cli/secret_prompt.hpp"
#include "cli/uploading.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kCommand = "gpufl login";

struct LoginLine {
  agent::ServerChoice server;
  bool key_from_stdin = false;
};

int fail(const std::string& why, int code) {
  complain(kCommand, why);
  return code;
}

base::Result<int> log_in(LoginLine line) {
  const auto variables = net::environment_variable;
  const std::filesystem::path file = credentials_file();
  if (file.empty()) return fail("HOME is not set: there is no place for the key", kExitCannotTell);
  agent::ServerChoice& server = line.server;
  if (server.backend_url.empty()) server.backend_url = variables("GPUFL_BACKEND_URL");
  if (server.backend_url.empty()) {
    return base::Status(base::Code::InvalidArgument,
                        "no server is named: write gpufl login https://HOST");
  }
  // A slip in the address is told before a key is asked for.
  if (const auto url = net::parse_url(server.backend_url); !url) return url.status();
  if (line.key_from_stdin) {
    server.api_key = read_secret_line();
  } else if (server.api_key = agent::key_variable(server.backend_url, variables);
             server.api_key.empty()) {
    server.api_key = ask_for_secret("Key for " + server.backend_url + ": ");
  }
  if (server.api_key.empty()) {
    return base::Status(base::Code::InvalidArgument,
                        "there is no key: type it where it is asked for, set GPUFL_API_KEY, or use "
                        "--key-stdin");
  }
  auto kept = agent::Credentials::read(file);
  if (!kept) return fail(kept.status().message(), kExitCannotTell);
  const auto address = agent::choose_server(server, variables, file);
  if (!address) return fail(address.status().message(), kExitNo);
  if (const std::string text = agent::warning_of(*address); !text.empty()) complain(kCommand, text);
  auto ingest = agent::make_ingest(*address, server, variables, {});
  if (!ingest) return fail(ingest.status().message(), kExitCannotTell);

  agent::KnownServer known;
  const agent::SendAnswer answer = (*ingest)->check(known);
  using Verdict = agent::SendAnswer::Verdict;
  if (answer.verdict != Verdict::Stored) {
    const bool is_no = answer.verdict == Verdict::Denied && answer.status != 0;
    return fail(answer.reason + "; nothing was kept", is_no ? kExitNo : kExitCannotTell);
  }
  const base::Status status =
      kept->put(file, {server.backend_url, address->api_path, address->key});
  if (!status) return fail(status.message(), kExitCannotTell);
  print(fmt::format(
      "logged in to {}{}; the key is in {}\n", address->url.origin(),
      known.workspace.empty() ? "" : ", workspace " + text::make_harmless(known.workspace),
      file.string()));
  return kExitGood;
}

}  // namespace

void add_login_command(Command program) {
  auto line = std::make_shared<LoginLine>();
  Command command = program.add_command("login", "Keep the key of a server, for uploads");
  command
      .add_option("server", line->server.backend_url,
                  "Address of the server, as https://HOST [default: GPUFL_BACKEND_URL]")
      .type_name("URL");
  command
      .add_option("--api-path", line->server.api_path,
                  "Where the server has its API [default: GPUFL_API_PATH, or /api/v1]")
      .type_name("PATH");
  command.add_flag("--key-stdin", line->key_from_stdin,
                   "Read the key from standard input [default: GPUFL_API_KEY, or ask for it]");
  command.set_footer(
      "The key is checked with the server, and kept in a file that only you can read: "
      "~/.config/gpufl/credentials.json. It is sent to that server alone. Commands use the "
      "newest login, unless they name a server.\nExit code: 0 logged in; 1 the key or the address "
      "is wrong; 2 the server cannot be asked, or the key not be kept.");
  command.set_action([line] { return log_in(*line); });
}

}  // namespace gpufl::cli
