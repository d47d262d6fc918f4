// SPDX-License-Identifier: Apache-2.0
#include "server/export_source.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace gpufl::server {
namespace {

using base::Code;
using base::Status;
using Clock = std::chrono::steady_clock;

constexpr size_t kPieceBytes = size_t{64} << 10;
constexpr std::chrono::milliseconds kPace(100);

}  // namespace

std::optional<ExportSlot> ExportSlot::take(std::atomic<int>& under_way, int most) {
  if (under_way.fetch_add(1) < most) return ExportSlot(&under_way);
  --under_way;
  return std::nullopt;
}

ExportSlot::~ExportSlot() {
  if (under_way_ != nullptr) --*under_way_;
}

ExportSource::ExportSource(Plan plan)
    : plan_(std::move(plan)), deadline_(Clock::now() + plan_.time) {}

ExportSource::~ExportSource() {
  if (output_ >= 0) ::close(output_);
  child_.reset();
  std::error_code ignored;
  if (!plan_.scratch.empty()) std::filesystem::remove_all(plan_.scratch, ignored);
}

Status ExportSource::begin() {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return Status::from_errno(errno, "pipe");
  output_ = pipe[0];
  auto child = ChildProcess::start(plan_.command, pipe[1]);
  ::close(pipe[1]);
  if (!child) return child.status();
  child_ = std::move(*child);
  return {};
}

bool ExportSource::wait_for_output(std::chrono::milliseconds at_most) const {
  pollfd waiting{output_, POLLIN, 0};
  return ::poll(&waiting, 1, static_cast<int>(at_most.count())) > 0;
}

bool ExportSource::read_some(std::string& out) {
  const size_t before = out.size();
  out.resize(before + kPieceBytes);
  ssize_t got = 0;
  do {
    got = ::read(output_, out.data() + before, kPieceBytes);
  } while (got < 0 && errno == EINTR);
  out.resize(before + static_cast<size_t>(std::max<ssize_t>(got, 0)));
  return got > 0;
}

base::Result<std::unique_ptr<ExportSource>> ExportSource::start(
    Plan plan, const std::function<bool()>& is_cancelled) {
  std::unique_ptr<ExportSource> source(new ExportSource(std::move(plan)));
  if (Status begun = source->begin(); !begun) return begun;
  while (!source->wait_for_output(kPace)) {
    // Its pipe of reports is read as well, or the child would wait for that.
    source->child_->wait(std::chrono::milliseconds(0));
    if (is_cancelled()) return Status(Code::Cancelled, "the client has gone");
    if (Clock::now() > source->deadline_) {
      return Status(Code::LimitReached, "the export takes too long");
    }
  }
  if (source->read_some(source->first_)) return source;
  while (!source->child_->wait(kPace)) {
  }
  const Status outcome = source->child_->outcome();
  if (!outcome) return outcome;
  return Status(Code::NotFound, "there is nothing to export");
}

bool ExportSource::next(std::string& out) {
  if (Clock::now() > deadline_) throw std::runtime_error("the export takes too long");
  if (!first_.empty()) {
    out += first_;
    first_.clear();
    return true;
  }
  if (!wait_for_output(kPace)) {
    child_->wait(std::chrono::milliseconds(0));
    return true;  // nothing for now: whoever calls looks whether the client is still there
  }
  child_->wait(std::chrono::milliseconds(0));
  if (read_some(out)) return true;
  while (!child_->wait(kPace)) {
  }
  if (!child_->outcome()) throw std::runtime_error(child_->outcome().message());
  return false;
}

}  // namespace gpufl::server
