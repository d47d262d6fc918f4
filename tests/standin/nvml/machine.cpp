// SPDX-License-Identifier: Apache-2.0
#include "machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

namespace standin {
namespace {

// "3:100:50" -> {"3", "100", "50"}
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
  return parts;
}

unsigned number(const std::vector<std::string>& parts, size_t i, unsigned fallback = 0) {
  return i < parts.size() ? static_cast<unsigned>(std::stoul(parts[i])) : fallback;
}

}  // namespace

Machine::Machine(const std::string& description) {
  std::string text = description;
  if (text.starts_with('/')) {
    std::ostringstream content;
    content << std::ifstream(text).rdbuf();
    text = content.str();
  }
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      std::fprintf(stderr, "GPUFL_NVML_STANDIN: no '=' in \"%s\"\n", word.c_str());
      std::abort();
    }
    read_word(word.substr(0, equals), word.substr(equals + 1));
  }
  for (unsigned gpu = 0; gpu < gpus; ++gpu) {
    devices_.push_back({gpu, -1});
    for (unsigned i = 0; mig.count(gpu) != 0 && i < mig[gpu]; ++i) {
      devices_.push_back({gpu, static_cast<int>(i)});
    }
  }
}

void Machine::read_word(const std::string& key, const std::string& value) {
  const std::vector<std::string> parts = split(value);
  if (key == "gpus") {
    gpus = number(parts, 0);
  } else if (key == "links") {
    links = number(parts, 0);
  } else if (key == "fans") {
    fans = number(parts, 0);
  } else if (key == "processes") {
    processes = number(parts, 0);
  } else if (key == "init") {
    init = static_cast<nvmlReturn_t>(number(parts, 0));
  } else if (key == "mig") {
    mig[number(parts, 0)] = number(parts, 1);
    mig_slices = number(parts, 2, 1);
  } else if (key == "unsupported") {
    unsupported_.push_back(value);
  } else if (key == "unavailable") {
    unavailable_.push_back(value);
  } else if (key == "slow") {
    slow_us_[parts.at(0)] = number(parts, 1);
  } else if (key == "fail" || key == "fail_once") {
    const size_t at = parts.at(0).find('@');
    const unsigned gpu = at == std::string::npos
                             ? kEveryGpu
                             : static_cast<unsigned>(std::stoul(parts[0].substr(at + 1)));
    failures_.push_back({parts[0].substr(0, at), gpu, static_cast<nvmlReturn_t>(number(parts, 1)),
                         key == "fail_once"});
  } else if (key == "lost") {
    losses_[number(parts, 0)] = {
        number(parts, 1),
        parts.size() > 2 ? number(parts, 1) + uint64_t{number(parts, 2)} : UINT64_MAX};
  } else if (key == "xid") {
    xids_.emplace_back(number(parts, 0), number(parts, 1));
  } else {
    std::fprintf(stderr, "GPUFL_NVML_STANDIN: unknown word \"%s\"\n", key.c_str());
    std::abort();
  }
}

bool Machine::contains(const std::vector<std::string>& all, std::string_view what) {
  return std::find(all.begin(), all.end(), what) != all.end();
}

nvmlReturn_t Machine::begin(std::string_view function, nvmlDevice_t device) {
  if (const auto slow = slow_us_.find(function); slow != slow_us_.end()) usleep(slow->second);
  const std::lock_guard lock(mutex_);
  ++calls_[std::string(function)];
  if (is_unsupported(function)) return NVML_ERROR_NOT_SUPPORTED;
  if (device != nullptr) {
    const auto loss = losses_.find(device->gpu);
    if (loss != losses_.end()) {
      const uint64_t call = loss->second.calls++;
      if (call >= loss->second.after && call < loss->second.until) return NVML_ERROR_GPU_IS_LOST;
    }
  }
  for (auto failure = failures_.begin(); failure != failures_.end(); ++failure) {
    if (failure->function != function) continue;
    if (failure->gpu != kEveryGpu && (device == nullptr || failure->gpu != device->gpu)) continue;
    const nvmlReturn_t code = failure->code;
    if (failure->once) failures_.erase(failure);
    return code;
  }
  return NVML_SUCCESS;
}

uint64_t Machine::calls(std::string_view function) {
  const std::lock_guard lock(mutex_);
  const auto found = calls_.find(function);
  return found == calls_.end() ? 0 : found->second;
}

bool Machine::next_xid(nvmlEventData_t& event) {
  const std::lock_guard lock(mutex_);
  if (xids_.empty()) return false;
  event.device = find(xids_.front().first, -1);
  event.eventType = nvmlEventTypeXidCriticalError;
  event.eventData = xids_.front().second;
  event.gpuInstanceId = event.computeInstanceId = 0xFFFFFFFF;
  xids_.pop_front();
  return true;
}

nvmlDevice_t Machine::find(unsigned gpu, int instance) {
  for (nvmlDevice_st& device : devices_) {
    if (device.gpu == gpu && device.instance == instance) return &device;
  }
  return nullptr;
}

}  // namespace standin
