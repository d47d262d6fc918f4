// SPDX-License-Identifier: Apache-2.0
#include "cli/stop_signals.hpp"

#include <sys/signalfd.h>
#include <unistd.h>

namespace gpufl::cli {

StopSignals::StopSignals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigemptyset(&signals_);
  for (int number : {SIGINT, SIGTERM, SIGWINCH}) sigaddset(&signals_, number);
  // nohup ignores SIGHUP for us, and a signalfd would report it all the same.
  struct sigaction hang_up;
  if (sigaction(SIGHUP, nullptr, &hang_up) == 0 && hang_up.sa_handler != SIG_IGN) {
    sigaddset(&signals_, SIGHUP);
  }
  pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  fd_ = signalfd(-1, &signals_, SFD_NONBLOCK | SFD_CLOEXEC);
}

StopSignals::~StopSignals() {
  ::close(fd_);
  release();
}

int StopSignals::take() const {
  signalfd_siginfo info;
  return ::read(fd_, &info, sizeof(info)) == sizeof(info) ? static_cast<int>(info.ssi_signo) : 0;
}

void StopSignals::release() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

std::string_view signal_name(int number) {
  switch (number) {
    case SIGINT: return "SIGINT";
    case SIGTERM: return "SIGTERM";
    case SIGHUP: return "SIGHUP";
    default: return "a signal";
  }
}

}  // namespace gpufl::cli
