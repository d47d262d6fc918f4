// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/json.hpp"
#include "server/fleet.hpp"

// What is known of GPUs beyond sessions, as the API has it. Pure functions.
namespace gpufl::server {

// Sets what a device has of it; of one that is not known (null), that there is nothing.
void set_fleet_fields(base::Json& json, const FleetDevice* device);
base::Json fleet_health_json(const FleetHealth& health);

}  // namespace gpufl::server
