// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <gpufl/deep_window.hpp>
#include <gpufl/options.hpp>
#include <gpufl/session.hpp>
#include <gpufl/upload.hpp>
#include <gpufl/warpscope.hpp>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "capture/session.hpp"
#include "client/control_server.hpp"
#include "client/launch_request.hpp"
#include "client/options.hpp"
#include "client/warpscope_call.hpp"

// This copy's session, behind include/gpufl/session.hpp; where another copy of the library in the
// process has one, this copy is its member (client/joining.hpp). Never destroyed: scopes, exit
// handlers and threads of the host may outlive every static.
namespace gpufl::client {

class Client final : private Controlled {
 public:
  // The process's. After a fork() the child has one of its own, without a session.
  static Client& instance();
  // `left_behind` is the parent's, in the child of a fork(): kept, because threads that are not
  // there may hold its lock, and never used again.
  explicit Client(Client* left_behind) : left_behind_(left_behind) {}

  // As resolve_options takes them.
  bool init(const InitOptions& program, const InitOptions& defaults = {},
            const FieldNames& named = {});
  void shutdown();
  // As shutdown, but gives up where another thread holds the lock for long: at exit the holder may
  // be a thread that will never run again, or this one, interrupted.
  void shutdown_at_exit();
  std::string report();
  void system_start(const std::string& name);
  void system_stop(const std::string& name);
  // As include/gpufl/warpscope.hpp has them; on the thread of the launch.
  void open_warpscope();
  WarpscopeStatus record_warpscope(const WarpscopeCall& call);
  bool is_recording();
  SessionStatus session_status();
  // Of the session, or of the last one; empty: there was none.
  std::filesystem::path folder();
  // The session's folder, after everything recorded so far has reached it; empty: no session.
  std::filesystem::path flushed_folder();
  // What is on disk; a success of nothing where gpufl is disabled.
  UploadResult upload(UploadOptions options);
  // In the child of a fork().
  void abandon();
  // Of this copy's own session: recording of the GPU. A session that it has joined is another's.
  base::Status resume() override;
  base::Status pause() override;
  // Of the session that this copy has or has joined.
  base::Status open_deep_window(const DeepWindowSpec& spec);
  base::Status close_deep_window();
  static bool is_deep_window_open();

 private:
  // What `gpufl control` asks for.
  base::Json status() override;
  base::Status open_deep_window(const capture::DeepWindowRequest& request) override;
  base::Status end_deep_window() override;
  base::Status flush() override;
  base::Status end() override;
  base::Status mark(std::string_view text) override;

  // What init() does under the lock. As a Status: why there is no session.
  base::Status start_as(const ResolvedOptions& resolved);
  base::Status start_or_join(const ResolvedOptions& resolved);
  base::Status start(const ResolvedOptions& resolved, LaunchRequest request);
  void stop_session();
  void note_joined_folder();
  bool has_session() const;
  template <typename Call>
  base::Status with_session(std::string_view what, Call&& call);
  void say(const std::string& line) const;

  [[maybe_unused]] Client* const left_behind_;
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<capture::Session> session_;
  std::unique_ptr<ControlServer> control_;
  std::filesystem::path last_dir_;
  // Of the last init(); while there is a session, what will be so after its end.
  std::string why_none_ = "init() has not been called in this process";
  bool debug_ = false;
  bool disabled_ = false;
  InitOptions in_force_;  // of the last init()
};

}  // namespace gpufl::client
