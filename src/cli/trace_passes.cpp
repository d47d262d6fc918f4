// SPDX-License-Identifier: Apache-2.0
#include "cli/trace_passes.hpp"

#include <algorithm>
#include <cstdlib>

#include <fmt/format.h>

#include "capture/engine_ladder.hpp"
#include "text/near_names.hpp"

namespace gpufl::cli {
namespace {

constexpr const char* kVariable = "GPUFL_ENGINE_COMBO";
constexpr std::string_view kBetween = ",+ \t";

std::string in_lower_case(std::string_view word) {
  std::string lower(word);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

base::Status refusal(const std::string& why) { return {base::Code::InvalidArgument, why}; }

}  // namespace

base::Result<std::vector<std::string>> parse_passes(std::string_view text) {
  const auto engines = capture::engine_names();
  std::vector<std::string> passes;
  while (!text.empty()) {
    const size_t end = std::min(text.find_first_of(kBetween), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (word.empty()) continue;
    const auto engine = std::find_if(engines.begin(), engines.end(), [&](std::string_view known) {
      return in_lower_case(known) == in_lower_case(word);
    });
    if (engine == engines.end()) {
      return refusal(text::not_one_of(word, {engines.begin(), engines.end()}));
    }
    if (std::find(passes.begin(), passes.end(), *engine) != passes.end()) {
      return refusal(fmt::format("'{}' is named twice; each engine is one pass", *engine));
    }
    passes.emplace_back(*engine);
  }
  if (passes.empty()) return refusal("no engine is named; write, for example, Trace,PcSampling");
  return passes;
}

base::Result<std::vector<std::string>> inherited_passes() {
  const char* const value = std::getenv(kVariable);
  if (value == nullptr || *value == '\0') return std::vector<std::string>{};
  auto passes = parse_passes(value);
  if (passes) return passes;
  return refusal(fmt::format("{}: {}", kVariable, passes.status().message()));
}

}  // namespace gpufl::cli
