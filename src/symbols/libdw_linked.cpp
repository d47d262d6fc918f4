// SPDX-License-Identifier: Apache-2.0
#include "symbols/libdw_api.hpp"

namespace gpufl::symbols {

const LibdwApi& linked_libdw() {
  static const LibdwApi api = [] {
    LibdwApi table;
#define GPUFL_TAKE(name) table.name = &::name;
    GPUFL_LIBDW_FUNCTIONS(GPUFL_TAKE)
#undef GPUFL_TAKE
    table.elf_version(EV_CURRENT);
    return table;
  }();
  return api;
}

base::Result<const LibdwApi*> program_libdw() { return &linked_libdw(); }

}  // namespace gpufl::symbols
