// SPDX-License-Identifier: Apache-2.0
#include "client/control_server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "client/control_socket.hpp"

namespace gpufl::client {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kPatience = 20s;

class Recorder : public Controlled {
 public:
  base::Json status() override {
    base::Json status = base::Json::object();
    status.set("state", "recording");
    return status;
  }
  base::Status resume() override { return note("resume"); }
  base::Status pause() override {
    return {base::Code::Unsupported, "pausing is not for this test"};
  }
  base::Status flush() override { return note("flush"); }
  base::Status end() override { return note("end"); }
  base::Status mark(std::string_view text) override { return note("mark " + std::string(text)); }

  std::vector<std::string> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  bool saw(const std::string& call) {
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (std::chrono::steady_clock::now() < deadline) {
      for (const std::string& one : calls()) {
        if (one == call) return true;
      }
      std::this_thread::sleep_for(1ms);
    }
    return false;
  }

 private:
  base::Status note(std::string call) {
    const std::lock_guard lock(mutex_);
    calls_.push_back(std::move(call));
    return base::Status::ok();
  }

  std::mutex mutex_;
  std::vector<std::string> calls_;
};

class ControlServerTest : public testing::Test {
 protected:
  ControlServerTest() {
    char pattern[] = "/tmp/gpufl_control_XXXXXX";
    runtime_ = mkdtemp(pattern);
    setenv("XDG_RUNTIME_DIR", runtime_.c_str(), 1);
  }
  ~ControlServerTest() override {
    unsetenv("XDG_RUNTIME_DIR");
    fs::remove_all(runtime_);
  }

  fs::path socket_path() const { return control_path(runtime_ / "gpufl", getpid()); }
  static base::Json request(const std::string& command) {
    base::Json request = base::Json::object();
    return request.set("command", command);
  }
  static base::Json ask(const std::string& command) {
    auto answer = ask_process(getpid(), request(command), kPatience);
    EXPECT_TRUE(answer) << answer.status().text();
    return answer ? *answer : base::Json();
  }
  int connect_raw() const {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path().string().copy(address.sun_path, sizeof address.sun_path - 1);
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return fd;
  }

