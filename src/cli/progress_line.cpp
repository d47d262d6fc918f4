// SPDX-License-Identifier: Apache-2.0
#include "cli/progress_line.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "text/display.hpp"

namespace gpufl::cli {
namespace {

constexpr int64_t kPatienceNs = 500'000'000;
constexpr int64_t kEveryNs = 200'000'000;

}  // namespace

ProgressLine::ProgressLine(bool is_wanted)
    : line_(is_wanted), next_ns_(base::monotonic_ns() + kPatienceNs) {}

void ProgressLine::show(std::string_view what, uint64_t done, uint64_t total) {
  const int64_t now = base::monotonic_ns();
  if (!line_.is_usable() || now < next_ns_ || total == 0) return;
  next_ns_ = now + kEveryNs;
  line_.show(fmt::format("gpufl: {}, {}%", text::make_harmless(what),
                         std::min<uint64_t>(100, done * 100 / total)));
}

workbench::Progress ProgressLine::callback() {
  return [this](workbench::Stage stage, uint64_t done, uint64_t total) {
    show(stage == workbench::Stage::Reading ? "reading" : "writing", done, total);
    return true;
  };
}

}  // namespace gpufl::cli
