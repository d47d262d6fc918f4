// SPDX-License-Identifier: Apache-2.0
#include "backend/nvidia/nvperf/nvperf_catalog.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "backend/nvidia/cuda/cuda_start.hpp"
#include "backend/nvidia/cupti/metric_groups.hpp"
#include "backend/nvidia/nvperf/nvperf_chip.hpp"
#include "format/engines.hpp"

namespace gpufl::backend {
namespace {

base::Status unavailable(const Availability& why) {
  return {base::Code::Unavailable, why.hint.empty() ? why.detail : why.detail + "; " + why.hint};
}

// By CUDA, which is started for it.
base::Result<std::string> chip_of_first_gpu() {
  if (start_cuda() == 0) {
    return base::Status(base::Code::Unavailable, "there is no GPU here that CUDA can start");
  }
  Availability why;
  const auto cupti = CuptiLibrary::open(why);
  if (cupti == nullptr) return unavailable(why);
  if (why = cupti->has(kRangeProfiler); !why.available) return unavailable(why);
  std::string chip;
  if (why = read_chip_name(cupti->api(), 0, chip); !why.available) return unavailable(why);
  return chip;
}

std::string in_capitals(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return text;
}

}  // namespace

base::Result<std::unique_ptr<MetricCatalog>> open_nvperf_catalog(const std::string& chip) {
  const auto opened = NvperfLibrary::open();
  if (!opened) return opened.status();
  const std::shared_ptr<NvperfLibrary>& library = *opened;
  std::string wanted = in_capitals(chip);
  if (wanted.empty()) {
    const auto first = chip_of_first_gpu();
    if (!first) {
      return base::Status(first.status().code(),
                          first.status().message() + "; name a chip instead: " + library->chips());
    }
    wanted = *first;
  }
  auto made = NvperfChip::make(library, wanted);
  if (!made) return made.status();
  return std::unique_ptr<MetricCatalog>(std::move(*made));
}

std::vector<CountingEngine> nvidia_counting_engines() {
  const auto engine = [](std::string_view name, const MetricOption& option, CountedBy by) {
    return CountingEngine{name, option.name, by, option.presets};
  };
  return {engine(format::kPmEngine, pm_option(), CountedBy::Time),
          engine(format::kRangeEngine, range_option(), CountedBy::Scope),
          engine(format::kSassEngine, sass_option(), CountedBy::Instruction)};
}

}  // namespace gpufl::backend
