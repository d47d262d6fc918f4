// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

// CUPTI as Trace uses it, by a client that throws every record away: what tracing costs at least.
// Records, callback and flushing begin with the object and end, with cuptiFinalize, with it.
namespace gpufl::bench {

class BareCupti {
 public:
  BareCupti();
  ~BareCupti();
  BareCupti(const BareCupti&) = delete;
  BareCupti& operator=(const BareCupti&) = delete;

  bool is_running() const { return error_.empty(); }
  const std::string& error() const { return error_; }

 private:
  struct Client;
  std::unique_ptr<Client> client_;
  std::string error_;
};

}  // namespace gpufl::bench
