// SPDX-License-Identifier: Apache-2.0
#include "cli/libdw.hpp"

#include "symbols/libdw_api.hpp"

namespace gpufl::cli {

const symbols::LibdwApi* libdw() { return &symbols::linked_libdw(); }

}  // namespace gpufl::cli
