// SPDX-License-Identifier: Apache-2.0
#include "client/upload.hpp"

#include <unistd.h>

#include <gtest/gtest.h>

#include <fstream>

#include "base/temp_dir.hpp"

namespace gpufl::client {
namespace {

namespace fs = std::filesystem;

// With a program `gpufl` that does what the test says.
class UploadLogsTest : public ::testing::Test {
 protected:
  void program(const std::string& body) {
    const fs::path file = dir_.path() / "gpufl";
    std::ofstream(file) << "#!/bin/sh\n" << body;
    fs::permissions(file, fs::perms::owner_all);
  }
  std::string written(const char* name) {
    std::ifstream file(dir_.path() / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  UploadResult upload(const UploadOptions& options = {}) {
    return upload_logs(options, "/logs/session", dir_.path() / "gpufl");
  }

  base::TempDir dir_;
};

TEST_F(UploadLogsTest, TheKeyGoesThroughAPipeAndNowhereElse) {
  program("echo \"$@\" > " + dir_.path().string() + "/words; cat > " + dir_.path().string() +
          "/read; env > " + dir_.path().string() + "/variables; echo '{\"success\":true}'\n");
  UploadOptions options;
  options.backend_url = "https://a";
  options.api_key = "gpfl_secret";
  options.api_path = "/x";
  EXPECT_TRUE(upload(options).success);
  EXPECT_EQ(written("read"), "gpfl_secret\n");
  EXPECT_EQ(written("words"),
            "upload --json --key-stdin --server https://a --api-path /x --timeout 300000ms "
            "--connect-timeout 10000ms --read-timeout 30000ms --retries 1 --retry-delay "
            "1000ms -- "
            "/logs/session\n");
  EXPECT_EQ(written("variables").find("gpfl_secret"), std::string::npos);
}

TEST_F(UploadLogsTest, RetriesAreCountedWhateverTheirNumberAndPause) {
  program("echo \"$@\" > " + dir_.path().string() + "/words; echo '{\"success\":true}'\n");
  UploadOptions options;
  options.max_retries = 2'000'000'000;
  options.retry_delay_ms = 2'000'000'000;
  EXPECT_TRUE(upload(options).success);
  EXPECT_NE(written("words").find("--retries 1000000 --retry-delay 2000000000ms "),
            std::string::npos)
      << written("words");
  options.max_retries = -1;
  options.retry_delay_ms = -1;
  EXPECT_TRUE(upload(options).success);
  EXPECT_NE(written("words").find("--retries 0 --retry-delay 1ms "), std::string::npos)
      << written("words");
}

TEST_F(UploadLogsTest, EveryFieldOfTheResultIsFilled) {
  program(R"(echo '{"success":true,"files_processed":3,"files_skipped_by_cursor":4,)"
          R"("events_uploaded":5,"bytes_uploaded":6,"elapsed_ms":7,"warnings":["w"],)"
          R"("spool_ids":["s"]}')");
  const UploadResult result = upload();
  EXPECT_TRUE(result.success);
  EXPECT_EQ(result.files_processed, 3);
  EXPECT_EQ(result.files_skipped_by_cursor, 4);
  EXPECT_EQ(result.events_uploaded, 5);
  EXPECT_EQ(result.bytes_uploaded, 6);
  EXPECT_EQ(result.elapsed_ms, 7);
  EXPECT_EQ(result.warnings, std::vector<std::string>{"w"});
  EXPECT_EQ(result.spool_ids, std::vector<std::string>{"s"});
}

TEST_F(UploadLogsTest, WhateverTheProgramDoesIsAResult) {
  const auto warning = [&](const std::string& body) {
    program(body);
    const UploadResult result = upload();
    EXPECT_FALSE(result.success);
    return result.warnings.empty() ? "" : result.warnings[0];
  };
  EXPECT_EQ(warning("echo trouble >&2; exit 64\n"),
            "gpufl upload ended with exit code 64: trouble");
  EXPECT_EQ(warning("kill -9 $$\n"), "gpufl upload ended with exit code 137");
  EXPECT_EQ(warning("echo '{'\n"), "gpufl upload ended with exit code 0");
  const auto absent = upload_logs({}, "/logs", base::Status(base::Code::NotFound, "none here"));
  EXPECT_EQ(absent.warnings.at(0), "none here");
  EXPECT_EQ(upload_logs({}, "").warnings.at(0),
            "there is nothing to upload: no session was recorded here");
}

// Whoever presses Ctrl-C during an upload does not wait for its end.
TEST_F(UploadLogsTest, IsStoppedWithTheProgram) {
  program("read id name state parent group rest < /proc/self/stat; echo $group > " +
          dir_.path().string() + "/group; echo '{}'\n");
  upload();
  EXPECT_EQ(written("group"), std::to_string(::getpgrp()) + "\n");
}

TEST(ChildEnvironment, HasNothingThatWouldRecordTheChild) {
  const std::vector<std::string> kept = child_environment(
      {"A=b", "CUDA_INJECTION64_PATH=/x.so", "NVTX_INJECTION64_PATH=/x.so", "LD_PRELOAD=/x.so",
       "GPUFL_BACKEND_URL=https://a", "CUDA_INJECTION64_PATHS=c"});
  EXPECT_EQ(kept, (std::vector<std::string>{"A=b", "GPUFL_BACKEND_URL=https://a",
                                            "CUDA_INJECTION64_PATHS=c"}));
}

}  // namespace
}  // namespace gpufl::client
