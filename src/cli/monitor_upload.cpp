// SPDX-License-Identifier: Apache-2.0
#include "cli/monitor_upload.hpp"

#include <chrono>
#include <utility>

#include <fmt/format.h>

#include "cli/print.hpp"
#include "cli/uploading.hpp"
#include "text/units.hpp"

namespace gpufl::cli {
namespace {

// For what the end of a session leaves to be sent.
constexpr std::chrono::minutes kDrainFor{1};

}  // namespace

MonitorUpload::MonitorUpload(const MonitorOptions& options, std::string who)
    : who_(std::move(who)), folder_(options.output.string()) {
  agent::FollowOptions follow;
  follow.folders = {options.output};
  follow.server = options.server;
  follow.redaction = options.redaction;
  follow.credentials = credentials_file();
  // Of other programs that record into the folder, sessions may go on for long.
  follow.waits_for_writers = false;
  follow.say = [this](std::string_view text) { complain(who_, text); };
  follow.is_stopped = [this] { return is_stopped_.load(); };
  follower_ = std::make_unique<agent::Follower>(std::move(follow));
  thread_ = std::thread([this] { end_ = follower_->run(); });
}

MonitorUpload::~MonitorUpload() {
  is_stopped_ = true;
  if (thread_.joinable()) thread_.join();
}

void MonitorUpload::finish() {
  follower_->drain(kDrainFor);
  thread_.join();
  const agent::FollowCounts counts = follower_->counts();
  complain(who_, fmt::format("sent {} ({} rows)", text::bytes(static_cast<double>(counts.bytes)),
                             text::count(counts.rows)));
  if (end_ == agent::Follower::End::Drained) return;
  complain(who_,
           fmt::format("not everything is on the server. Later: gpufl upload --all {}", folder_));
}

}  // namespace gpufl::cli
