// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/dynamic_library.hpp"
#include "symbols/libdw_api.hpp"

namespace gpufl::symbols {
namespace {

base::Result<const LibdwApi*> open_libdw() {
  // libelf comes along: names are looked for in what a library needs as well.
  const auto library = base::DynamicLibrary::open({"libdw.so.1"});
  if (!library) return base::Status(base::Code::Unavailable, library.status().message());
  static LibdwApi table;
  std::string missing;
#define GPUFL_LOAD(name) \
  if (!library->load(#name, table.name)) missing = #name;
  GPUFL_LIBDW_FUNCTIONS(GPUFL_LOAD)
#undef GPUFL_LOAD
  if (!missing.empty()) {
    return base::Status(base::Code::Unavailable, library->path() + " has no " + missing);
  }
  table.elf_version(EV_CURRENT);
  return &table;
}

}  // namespace

base::Result<const LibdwApi*> opened_libdw() {
  static const base::Result<const LibdwApi*> opened = open_libdw();
  return opened;
}

}  // namespace gpufl::symbols
