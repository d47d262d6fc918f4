// SPDX-License-Identifier: Apache-2.0
#include "analysis/code/code_site.hpp"

namespace gpufl::analysis {

std::string short_line(const CodeSite& site) {
  if (site.line == 0) return site.text;
  const size_t slash = site.file.rfind('/');
  return site.file.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
         std::to_string(site.line);
}

}  // namespace gpufl::analysis
