// SPDX-License-Identifier: Apache-2.0
// Whole sessions over the stand-in libcupti that keep the code of kernels that ran.
#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "backend/nvidia/code/code_fixture.hpp"
#include "capture/session.hpp"
#include "format/module_files.hpp"
#include "format/session_reader.hpp"
#include "format/verify.hpp"
#include "tests/standin/cupti/cupti_standin.hpp"
#include "tests/standin/cupti/standin_code.hpp"

namespace gpufl::capture {
namespace {

namespace fs = std::filesystem;

constexpr uint32_t kCupti130 = 130'001;
using backend::code_fixture::kDoubleAll;

struct ModuleLines final : format::Visitor {
  void on_object(format::Kind kind, const base::Json& line) override {
    if (kind == format::Kind::Module) all.push_back(line);
  }
  std::vector<base::Json> all;
};

class CodeSession : public testing::Test {
 protected:
  CodeSession() {
    setenv("GPUFL_CUPTI_LIBRARY", GPUFL_STANDIN_CUPTI, 1);
    setenv("TRITON_CACHE_DIR", (folder_ / "triton").c_str(), 1);
    setenv("TORCHINDUCTOR_CACHE_DIR", (folder_ / "inductor").c_str(), 1);
    void* handle = dlopen(GPUFL_STANDIN_CUPTI, RTLD_NOW);
    standin_ = reinterpret_cast<standin::CuptiStandinFunction*>(dlsym(handle, "cupti_standin"))();
    code_ =
        reinterpret_cast<standin::CuptiStandinCodeFunction*>(dlsym(handle, "cupti_standin_code"))();
    standin_->reset(kCupti130);
    config_.log_root = folder_;
    config_.backend = "nvidia";
    config_.engine = "Trace";
    config_.trace.code = true;
  }
  ~CodeSession() override { fs::remove_all(folder_); }

  std::unique_ptr<Session> start() {
    auto session = Session::start(config_);
    EXPECT_TRUE(session) << session.status().text();
    return session ? std::move(*session) : nullptr;
  }
  void load() { code_->load(cubin_.data(), cubin_.size()); }
  void launch(const char* name) {
    standin::Launch launch;
    launch.name = name;
    standin_->launch(launch);
  }
  // Ends the session; returns its module lines.
  std::vector<base::Json> lines_of(std::unique_ptr<Session> session) {
    session_dir_ = session->dir();
    EXPECT_TRUE(session->stop());
    ModuleLines lines;
    const auto reader = format::SessionReader::open(session_dir_);
    EXPECT_TRUE(reader);
    if (reader) reader->read(lines);
    verified_ = format::verify_session(session_dir_);
    EXPECT_EQ(verified_.verdict, format::Verdict::Complete);
    return lines.all;
  }

  static fs::path make_folder() {
    char pattern[] = "/tmp/gpufl_code_XXXXXX";
    return mkdtemp(pattern);
  }

  const fs::path folder_ = make_folder();
  const standin::CuptiStandin* standin_ = nullptr;
  const standin::CuptiStandinCode* code_ = nullptr;
  SessionConfig config_;
  const std::string cubin_ = backend::code_fixture::cubin();
  fs::path session_dir_;
  format::VerifyResult verified_;
};

TEST_F(CodeSession, KeepsTheImageOfAKernelThatRan) {
  auto session = start();
  load();
  launch(kDoubleAll);
  launch("_Z5otherv");
  load();
  launch(kDoubleAll);
  const auto lines = lines_of(std::move(session));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["id"].as_string(),
            std::to_string(code_->checksum(cubin_.data(), cubin_.size())));
  EXPECT_EQ(lines[0]["found"].as_string(), "callback");
  EXPECT_EQ(lines[0]["bytes"].as_integer(), static_cast<int64_t>(cubin_.size()));
  EXPECT_EQ(lines[0]["functions"].as_integer(), 3);
  const auto image = format::read_module(session_dir_, lines[0]["hash"].as_string());
  ASSERT_TRUE(image);
  EXPECT_EQ(*image, cubin_);
  EXPECT_EQ(verified_.ledger->modules_kept, 1u);
}

TEST_F(CodeSession, KeepsNothingBeforeItRan) {
  auto session = start();
  load();
  launch("_Z5otherv");
  EXPECT_TRUE(lines_of(std::move(session)).empty());
  EXPECT_FALSE(fs::exists(session_dir_ / "modules"));
  session = start();
  launch(kDoubleAll);
  EXPECT_EQ(lines_of(std::move(session)).size(), 1u) << "under another session";
}

TEST_F(CodeSession, KeepsNothingUnlessAsked) {
  config_.trace.code = false;
  auto session = start();
  load();
  launch(kDoubleAll);
  EXPECT_TRUE(lines_of(std::move(session)).empty());
}

TEST_F(CodeSession, FindsWhatWasLoadedBefore) {
  const fs::path file = folder_ / "library.so";
  fs::copy_file(backend::code_fixture::fixture_path("two_kernels.elf"), file);
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  void* const mapped = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  ::close(fd);
  load();
  auto session = start();
  launch(kDoubleAll);
  const auto lines = lines_of(std::move(session));
  ::munmap(mapped, 4096);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["found"].as_string(), "fat_binary");
  EXPECT_EQ(lines[0]["path"].as_string(), file.string());
}

TEST_F(CodeSession, FindsWhatWasLoadedWhilePausedInACache) {
  auto session = start();
  ASSERT_TRUE(session->pause());
  load();
  fs::create_directories(folder_ / "triton" / "ABC");
  const fs::path cached = folder_ / "triton" / "ABC" / (std::string(kDoubleAll) + ".cubin");
  std::ofstream(cached, std::ios::binary) << cubin_;
  ASSERT_TRUE(session->resume());
  launch(kDoubleAll);
  const auto lines = lines_of(std::move(session));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["found"].as_string(), "cache");
  EXPECT_EQ(lines[0]["path"].as_string(), cached.string());
}

TEST_F(CodeSession, KeepsAnImageOnceThroughAllPhases) {
  auto session = start();
  load();
  launch(kDoubleAll);
  for (int phase = 0; phase < 3; ++phase) {
    ASSERT_TRUE(session->pause());
    ASSERT_TRUE(session->resume());
    launch(kDoubleAll);
  }
  EXPECT_EQ(lines_of(std::move(session)).size(), 1u);
  EXPECT_EQ(verified_.ledger->modules_kept, 1u);
}

TEST_F(CodeSession, WhatWasLoadedInOnePhaseMayRunInTheNext) {
  auto session = start();
  load();
  ASSERT_TRUE(session->pause());
  ASSERT_TRUE(session->resume());
  launch(kDoubleAll);
  const auto lines = lines_of(std::move(session));
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0]["found"].as_string(), "callback");
}

}  // namespace
}  // namespace gpufl::capture
