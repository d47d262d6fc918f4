// SPDX-License-Identifier: Apache-2.0
#include "import/api_names.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace gpufl::importing {

namespace {

std::string_view without_version(std::string_view name) {
  const size_t at = name.find_last_not_of("0123456789");
  const bool is_version = at != std::string_view::npos && at > 0 && at + 1 < name.size() &&
                          name[at] == 'v' && name[at - 1] == '_';
  return is_version ? name.substr(0, at - 1) : name;
}

std::string_view without(std::string_view name, std::string_view suffix) {
  return name.ends_with(suffix) ? name.substr(0, name.size() - suffix.size()) : name;
}

// At the vendor's numbers.
constexpr std::string_view kDirections[] = {"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                            "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
constexpr std::string_view kDirectionWords[] = {
    "",
    "host to device",
    "device to host",
    "host to array",
    "array to host",
    "array to array",
    "array to device",
    "device to array",
    "device to device",
    "host to host",
    "peer to peer",
};
constexpr std::string_view kMemoryKinds[] = {"Unknown",       "Pageable",      "Pinned",
                                             "Device",        "Array",         "Managed",
                                             "Device Static", "Managed Static"};

constexpr std::string_view kMemoryKindWords[] = {"unknown",       "pageable",      "pinned",
                                                 "device",        "array",         "managed",
                                                 "device static", "managed static"};

template <size_t N>
int8_t number_of(const std::string_view (&words)[N], std::string_view word) {
  const auto* found = std::find(std::begin(words), std::end(words), word);
  const bool is_known = found != std::end(words) && !word.empty();
  return static_cast<int8_t>(is_known ? found - words : -1);
}

}  // namespace

int8_t copy_direction_of(std::string_view word) {
  return std::max(number_of(kDirections, word), number_of(kDirectionWords, word));
}
int8_t memory_kind_of(std::string_view word) {
  return std::max(number_of(kMemoryKinds, word), number_of(kMemoryKindWords, word));
}

std::string_view plain_api_name(std::string_view name) {
  // Both orders occur: "cudaMemcpy_ptds_v7000", "cuMemcpy_v2_ptds".
  name = without(without(without_version(name), "_ptsz"), "_ptds");
  return without_version(name);
}

int8_t wait_of(std::string_view plain_name) {
  constexpr std::pair<std::string_view, int8_t> kWaits[] = {
      {"cudaEventSynchronize", 1},  {"cuEventSynchronize", 1},  {"hipEventSynchronize", 1},
      {"cudaStreamWaitEvent", 2},   {"cuStreamWaitEvent", 2},   {"hipStreamWaitEvent", 2},
      {"cudaStreamSynchronize", 3}, {"cuStreamSynchronize", 3}, {"hipStreamSynchronize", 3},
      {"cudaDeviceSynchronize", 4}, {"cuCtxSynchronize", 4},    {"hipDeviceSynchronize", 4},
  };
  for (const auto& [name, kind] : kWaits) {
    if (name == plain_name) return kind;
  }
  return -1;
}

}  // namespace gpufl::importing
