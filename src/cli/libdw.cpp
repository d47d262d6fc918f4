// SPDX-License-Identifier: Apache-2.0
#include "cli/libdw.hpp"

#include <string>

#include "cli/print.hpp"
#include "symbols/libdw_api.hpp"

namespace gpufl::cli {

const symbols::LibdwApi* libdw() {
  const auto found = symbols::program_libdw();
  return found ? *found : nullptr;
}

bool complain_of_no_libdw(std::string_view who, const symbols::SymbolizeOutcome& outcome) {
  const auto found = symbols::program_libdw();
  if (found || outcome.resolved == outcome.frames) return false;
  complain(who, "no binary was read, because there is no libdw here (" + found.status().message() +
                    "); install it (Debian: libdw1)");
  return true;
}

}  // namespace gpufl::cli