  fs::path runtime_;
  Recorder recorder_;
};

// As daemons do.
TEST_F(ControlServerTest, AProgramThatTakesAllDescriptorsIsNotKeptFromEnding) {
  ControlServer server;
  const int first = dup(STDERR_FILENO);
  close(first);
  ASSERT_TRUE(server.listen());
  ASSERT_TRUE(server.start(recorder_, {}));
  ask("status");  // it runs
  const std::string own = runtime_ / "own";
  for (int fd = first; fd < first + 8; ++fd) {
    const int file = open(own.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    dup2(file, fd);
    if (file != fd) close(file);
  }
  EXPECT_TRUE(server.stop_within(kPatience));
  EXPECT_EQ(fs::file_size(own), 0u);
  server.stop();
  for (int fd = first; fd < first + 8; ++fd) {
    EXPECT_GE(fcntl(fd, F_GETFD), 0) << "a file of the program's was closed";
    close(fd);
  }
}

TEST_F(ControlServerTest, AnswersEachCommand) {
  ControlServer server;
  ASSERT_TRUE(server.listen());
  ASSERT_TRUE(server.start(recorder_, {}));
  const base::Json status = ask("status");
  EXPECT_TRUE(status["ok"].as_bool());
  EXPECT_EQ(status["state"].as_string(), "recording");
  EXPECT_EQ(status["pid"].as_integer(), getpid());
  EXPECT_TRUE(ask("start")["ok"].as_bool());
  EXPECT_TRUE(ask("flush")["ok"].as_bool());
  EXPECT_TRUE(ask("end")["ok"].as_bool());
  auto marked = ask_process(getpid(), request("mark").set("text", "epoch 2"), kPatience);
  ASSERT_TRUE(marked);
  EXPECT_EQ(recorder_.calls(),
            (std::vector<std::string>{"resume", "flush", "end", "mark epoch 2"}));
  const base::Json refused = ask("stop");
  EXPECT_FALSE(refused["ok"].as_bool());
  EXPECT_EQ(refused["message"].as_string(), "pausing is not for this test");
  EXPECT_EQ(ask("explode")["error"].as_string(), "unknown_command");
}

TEST_F(ControlServerTest, OnlyItsUserCanOpenIt) {
  ControlServer server;
  ASSERT_TRUE(server.listen());
  struct stat folder = {};
  ASSERT_EQ(stat((runtime_ / "gpufl").c_str(), &folder), 0);
  EXPECT_EQ(folder.st_mode & 0777, 0700u);
}

TEST_F(ControlServerTest, RefusesAFolderThatOthersControl) {
  fs::create_directory(runtime_ / "elsewhere");
  fs::create_directory_symlink(runtime_ / "elsewhere", runtime_ / "gpufl");
  EXPECT_FALSE(ControlServer().listen());
  fs::remove(runtime_ / "gpufl");
  fs::create_directory(runtime_ / "gpufl");
  chmod((runtime_ / "gpufl").c_str(), 0777);
  EXPECT_FALSE(ControlServer().listen());
  chmod((runtime_ / "gpufl").c_str(), 0700);
  EXPECT_TRUE(ControlServer().listen());
}

TEST_F(ControlServerTest, SurvivesNonsense) {
  ControlServer server;
  ASSERT_TRUE(server.listen());
  ASSERT_TRUE(server.start(recorder_, {}));
  for (const std::string& text :
       {std::string("no json\n"), std::string("[]\n"), std::string(10'000, 'x'), std::string()}) {
    const int fd = connect_raw();
    EXPECT_EQ(send(fd, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size()));
    if (!text.empty()) {
      char reply[256] = {};
      EXPECT_GT(recv(fd, reply, sizeof reply - 1, 0), 0);
      EXPECT_NE(std::string(reply).find("\"ok\":false"), std::string::npos) << reply;
    }
    close(fd);
  }
  // Somebody who says nothing does not lock others out for good.
  const int silent = connect_raw();
  EXPECT_TRUE(ask("status")["ok"].as_bool());
  close(silent);
}

TEST_F(ControlServerTest, TakesTheStaleSocketOfItsNumberAndLeavesNone) {
  fs::create_directory(runtime_ / "gpufl");
  chmod((runtime_ / "gpufl").c_str(), 0700);
  {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path().string().copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    close(fd);
  }
  ControlServer server;
  ASSERT_TRUE(server.listen());
  ASSERT_TRUE(server.start(recorder_, {}));
  EXPECT_TRUE(ask("status")["ok"].as_bool());
  server.stop();
  EXPECT_FALSE(fs::exists(socket_path()));
}

TEST_F(ControlServerTest, FindsProcessesAndRemovesWhatIsLeftOfDeadOnes) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  ControlServer server;
  ASSERT_TRUE(server.listen());
  const fs::path left = control_path(runtime_ / "gpufl", child);
  std::ofstream(left).put('x');
  std::ofstream(runtime_ / "gpufl" / "notes.txt").put('x');
  const std::vector<pid_t> found = find_controlled_processes();
  EXPECT_NE(std::find(found.begin(), found.end(), getpid()), found.end());
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(runtime_ / "gpufl" / "notes.txt"));
}

TEST_F(ControlServerTest, SaysWhyAProcessDoesNotAnswer) {
  const pid_t child = fork();
  if (child == 0) _exit(0);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  const auto gone = ask_process(child, request("status"), kPatience);
  EXPECT_EQ(gone.status().code(), base::Code::NotFound);
  EXPECT_NE(gone.status().message().find("there is no process"), std::string::npos);
  const auto silent = ask_process(getpid(), request("status"), kPatience);
  EXPECT_EQ(silent.status().code(), base::Code::NotFound);
  EXPECT_NE(silent.status().message().find("does not record"), std::string::npos);
}

// Each of them answers only when all of them were asked, and one never does.
TEST_F(ControlServerTest, AsksManyAtOnce) {
  constexpr int kCount = 4;
  std::vector<ControlQuestion> questions;
  std::vector<int> listeners;
  ASSERT_TRUE(ensure_private_folder(runtime_ / "gpufl"));
  for (int i = 0; i <= kCount; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      pause();
      _exit(0);
    }
    questions.push_back({child, request("status")});
    listeners.push_back(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    control_path(runtime_ / "gpufl", child)
        .string()
        .copy(address.sun_path, sizeof address.sun_path - 1);
    ASSERT_EQ(bind(listeners[i], reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(listen(listeners[i], 4), 0);
  }
  std::thread all([&] {
    std::vector<int> asked;
    for (int i = 0; i <= kCount; ++i) asked.push_back(accept(listeners[i], nullptr, nullptr));
    for (int i = 0; i < kCount; ++i) {
      const std::string reply = "{\"number\":" + std::to_string(i) + "}\n";
      for (const char& byte : reply) (void)!::send(asked[i], &byte, 1, MSG_NOSIGNAL);
    }
    close(asked[kCount]);
    for (int i = 0; i < kCount; ++i) close(asked[i]);
  });
  const auto answers = ask_processes(questions, kPatience);
  all.join();
  ASSERT_EQ(answers.size(), questions.size());
  for (int i = 0; i < kCount; ++i) {
    ASSERT_TRUE(answers[i]) << answers[i].status().message();
    EXPECT_EQ((*answers[i])["number"].as_integer(), i);
  }
  EXPECT_EQ(answers[kCount].status().code(), base::Code::Unavailable);
  for (int i = 0; i <= kCount; ++i) {
    close(listeners[i]);
    kill(questions[i].pid, SIGKILL);
    waitpid(questions[i].pid, nullptr, 0);
  }
}

TEST_F(ControlServerTest, ServesItsScheduleWithoutASocket) {
  const int64_t now_ns = base::monotonic_ns();
  ControlServer server;
  ASSERT_TRUE(server.start(recorder_, {now_ns + 20'000'000, now_ns + 60'000'000}));
  EXPECT_TRUE(recorder_.saw("end"));
  EXPECT_GE(base::monotonic_ns(), now_ns + 60'000'000);
  EXPECT_EQ(recorder_.calls(), (std::vector<std::string>{"resume", "end"}));
}

TEST_F(ControlServerTest, TheChildOfAForkHoldsNoSocket) {
  auto* server = new ControlServer;
  ASSERT_TRUE(server->listen());
  ASSERT_TRUE(server->start(recorder_, {}));
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = fork();
  if (child == 0) {
    server->abandon();
    (void)!write(ready[1], "x", 1);
    pause();
    _exit(0);
  }
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const fs::path path = socket_path();
  server->stop();
  EXPECT_FALSE(fs::exists(path));
  delete server;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace gpufl::client
