// SPDX-License-Identifier: Apache-2.0
// Every interpreter that this machine has: its headers against our numbers, and its own idea of its
// stacks against ours. What is not installed is skipped, and said.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "symbols/python_layout.hpp"

namespace gpufl::symbols {
namespace {

namespace fs = std::filesystem;

std::string output_of(const std::string& command) {
  std::string text;
  // NOLINTNEXTLINE(bugprone-command-processor): commands of this file
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return text;
  std::array<char, 4096> buffer;
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  pclose(pipe);
  return text;
}

// pyenv's interpreters of a version, and the system's: one of them has its library inside.
std::vector<std::string> interpreters(int minor) {
  const std::string name = "python3." + std::to_string(minor);
  std::vector<std::string> found;
  const char* home = getenv("HOME");
  const char* root = getenv("PYENV_ROOT");
  const fs::path versions =
      (root != nullptr ? fs::path(root) : fs::path(home != nullptr ? home : "/") / ".pyenv") /
      "versions";
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(versions, error)) {
    const fs::path path = entry.path() / "bin" / name;
    if (fs::exists(path, error)) found.push_back(path.string());
  }
  for (const char* folder : {"/usr/bin", "/usr/local/bin"}) {
    const fs::path path = fs::path(folder) / name;
    if (fs::exists(path, error)) found.push_back(path.string());
  }
  return found;
}

class PythonTest : public testing::TestWithParam<int> {};

TEST_P(PythonTest, SeesWhatTheInterpreterSees) {
  const std::vector<std::string> found = interpreters(GetParam());
  if (found.empty()) GTEST_SKIP() << "Python 3." << GetParam() << " is not installed";
  for (const std::string& interpreter : found) {
    SCOPED_TRACE(interpreter);
    const std::string text =
        output_of("timeout 100 " + interpreter + " " + GPUFL_STACK_FIXTURE_SOURCES +
                  "/python_stacks.py " + GPUFL_STACK_FIXTURES + "/libstack_probe.so");
    std::istringstream words(text);
    std::string verdict;
    int compared = 0;
    words >> verdict >> compared;
    EXPECT_EQ(verdict, "ok") << text;
    EXPECT_GE(compared, 500) << text;
  }
}

// The layout's members by the names that the probe prints.
std::map<std::string, int> numbers(const PythonLayout& layout) {
  return {{"thread_frame", layout.thread_frame},
          {"thread_cframe", layout.thread_cframe},
          {"cframe_frame", layout.cframe_frame},
          {"cframe_previous", layout.cframe_previous},
          {"frame_code", layout.frame_code},
          {"frame_previous", layout.frame_previous},
          {"frame_instruction", layout.frame_instruction},
          {"frame_entry", layout.frame_entry},
          {"code_filename", layout.code_filename},
          {"code_name", layout.code_name},
          {"code_first_line", layout.code_first_line},
          {"code_line_table", layout.code_line_table},
          {"code_instructions", layout.code_instructions},
          {"code_version", layout.code_version},
          {"object_type", layout.object_type},
          {"bytes_size", layout.bytes_size},
          {"bytes_data", layout.bytes_data},
          {"text_length", layout.text_length},
          {"text_state", layout.text_state},
          {"ascii_data", layout.ascii_data},
          {"compact_data", layout.compact_data},
          {"owned_by_c_stack", kPythonOwnedByCStack},
          {"kind_bits", 0x1c},
          {"compact_bit", 0x20},
          {"ascii_bit", 0x40}};
}

TEST_P(PythonTest, HasTheLayoutOfItsHeaders) {
  PythonLayout layout;
  ASSERT_TRUE(python_layout(GetParam(), layout));
  const std::map<std::string, int> ours = numbers(layout);
  int checked = 0;
  for (const std::string& interpreter : interpreters(GetParam())) {
    std::string include = output_of(
        interpreter + " -c \"import sysconfig; print(sysconfig.get_path('include'), end='')\"");
    if (!fs::exists(include + "/Python.h")) continue;
    SCOPED_TRACE(interpreter);
    const std::string probe = testing::TempDir() + "python_layout_probe";
    const std::string text = output_of("cc -w -I" + include + " " + GPUFL_STACK_FIXTURE_SOURCES +
                                       "/python_layout_probe.c -o " + probe + " && " + probe);
    std::istringstream lines(text);
    std::string name;
    int value = 0, compared = 0;
    while (lines >> name >> value) {
      ASSERT_TRUE(ours.contains(name)) << text;
      EXPECT_EQ(ours.at(name), value) << name;
      ++compared;
    }
    EXPECT_GE(compared, 17) << text;
    ++checked;
  }
  if (checked == 0) GTEST_SKIP() << "headers of Python 3." << GetParam() << " are not installed";
}

INSTANTIATE_TEST_SUITE_P(Versions, PythonTest, testing::Values(10, 11, 12, 13));

TEST(PythonLayoutTest, RefusesVersionsItDoesNotKnow) {
  PythonLayout layout;
  EXPECT_FALSE(python_layout(9, layout));
  EXPECT_FALSE(python_layout(14, layout));
  const std::vector<std::string> found = interpreters(9);
  if (found.empty()) GTEST_SKIP() << "Python 3.9 is not installed";
  EXPECT_EQ(output_of(found[0] + " " + GPUFL_STACK_FIXTURE_SOURCES + "/python_stacks.py " +
                      GPUFL_STACK_FIXTURES + "/libstack_probe.so"),
            "no python_version_unsupported\n");
}

}  // namespace
}  // namespace gpufl::symbols
