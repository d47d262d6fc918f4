// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/json.hpp"
#include "tests/device/programs.hpp"

// Runs a program that traces itself, and reads what it left by `gpufl`, as users do.
namespace gpufl::device_test {

// The path of a program that lies beside the test.
std::string beside(const char* name);

// The rows or lines of a kind, by `gpufl cat`.
std::vector<base::Json> rows(const std::filesystem::path& session, const char* kind,
                             const std::vector<std::string>& options = {});

// Everything launched is there and nothing else: `launches` of single kernels.
void expect_exact(const std::filesystem::path& session, int64_t launches);

class Traced : public testing::Test {
 protected:
  // Runs a program on a fresh folder; its only session.
  std::filesystem::path trace(const char* program, const std::vector<std::string>& arguments = {});
  // Runs one that lies beside the test under `gpufl trace`, with variables as NAME=VALUE.
  std::filesystem::path trace_under(const char* engine, std::vector<std::string> variables,
                                    const std::vector<std::string>& program);
  std::filesystem::path only_session() const;

  TemporaryFolder logs_;
  std::string output_;  // of the last program
};

}  // namespace gpufl::device_test
