// SPDX-License-Identifier: Apache-2.0
#include "symbols/libdw_api.hpp"

namespace gpufl::symbols {

base::Result<const LibdwApi*> program_libdw() { return opened_libdw(); }

}  // namespace gpufl::symbols
