// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string_view>

#include "base/status.hpp"
#include "bench/compare/steady_program.hpp"

// How much runs of one program differ, from many runs of it: what `record_fixtures.py --repeats`
// wrote on a GPU. Spreads of runs, kernels, drift and host are measured; the share of disturbed
// runs is what was seen, but no less than Noise's own, because few runs may have met none.
namespace gpufl::bench {

base::Result<Noise> measured_noise(std::string_view json);
// Of a file; h200_noise.json is that of an H200.
base::Result<Noise> load_measured_noise(const std::filesystem::path& file);

}  // namespace gpufl::bench
