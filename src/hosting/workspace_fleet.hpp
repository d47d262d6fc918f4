// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "server/fleet.hpp"
#include "store/session_store.hpp"

// GPUs of one workspace, from what the store has packed. Any thread.
namespace gpufl::hosting {

class WorkspaceFleet : public server::Fleet {
 public:
  // The store outlives it.
  WorkspaceFleet(store::SessionStore& store, int64_t workspace)
      : store_(store), workspace_(workspace) {}

  base::Result<std::vector<server::FleetDevice>> devices() override;
  base::Result<server::FleetHealth> health(const server::FleetQuestion& question) override;
  server::FleetCounts counts() const override;

 private:
  store::SessionStore& store_;
  const int64_t workspace_;
};

}  // namespace gpufl::hosting
