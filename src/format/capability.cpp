// SPDX-License-Identifier: Apache-2.0
#include "format/capability.hpp"

#include <utility>

namespace gpufl::format {
namespace {

// What a line may leave out.
constexpr std::pair<std::string_view, std::string Capability::*> kOptional[] = {
    {"reason", &Capability::reason},
    {"detail", &Capability::detail},
    {"hint", &Capability::hint},
    {"backend", &Capability::backend},
};

}  // namespace

base::Json Capability::to_json() const {
  base::Json line = base::Json::object();
  line.set("feature", feature).set("asked", asked).set("got", got);
  for (const auto& [key, member] : kOptional) {
    if (!(this->*member).empty()) line.set(key, this->*member);
  }
  return line;
}

Capability Capability::from_json(const base::Json& line) {
  Capability capability{line["feature"].as_string(),
                        line["asked"].as_string(),
                        line["got"].as_string(),
                        {},
                        {},
                        {},
                        {}};
  for (const auto& [key, member] : kOptional) capability.*member = line[key].as_string();
  return capability;
}

}  // namespace gpufl::format
