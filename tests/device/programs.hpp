// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

// Starts the programs that lie beside a device test. The GPU machine has no shell environment to
// rely on, so nothing is looked up in PATH unless said.
namespace gpufl::device_test {

// The folder of the running test: build/portable/bin.
std::filesystem::path bin_folder();

struct Outcome {
  int exit_code = -1;  // 128 + n for a signal
  std::string output;  // stdout and stderr, as they came
};

// Runs a program to its end. A name without a slash is looked up in PATH.
Outcome run(const std::vector<std::string>& command);

// A program that runs until the object ends, and is killed then; so long its stdin stays open and
// empty. The constructor waits for the first line of its output, which `first_line` holds; empty
// when it ended without one.
class Background {
 public:
  explicit Background(const std::vector<std::string>& command);
  ~Background();
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;

  pid_t pid() const { return pid_; }
  const std::string& first_line() const { return first_line_; }

 private:
  pid_t pid_ = -1;
  int input_ = -1, output_ = -1;
  std::string first_line_;
};

// A fresh folder under the system's one for temporary files, removed with the object.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace gpufl::device_test
