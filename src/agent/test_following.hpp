// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "agent/follower.hpp"
#include "agent/test_server.hpp"
#include "base/eventually.hpp"
#include "format/session_files.hpp"
#include "format/test_session.hpp"

// For tests: a log folder, a server, and options of what follows the one for the other.
namespace gpufl::agent::testing {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using base::eventually;
using namespace format::testing;
using End = Follower::End;
using Session = StandInServer::Session;

inline std::string id_of(int number) {
  return "20261115T03451" + std::to_string(number) + "Z-0000000000000001";
}

class FollowerTest : public ::testing::Test {
 protected:
  std::unique_ptr<format::LogWriter> begin(int number) {
    format::SessionHeader header = test_header();
    header.session_id = id_of(number);
    format::LogOptions options = test_options(logs_ / "run" / header.session_id);
    options.window_bytes = 4096;
    auto writer = format::LogWriter::create(options, header);
    EXPECT_TRUE(writer) << writer.status().text();
    return std::move(*writer);
  }
  static void write(format::LogWriter& writer, int part) {
    for (int row = 0; row < 200; row += 10) {
      writer.write(scope_rows(writer, 1 + part * 200 + row, 10, 100 + part * 5000));
    }
    EXPECT_TRUE(writer.flush(1000 + part));
  }
  void record(int number) {
    const auto writer = begin(number);
    write(*writer, 0);
    EXPECT_TRUE(writer->close(9000, {}));
  }
  FollowOptions options() {
    FollowOptions made;
    made.folders = {logs_};
    made.server.backend_url = server_.url();
    made.server.api_key = make_key();
    made.variables = [](const std::string&) { return std::string(); };
    made.look_every = 20ms;
    made.final_after = 0s;
    made.is_stopped = [this] { return is_stopped_.load(); };
    return made;
  }
  // Every sealed file of the session there is, and nothing besides.
  bool is_there(int number) {
    const Session session = server_.session(id_of(number));
    size_t files = 0;
    for (const std::string& name : file_names(logs_ / "run" / id_of(number))) {
      const auto parsed = format::parse_file_name(name);
      if (!parsed || !parsed->channel) continue;
      ++files;
      const auto found = session.windows.find(
          {std::string(format::to_string(*parsed->channel)), std::to_string(parsed->window)});
      const std::string text = read_text(logs_ / "run" / id_of(number) / name);
      if (found == session.windows.end() || found->second.sealed != text) return false;
    }
    return files > 1 && files == session.windows.size() && session.whole.contains("manifest");
  }

  base::TempDir dir_;
  const fs::path logs_ = dir_.path() / "logs";
  StandInServer server_;
  std::atomic<bool> is_stopped_{false};
};

}  // namespace gpufl::agent::testing
