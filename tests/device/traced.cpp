// SPDX-License-Identifier: Apache-2.0
#include "tests/device/traced.hpp"

#include <sstream>

#include "format/session_reader.hpp"

namespace gpufl::device_test {

namespace fs = std::filesystem;

std::string beside(const char* name) { return (bin_folder() / name).string(); }

std::vector<base::Json> rows(const fs::path& session, const char* kind,
                             const std::vector<std::string>& options) {
  std::vector<std::string> command = {beside("gpufl"), "cat", session.string(), kind};
  command.insert(command.end(), options.begin(), options.end());
  const Outcome printed = run(command);
  EXPECT_EQ(printed.exit_code, 0) << printed.output;
  std::vector<base::Json> rows;
  std::istringstream lines(printed.output);
  for (std::string line; std::getline(lines, line);) {
    auto row = base::Json::parse(line);
    EXPECT_TRUE(row.is_ok()) << line;
    if (row) rows.push_back(std::move(*row));
  }
  return rows;
}

void expect_exact(const fs::path& session, int64_t launches) {
  const Outcome verify = run({beside("gpufl"), "verify", session.string()});
  EXPECT_EQ(verify.exit_code, 0) << verify.output;
  const auto ledgers = rows(session, "ledger");
  ASSERT_EQ(ledgers.size(), 1u);
  const base::Json& ledger = ledgers[0];
  EXPECT_EQ(ledger["launches_seen"].as_integer(-1), launches) << ledger.dump();
  EXPECT_EQ(ledger["kernel_records"].as_integer(-1) - ledger["graph_kernel_records"].as_integer(),
            launches)
      << ledger.dump();
  EXPECT_EQ(ledger["vendor_dropped"].as_integer(-1), 0) << ledger.dump();
  EXPECT_EQ(ledger["impossible_times"].as_integer(-1), 0) << ledger.dump();
}

fs::path Traced::trace(const char* program, const std::vector<std::string>& arguments) {
  std::vector<std::string> command = {beside(program), logs_.path().string()};
  command.insert(command.end(), arguments.begin(), arguments.end());
  const Outcome outcome = run(command);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  output_ = outcome.output;
  return only_session();
}

fs::path Traced::trace_under(const char* engine, std::vector<std::string> variables,
                             const std::vector<std::string>& program) {
  std::vector<std::string> command = std::move(variables);
  command.insert(command.begin(), "env");
  command.insert(command.end(), {beside("gpufl"), "trace", "-o", logs_.path().string(), "--engine",
                                 engine, "--", beside(program.front().c_str())});
  command.insert(command.end(), program.begin() + 1, program.end());
  const Outcome outcome = run(command);
  output_ = outcome.output;
  EXPECT_EQ(outcome.exit_code, 0) << output_;
  for (const auto& folder : fs::directory_iterator(logs_.path())) {
    for (const auto& session : fs::directory_iterator(folder)) {
      if (session.is_directory()) return session.path();
    }
  }
  return {};
}

fs::path Traced::only_session() const {
  const auto sessions = format::find_sessions(logs_.path());
  EXPECT_EQ(sessions.size(), 1u);
  return sessions.empty() ? fs::path() : sessions[0];
}

}  // namespace gpufl::device_test
