// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <utility>

#include "bindings/session_frames.hpp"
#include "timeline/session_texts.hpp"
#include "workbench/held_session.hpp"

// What gpufl.analyzer.GpuFlightSession stands for: a session in memory with all that is told of it,
// and its tables as DataFrames. Any thread, several at once.
namespace gpufl::python {

class LoadedSession {
 public:
  LoadedSession(std::unique_ptr<const workbench::HeldSession> session, size_t stack_depth)
      : session_(std::move(session)), texts_(session_->session(), stack_depth) {}

  const workbench::HeldSession& operator*() const { return *session_; }
  const workbench::HeldSession* operator->() const { return session_.get(); }

  // No columns: there is no such table. It refers to this session.
  Frame frame(std::string_view table) const { return session_frame(texts_, table); }

 private:
  std::unique_ptr<const workbench::HeldSession> session_;
  timeline::SessionTexts texts_;
};

}  // namespace gpufl::python
