// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.hpp"

// The engines with which `gpufl trace` runs its program, one after the other.
namespace gpufl::cli {

// Of "Trace,PcSampling" or "Trace+PcSampling", in any case, as engines spell themselves.
// InvalidArgument: none is named, one twice, or one that does not exist; the sentence names it.
base::Result<std::vector<std::string>> parse_passes(std::string_view text);

// Those of GPUFL_ENGINE_COMBO; none where it is not set. Fails as parse_passes() does.
base::Result<std::vector<std::string>> inherited_passes();

}  // namespace gpufl::cli
