// SPDX-License-Identifier: Apache-2.0
#include "client/control_server.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "base/eventually.hpp"
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
  base::Status open_deep_window(const capture::DeepWindowRequest& request) override {
    return note("deep " + std::to_string(request.duration_ns) + " " +
                std::to_string(request.max_launches) + " " + request.name);
  }
  base::Status end_deep_window() override { return note("deep close"); }

  std::vector<std::string> calls() {
    const std::lock_guard lock(mutex_);
    return calls_;
  }
  bool saw(const std::string& call) {
    return base::eventually([&] {
      const std::vector<std::string> all = calls();
      return std::find(all.begin(), all.end(), call) != all.end();
    });
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

// A child that does nothing until it is ended: with this object, or with this process.
class IdleProcess {
 public:
  IdleProcess() : IdleProcess([] {}) {}
  explicit IdleProcess(const std::function<void()>& first) {
    const pid_t parent = getpid();
    pid_ = fork();
    if (pid_ != 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    first();
    while (true) pause();
  }
  ~IdleProcess() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  IdleProcess(const IdleProcess&) = delete;
  IdleProcess& operator=(const IdleProcess&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
};

sockaddr_un address_of(const fs::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.string().copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// A socket that listens where a process of this number would, and whose calls end in time.
class Listener {
 public:
  Listener(const fs::path& folder, pid_t pid)
      : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un address = address_of(control_path(folder, pid));
    const timeval patience{std::chrono::seconds(kPatience).count(), 0};
    EXPECT_EQ(setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience), 0);
    EXPECT_EQ(bind(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
    EXPECT_EQ(listen(fd_, 4), 0);
  }
  ~Listener() { close(fd_); }
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // The connection of who asks, when the question was read.
  int accept_question() const {
    const int fd = accept(fd_, nullptr, nullptr);
    for (char byte = 0; byte != '\n';) {
      if (recv(fd, &byte, 1, 0) != 1) break;
    }
    return fd;
  }

 private:
  int fd_;
};

size_t open_descriptors() {
  return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), {}));
}

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
  int connect_raw(int flags = 0) const {
    const sockaddr_un address = address_of(socket_path());
    const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
    if (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return fd;
    close(fd);
    return -1;
  }

  fs::path runtime_;
  Recorder recorder_;
};

TEST_F(ControlServerTest, DeepWindowsAreOpenedAndClosed) {
  ControlServer server;
  ASSERT_TRUE(server.listen());
  ASSERT_TRUE(server.start(recorder_, {}));
  const auto ask_deep = [](const char* members) {
    auto asked = base::Json::parse(members);
    asked->set("command", "deep");
    auto answer = ask_process(getpid(), *asked, kPatience);
    EXPECT_TRUE(answer) << answer.status().text();
    return answer ? *answer : base::Json();
  };
  EXPECT_TRUE(ask_deep("{}")["ok"].as_bool());
  EXPECT_TRUE(
      ask_deep(R"({"max_duration_ms":1500,"max_launches":9,"name":"a b"})")["ok"].as_bool());
  EXPECT_TRUE(ask_deep(R"({"close":true})")["ok"].as_bool());
  EXPECT_TRUE(recorder_.saw("deep 0 0 "));
  EXPECT_TRUE(recorder_.saw("deep 1500000000 9 a b"));
  EXPECT_TRUE(recorder_.saw("deep close"));
  for (const char* wrong : {R"({"max_duration_ms":60001})", R"({"max_duration_ms":-1})",
                            R"({"max_duration_ms":"2s"})", R"({"max_launches":-5})"}) {
    EXPECT_EQ(ask_deep(wrong)["error"].as_string(), "InvalidArgument") << wrong;
  }
  EXPECT_EQ(recorder_.calls().size(), 3u);
}

// As daemons do.
TEST_F(ControlServerTest, AProgramThatTakesAllDescriptorsIsNotKeptFromEnding) {
  ControlServer server;
  const int first = dup(STDERR_FILENO);
  close(first);
  ASSERT_TRUE(server.listen());
  ASSERT_TRUE(server.start(recorder_, {}));
  const size_t before = open_descriptors();
  ask("status");  // it runs
  ASSERT_TRUE(base::eventually([&] { return open_descriptors() == before; }));
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
    ASSERT_GE(fd, 0);
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
  ASSERT_GE(silent, 0);
  EXPECT_TRUE(ask("status")["ok"].as_bool());
  close(silent);
}

TEST_F(ControlServerTest, TakesTheStaleSocketOfItsNumberAndLeavesNone) {
  fs::create_directory(runtime_ / "gpufl");
  chmod((runtime_ / "gpufl").c_str(), 0700);
  {
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    const sockaddr_un address = address_of(socket_path());
    ASSERT_EQ(bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
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
  EXPECT_NE(silent.status().message().find("is not recording"), std::string::npos);
}

// Each of them answers only when all of them were asked, and one never does.
TEST_F(ControlServerTest, AsksManyAtOnce) {
  constexpr size_t kCount = 4;
  const std::array<IdleProcess, kCount + 1> processes;
  std::vector<ControlQuestion> questions;
  std::vector<std::unique_ptr<Listener>> listeners;
  ASSERT_TRUE(ensure_private_folder(runtime_ / "gpufl"));
  for (const IdleProcess& process : processes) {
    questions.push_back({process.pid(), request("status")});
    listeners.push_back(std::make_unique<Listener>(runtime_ / "gpufl", process.pid()));
  }
  std::thread all([&] {
    std::vector<int> asked;
    for (const auto& listener : listeners) asked.push_back(listener->accept_question());
    for (size_t i = 0; i < kCount; ++i) {
      const std::string reply = "{\"number\":" + std::to_string(i) + "}\n";
      for (const char& byte : reply) (void)!::send(asked[i], &byte, 1, MSG_NOSIGNAL);
    }
    for (const int fd : asked) close(fd);
  });
  const auto answers = ask_processes(questions, kPatience);
  all.join();
  ASSERT_EQ(answers.size(), questions.size());
  for (size_t i = 0; i < kCount; ++i) {
    ASSERT_TRUE(answers[i]) << answers[i].status().message();
    EXPECT_EQ((*answers[i])["number"].as_integer(), static_cast<int64_t>(i));
  }
  EXPECT_EQ(answers[kCount].status().code(), base::Code::Unavailable);
}

// The server closes while most of the question is still on its way.
TEST_F(ControlServerTest, AnAnswerCountsHoweverMuchOfTheQuestionWasRead) {
  ControlServer server;
  ASSERT_TRUE(server.listen());
  ASSERT_TRUE(server.start(recorder_, {}));
  const std::string text(4 << 20, 'x');
  const auto answer = ask_process(getpid(), request("mark").set("text", text), kPatience);
  ASSERT_TRUE(answer) << answer.status().text();
  EXPECT_EQ((*answer)["error"].as_string(), "too_long");
}

TEST_F(ControlServerTest, WhoFindsAFullQueueWaitsForRoom) {
  ControlServer server;
  ASSERT_TRUE(server.listen());
  std::vector<int> crowd;
  while (true) {
    const int fd = connect_raw(SOCK_NONBLOCK);
    if (fd < 0) break;
    crowd.push_back(fd);
    ASSERT_LT(crowd.size(), 1000u);
  }
  const auto early = ask_process(getpid(), request("status"), 30ms);
  EXPECT_EQ(early.status().code(), base::Code::Unavailable) << "it is there";
  std::thread opening([&] {
    for (const int fd : crowd) close(fd);
    EXPECT_TRUE(server.start(recorder_, {}));
  });
  EXPECT_TRUE(ask("status")["ok"].as_bool());
  opening.join();
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
  const IdleProcess child([&] {
    server->abandon();
    (void)!write(ready[1], "x", 1);
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const fs::path path = socket_path();
  server->stop();
  EXPECT_FALSE(fs::exists(path));
  delete server;
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace gpufl::client
