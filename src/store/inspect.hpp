// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "base/status.hpp"

// A store's folder looked at from outside, also while a server uses it.
namespace gpufl::store {

struct Inspection {
  uint64_t sessions = 0, blobs = 0, bytes = 0;
  uint64_t problems = 0;
};

// Whether the catalogue is whole, and every blob that it tells of is there with the bytes that were
// acknowledged; of live lines that they are lines. `say` hears of each problem in a sentence. Reads
// everything.
base::Result<Inspection> check_store(const std::filesystem::path& folder,
                                     const std::function<void(const std::string&)>& say);

// A copy that a server can be started on, of all that was acknowledged before this was called. The
// target must not exist, nor TARGET.partial, as which it is made; what fails leaves neither.
base::Result<Inspection> copy_store(const std::filesystem::path& folder,
                                    const std::filesystem::path& target);
// The same of a copy, which is checked first. Corrupt: `say` has heard why.
base::Result<Inspection> restore_store(const std::filesystem::path& backup,
                                       const std::filesystem::path& folder,
                                       const std::function<void(const std::string&)>& say);

}  // namespace gpufl::store
