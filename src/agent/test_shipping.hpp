// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "agent/shipper.hpp"
#include "agent/test_server.hpp"
#include "format/session_files.hpp"
#include "format/test_session.hpp"

// For tests: a session's folder, a server, and what ships the one to the other.
namespace gpufl::agent::testing {

namespace fs = std::filesystem;
using namespace format::testing;
using Step = Shipper::Step;
using Session = StandInServer::Session;

class ShipperTest : public ::testing::Test {
 protected:
  ShipperTest() { fs::create_directory(session_); }

  Ingest& ingest() {
    auto address = make_address(server_.url(), make_key(), "");
    auto client = net::HttpClient::make(address->url);
    ingests_.push_back(std::make_unique<Ingest>(*address, std::move(*client)));
    return *ingests_.back();
  }
  Shipper ship(ShipOptions options = {}) {
    auto folder = SessionFolder::open(session_);
    EXPECT_TRUE(folder) << folder.status().text();
    return {std::move(*folder), ingest(), std::move(options)};
  }
  // Until there is nothing to send, or it stops: that step.
  static Step run(Shipper& shipper) {
    Step step = Step::Sent;
    for (int i = 0; i < 1000 && step == Step::Sent; ++i) step = shipper.step();
    return step;
  }
  Session there() { return server_.session(test_header().session_id); }
  // Three windows of scopes.
  std::unique_ptr<format::LogWriter> write_windows() {
    format::LogOptions options = test_options(session_);
    options.window_bytes = 4096;
    auto writer = make_writer(options);
    for (int i = 0; i < 3; ++i) {
      for (int row = 0; row < 500; row += 10) {  // each with a name of its own
        writer->write(scope_rows(*writer, 1 + i * 500 + row, 10, 100 + i * 5000));
      }
      EXPECT_TRUE(writer->flush(1000 + i));
    }
    return writer;
  }
  // Every sealed window, the manifest and modules, byte for byte.
  void expect_all_there() {
    const Session session = there();
    size_t windows = 0;
    for (const std::string& name : file_names(session_)) {
      const auto parsed = format::parse_file_name(name);
      if (!parsed || parsed->form != format::FileName::Form::Sealed) continue;
      ++windows;
      const std::pair key(std::string(format::to_string(*parsed->channel)),
                          std::to_string(parsed->window));
      ASSERT_TRUE(session.windows.contains(key)) << name;
      EXPECT_EQ(session.windows.at(key).sealed, read_text(session_ / name)) << name;
    }
    EXPECT_GT(windows, 1u);
    EXPECT_EQ(session.windows.size(), windows) << "and none besides";
    EXPECT_EQ(session.whole.at("manifest").second, read_text(session_ / "manifest.ndjson"));
  }

  base::TempDir dir_;
  const fs::path session_ = dir_.path() / "session";
  StandInServer server_;
  std::vector<std::unique_ptr<Ingest>> ingests_;
};

}  // namespace gpufl::agent::testing
