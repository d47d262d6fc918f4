// SPDX-License-Identifier: Apache-2.0
#include "client/launch_request.hpp"

#include <algorithm>
#include <charconv>
#include <optional>

namespace gpufl::client {
namespace {

constexpr std::string_view kDormant = "GPUFL_DORMANT";
constexpr std::string_view kCaptureRange = "GPUFL_CAPTURE_RANGE";
constexpr std::string_view kResumeAt = "GPUFL_RESUME_AT_NS";
constexpr std::string_view kEndAt = "GPUFL_END_AT_NS";
constexpr std::string_view kEvents = "GPUFL_LAUNCH_EVENTS";
constexpr std::string_view kPass = "GPUFL_PASS";
constexpr std::string_view kPasses = "GPUFL_PASSES";
constexpr std::string_view kVariables[] = {kDormant, kCaptureRange, kResumeAt, kEndAt,
                                           kEvents,  kPass,         kPasses};

std::optional<int64_t> number_of(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  int64_t number = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, number);
  if (error != std::errc() || stop != end) return std::nullopt;
  return number;
}

std::vector<std::string> engines_in(std::string_view list) {
  std::vector<std::string> engines;
  while (!list.empty()) {
    const size_t end = std::min(list.find(','), list.size());
    engines.emplace_back(list.substr(0, end));
    list.remove_prefix(std::min(end + 1, list.size()));
  }
  return engines;
}

}  // namespace

std::vector<std::pair<std::string_view, std::string>> LaunchRequest::to_variables() const {
  std::vector<std::pair<std::string_view, std::string>> variables;
  if (dormant) variables.emplace_back(kDormant, "1");
  if (!capture_range.empty()) variables.emplace_back(kCaptureRange, capture_range);
  if (schedule.resume_at_ns) {
    variables.emplace_back(kResumeAt, std::to_string(*schedule.resume_at_ns));
  }
  if (schedule.end_at_ns) variables.emplace_back(kEndAt, std::to_string(*schedule.end_at_ns));
  if (!events.empty()) {
    base::Json list = base::Json::array();
    for (const base::Json& event : events) list.push(event);
    variables.emplace_back(kEvents, list.dump());
  }
  if (pass) {
    std::string engines;
    for (const std::string& engine : passes) engines += (engines.empty() ? "" : ",") + engine;
    variables.emplace_back(kPass, std::to_string(*pass));
    variables.emplace_back(kPasses, engines);
  }
  return variables;
}

LaunchRequest LaunchRequest::from_environment(const Environment& env) {
  LaunchRequest request;
  request.dormant = env(kDormant.data()).value_or("") == "1";
  request.capture_range = env(kCaptureRange.data()).value_or("");
  request.schedule.resume_at_ns = number_of(env(kResumeAt.data()));
  request.schedule.end_at_ns = number_of(env(kEndAt.data()));
  const auto list = base::Json::parse(env(kEvents.data()).value_or("[]"));
  if (list && list->is_array()) request.events = list->items();
  request.pass = number_of(env(kPass.data()));
  if (request.pass) request.passes = engines_in(env(kPasses.data()).value_or(""));
  return request;
}

std::span<const std::string_view> launch_variables() { return kVariables; }

}  // namespace gpufl::client
