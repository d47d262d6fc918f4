// SPDX-License-Identifier: Apache-2.0
#include "cli/control_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "base/json.hpp"
#include "cli/control_status.hpp"
#include "cli/exit_codes.hpp"
#include "cli/print.hpp"
#include "client/control_socket.hpp"
#include "format/session_reader.hpp"

namespace gpufl::cli {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using base::Json;

constexpr const char* kWho = "gpufl control";
constexpr auto kPatience = 15s;  // sealing a log takes a while
constexpr auto kLookPatience = 2s;

struct Options {
  std::string target, action, text;
  bool json = false;
  std::optional<int64_t> deep_for_ns, deep_launches;  // of a deep window
  std::string deep_name;
  bool closes_deep = false;

  bool has_deep() const {
    return deep_for_ns || deep_launches || !deep_name.empty() || closes_deep;
  }
};

Json request(std::string_view command) {
  Json object = Json::object();
  return object.set("command", command);
}

struct Status {
  pid_t pid;
  Json fields;
};

std::vector<base::Result<Json>> ask_all(const std::vector<pid_t>& pids, const Json& asked,
                                        std::chrono::milliseconds patience) {
  std::vector<client::ControlQuestion> questions;
  for (const pid_t pid : pids) questions.push_back({pid, asked});
  return client::ask_processes(questions, patience);
}

// Of every process of this user that answers; those that do not are named.
std::vector<Status> all_statuses() {
  const std::vector<pid_t> pids = client::find_controlled_processes();
  auto answers = ask_all(pids, request("status"), kLookPatience);
  std::vector<Status> all;
  for (size_t i = 0; i < pids.size(); ++i) {
    if (answers[i]) {
      all.push_back({pids[i], std::move(*answers[i])});
    } else if (answers[i].status().code() == base::Code::Unavailable) {
      complain(kWho, answers[i].status().message());
    }
  }
  return all;
}

int list(bool json) {
  const std::vector<Status> all = all_statuses();
  if (json) {
    Json array = Json::array();
    for (const Status& status : all) array.push(status.fields);
    print(array.dump() + "\n");
    return kExitGood;
  }
  if (all.empty()) print("none of your processes is recording, or none can be controlled\n");
  for (const Status& status : all) print(control_line(status.fields));
  return kExitGood;
}

std::vector<pid_t> processes_in(const fs::path& folder, std::string& why_not) {
  std::vector<pid_t> found;
  const std::vector<fs::path> sessions = format::find_sessions(folder);
  for (const fs::path& session : sessions) {
    const auto reader = format::SessionReader::open(session);
    if (reader && reader->is_live()) found.push_back(static_cast<pid_t>(reader->header().pid));
  }
  if (found.empty()) {
    why_not = folder.string() + (sessions.empty() ? ": there is no session in it"
                                                  : ": nothing is being recorded there");
  }
  return found;
}

// A process, a session or run by its folder, or by its id.
std::vector<pid_t> find_targets(const std::string& target, std::string& why_not) {
  pid_t pid = 0;
  const char* const end = target.data() + target.size();
  if (const auto [stop, error] = std::from_chars(target.data(), end, pid);
      error == std::errc() && stop == end && pid > 0) {
    return {pid};
  }
  std::error_code ignored;
  if (fs::is_directory(target, ignored)) return processes_in(target, why_not);
  std::vector<pid_t> found;
  for (const Status& status : all_statuses()) {
    const bool is_meant = status.fields["session_id"].as_string() == target ||
                          status.fields["run_id"].as_string() == target;
    if (is_meant) found.push_back(status.pid);
  }
  if (found.empty()) {
    why_not = "'" + target +
              "' is not a process, session or run that is recording (gpufl control list shows "
              "them)";
  }
  return found;
}

// What was asked for, in the past tense.
std::string_view done(const Options& options) {
  const std::string& action = options.action;
  if (action == "deep")
    return options.closes_deep ? "closes the deep window" : "opens a deep window";
  if (action == "start") return "records";
  if (action == "stop") return "paused";
  if (action == "flush") return "flushed";
  if (action == "end") return "ended and sealed";
  return "marked";
}

int tell(pid_t pid, const base::Result<Json>& answer, const Options& options) {
  if (!answer) {
    complain(kWho, answer.status().message());
    return kExitCannotTell;
  }
  const bool is_ok = (*answer)["ok"].as_bool();
  if (options.json) {
    print(answer->dump() + "\n");
  } else if (!is_ok) {
    complain(kWho, fmt::format("process {}: {}", pid, (*answer)["message"].as_string()));
  } else if (options.action == "status") {
    print(control_page(*answer));
  } else {
    print(fmt::format("process {}: {}\n", pid, done(options)));
  }
  return is_ok ? kExitGood : kExitNo;
}

void ask_for_window(const Options& options, Json& asked) {
  constexpr int64_t kMillisecond_ns = 1'000'000;
  if (options.closes_deep) {
    asked.set("close", true);
    return;
  }
  if (options.deep_for_ns) asked.set("max_duration_ms", *options.deep_for_ns / kMillisecond_ns);
  if (options.deep_launches) asked.set("max_launches", *options.deep_launches);
  if (!options.deep_name.empty()) asked.set("name", options.deep_name);
}

int control(const Options& options) {
  if (options.target == "list" && options.action.empty()) return list(options.json);
  std::string why_not;
  const std::vector<pid_t> targets = find_targets(options.target, why_not);
  if (targets.empty()) {
    complain(kWho, why_not);
    return kExitCannotTell;
  }
  Json asked = request(options.action);
  if (options.action == "mark") asked.set("text", options.text);
  if (options.action == "deep") ask_for_window(options, asked);
  const auto answers = ask_all(targets, asked, kPatience);
  int worst = kExitGood;
  for (size_t i = 0; i < targets.size(); ++i) {
    worst = std::max(worst, tell(targets[i], answers[i], options));
  }
  return worst;
}

}  // namespace

void add_control_command(Command program) {
  auto options = std::make_shared<Options>();
  Command command =
      program.add_command("control", "Turn recording on and off while a program runs");
  command
      .add_option("target", options->target,
                  "A process id; a session or run, by its folder or its id; or 'list'")
      .required();
  command
      .add_option(
          "action", options->action,
          "start, stop: record the GPU, or pause. status: show what is recorded, and what "
          "was launched and has not finished. flush: write everything to disk. mark: add "
          "an event to the log. deep: open a deep window, or close it. end: end the session; "
          "the program continues")
      .choices({"start", "stop", "status", "flush", "mark", "deep", "end"});
  command.add_option("text", options->text, "Text of the mark");
  command.add_duration("--for", {.least = "10ms", .most = "60s"},
                       "Close the deep window after this long [default: as the session says]",
                       store_in(options->deep_for_ns));
  command
      .add_option("--launches", options->deep_launches,
                  "Close the deep window after this many launches")
      .type_name("N")
      .range(1, kLargestCount);
  command.add_option("--name", options->deep_name, "Name of the deep window").type_name("NAME");
  command.add_flag("--close", options->closes_deep, "Close the deep window that is open");
  command.add_flag("--json", options->json, "Print the answers as JSON, one line each");
  command.set_footer(
      "You can control processes that run under 'gpufl trace' or set enable_control, as the same "
      "user and in the same container.\nExit code: 0 done; 1 a process refused; 2 it does not "
      "exist, does not record, belongs to another user, or did not answer.");
  command.set_action([options]() -> base::Result<int> {
    const bool is_list = options->target == "list" && options->action.empty();
    if (!is_list && options->action.empty()) {
      return base::Status(base::Code::InvalidArgument,
                          "name an action: start, stop, status, flush, mark, deep or end");
    }
    if (options->has_deep() && options->action != "deep") {
      return base::Status(base::Code::InvalidArgument,
                          "--for, --launches, --name and --close are for the action deep");
    }
    const bool opens =
        options->deep_for_ns || options->deep_launches || !options->deep_name.empty();
    if (options->closes_deep && opens) {
      return base::Status(base::Code::InvalidArgument, "--close goes without other options");
    }
    return control(*options);
  });
}

}  // namespace gpufl::cli
